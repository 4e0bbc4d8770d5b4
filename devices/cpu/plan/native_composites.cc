#include "millrace/devices/cpu/plan/native_composites.h"

#include <algorithm>
#include <unordered_map>

namespace millrace::devices::cpu {
namespace {

using K = ir::OpKind;

struct Native {
  K kind;
  int operands;
  int results;
};

constexpr Native kNatives[] = {
    {K::kChloAcos, 1, 1},      {K::kChloAcosh, 1, 1},  {K::kChloAsin, 1, 1},
    {K::kChloAsinh, 1, 1},     {K::kChloAtan, 1, 1},   {K::kChloAtanh, 1, 1},
    {K::kChloBesselI1e, 1, 1}, {K::kChloCosh, 1, 1},   {K::kChloDigamma, 1, 1},
    {K::kChloErf, 1, 1},       {K::kChloErfInv, 1, 1}, {K::kChloErfc, 1, 1},
    {K::kChloLgamma, 1, 1},    {K::kChloMulhi, 2, 1},  {K::kChloNextAfter, 2, 1},
    {K::kChloSinh, 1, 1},      {K::kChloTan, 1, 1},    {K::kChloTopK, 1, 2},
};

// The kind of which there has been no other meaning so far; kOther for a composite to decompose.
K native_kind(const ir::Op& op) {
  if (op.kind() != K::kComposite || !op.regions().empty() || op.int_or("version", 0) > 1)
    return K::kOther;
  const K kind = ir::op_kind_from_string(op.string_or("name", ""));
  const auto* native = std::ranges::find(kNatives, kind, &Native::kind);
  if (native == std::end(kNatives) || op.operand_count() != native->operands ||
      op.result_count() != native->results) {
    return K::kOther;
  }
  return kind;
}

class Replacement {
 public:
  explicit Replacement(ir::Module& module) : module_(module) {}

  void block(ir::Block& block) {
    for (ir::Op* op = block.front(); op != nullptr;) {
      ir::Op* const next = op->next();
      for (int i = 0; i < op->operand_count(); ++i) {
        const auto found = instead_.find(op->operand(i));
        if (found != instead_.end()) op->set_operand(i, found->second);
      }
      for (ir::Region& region : op->regions()) {
        for (ir::Block* inner : region.blocks()) this->block(*inner);
      }
      if (const K kind = native_kind(*op); kind != K::kOther) replace(block, *op, kind);
      op = next;
    }
  }

 private:
  void replace(ir::Block& block, ir::Op& op, K kind) {
    std::vector<ir::Type> types;
    for (const ir::Value& v : op.results()) types.push_back(v.type());
    const auto* attributes = op.attr<ir::DictAttr>("composite_attributes");
    ir::Op* made = module_.create_op({.kind = kind,
                                      .name = {},
                                      .location = op.location(),
                                      .operands = op.operands(),
                                      .result_types = types,
                                      .attributes = attributes != nullptr
                                                        ? attributes->values
                                                        : std::span<const ir::NamedAttribute>(),
                                      .successors = {}});
    block.insert(&op, made);
    for (int i = 0; i < op.result_count(); ++i) instead_[op.result(i)] = made->result(i);
    block.remove(&op);
  }

  ir::Module& module_;
  std::unordered_map<const ir::Value*, ir::Value*> instead_;
};

}  // namespace

void use_native_composites(ir::Module& module) {
  Replacement replacement(module);
  for (ir::Function& f : module.functions()) {
    for (ir::Block* block : f.body().blocks()) replacement.block(*block);
  }
}

}  // namespace millrace::devices::cpu
