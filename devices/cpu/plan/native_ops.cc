#include "millrace/devices/cpu/plan/native_ops.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "millrace/devices/cpu/custom_call.h"

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

struct Instead {
  K kind = K::kOther;  // kOther: it stays
  std::span<const ir::NamedAttribute> attributes;
};

std::span<const ir::NamedAttribute> entries(const ir::Op& op, std::string_view dictionary) {
  const auto* found = op.attr<ir::DictAttr>(dictionary);
  return found != nullptr ? found->values : std::span<const ir::NamedAttribute>();
}

// "chlo.erf" for the custom call "mhlo.erf"; "" for others and for what a user has registered.
std::string chlo_name(const ir::Op& op) {
  constexpr std::string_view kPrefix = "mhlo.";
  const std::string_view target = op.callee();
  if (!target.starts_with(kPrefix) || find_custom_call(target) != nullptr) return "";
  const std::string_view name = target.substr(kPrefix.size());
  return "chlo." + std::string(name == "topk" ? "top_k" : name);
}

Instead composite(const ir::Op& op) {
  if (!op.regions().empty() || op.int_or("version", 0) > 1) return {};
  return {ir::op_kind_from_string(op.string_or("name", "")), entries(op, "composite_attributes")};
}

Instead custom_call(const ir::Op& op) {
  const Instead instead = {ir::op_kind_from_string(chlo_name(op)), entries(op, "mhlo.attributes")};
  const bool smallest = std::ranges::any_of(instead.attributes, [](const ir::NamedAttribute& a) {
    const auto* flag = a.value.as<ir::BoolAttr>();
    return a.name == "largest" && flag != nullptr && !flag->value;
  });
  return instead.kind == K::kChloTopK && smallest ? Instead{} : instead;
}

Instead native(const ir::Op& op) {
  const Instead instead = op.kind() == K::kComposite    ? composite(op)
                          : op.kind() == K::kCustomCall ? custom_call(op)
                                                        : Instead{};
  const auto* known = std::ranges::find(kNatives, instead.kind, &Native::kind);
  if (known == std::end(kNatives) || op.operand_count() != known->operands ||
      op.result_count() != known->results) {
    return {};
  }
  return instead;
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
      if (const Instead instead = native(*op); instead.kind != K::kOther)
        replace(block, *op, instead);
      op = next;
    }
  }

 private:
  void replace(ir::Block& block, ir::Op& op, const Instead& instead) {
    std::vector<ir::Type> types;
    for (const ir::Value& v : op.results()) types.push_back(v.type());
    ir::Op* made = module_.create_op({.kind = instead.kind,
                                      .name = {},
                                      .location = op.location(),
                                      .operands = op.operands(),
                                      .result_types = types,
                                      .attributes = instead.attributes,
                                      .successors = {}});
    block.insert(&op, made);
    for (int i = 0; i < op.result_count(); ++i) instead_[op.result(i)] = made->result(i);
    block.remove(&op);
  }

  ir::Module& module_;
  std::unordered_map<const ir::Value*, ir::Value*> instead_;
};

}  // namespace

void use_native_ops(ir::Module& module) {
  Replacement replacement(module);
  for (ir::Function& f : module.functions()) {
    for (ir::Block* block : f.body().blocks()) replacement.block(*block);
  }
}

}  // namespace millrace::devices::cpu
