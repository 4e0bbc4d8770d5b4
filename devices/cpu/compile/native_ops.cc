#include "millrace/devices/cpu/compile/native_ops.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "millrace/devices/cpu/kernels/custom_call.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace millrace::devices::cpu {
namespace {

using K = ir::OpKind;

struct Native {
  K kind;
  int operands, results;
};

// The operations of CHLO that work element by element, and top_k.
constexpr Native kNatives[] = {
#define MILLRACE_OP_ELEMENTS(kind, operands, elements, outcome) {K::kind, operands, 1},
#include "millrace/devices/stablehlo/ir/ops.inc"
    {K::kChloTopK, 1, 2},
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
  const std::string_view name = op.string_or("name", "");
  if (!op.regions().empty() || op.int_or("version", 0) > 1 || !name.starts_with("chlo.")) return {};
  return {ir::op_kind_from_string(name), entries(op, "composite_attributes")};
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

struct ApproximateTopK {
  std::int64_t dimension = 0;
  const ir::Function* comparator = nullptr;
  ir::Attribute symbol;
};

// XLA's custom call by that name, if all of it is as it should be.
std::optional<ApproximateTopK> approximate_top_k(const ir::Op& op, const ir::Module& module) {
  const auto* config = op.attr<ir::DictAttr>("mhlo.backend_config");
  const auto* called = op.attr<ir::ArrayAttr>("called_computations");
  const int arrays = op.operand_count() / 2;
  if (op.callee() != "ApproxTopK" || find_custom_call(op.callee()) != nullptr ||
      config == nullptr || called == nullptr || called->values.size() != 1 || arrays == 0 ||
      op.operand_count() != 2 * arrays || op.result_count() != arrays)
    return std::nullopt;
  ApproximateTopK parts{.symbol = called->values[0]};
  const auto* symbol = parts.symbol.as<ir::SymbolAttr>();
  if (symbol == nullptr || symbol->path.size() != 1) return std::nullopt;
  parts.comparator = module.find(symbol->path[0]);
  for (const ir::NamedAttribute& a : config->values) {
    const auto* integer = a.value.as<ir::IntegerAttr>();
    if (a.name == "reduction_dim" && integer != nullptr) parts.dimension = integer->value;
  }
  if (parts.comparator == nullptr || parts.comparator->results().size() != 1 ||
      parts.comparator->inputs().size() != 2 * static_cast<std::size_t>(arrays))
    return std::nullopt;
  const ir::Type first = op.operand(0)->type();
  if (!first.is_tensor() || parts.dimension < 0 || parts.dimension >= first.rank())
    return std::nullopt;
  for (int i = 0; i < arrays; ++i) {
    const ir::Type from = op.operand(i)->type(), to = op.result(i)->type();
    if (!from.is_tensor() || !to.is_tensor() || from.rank() != to.rank()) return std::nullopt;
  }
  return parts;
}

class Replacement {
 public:
  explicit Replacement(ir::Module& module) : module_(module) {}

  bool replaced() const { return !instead_.empty(); }

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
      else if (op->kind() == K::kCustomCall)
        sort_for_top_k(block, *op);
      op = next;
    }
  }

 private:
  ir::Attribute integers(std::vector<std::int64_t> values) {
    return module_.attribute(
        ir::IntArrayAttr{{}, DType::kI64, module_.copy(std::span<const std::int64_t>(values))});
  }
  ir::Op* create(K kind, const ir::Op& place, std::span<ir::Value* const> operands,
                 std::span<const ir::Type> types, std::span<const ir::NamedAttribute> attributes,
                 int regions = 0) {
    return module_.create_op({.kind = kind,
                              .name = {},
                              .location = place.location(),
                              .operands = operands,
                              .result_types = types,
                              .attributes = attributes,
                              .regions = regions,
                              .successors = {}});
  }

  // Compared as a number, a NaN would hide numbers beside it, which XLA then leaves out for some
  // types. By the total order it is the largest, as in top_k and in what XLA makes of f32.
  void order_totally(const ir::Function& comparator) {
    for (ir::Op& op : comparator.body().block()) {
      if (op.kind() != K::kCompare || !is_floating(op.operand(0)->type().dtype())) continue;
      std::vector<ir::NamedAttribute> attributes = {
          {"compare_type", module_.attribute(ir::EnumAttr{
                               {},
                               ir::EnumClass::kComparisonType,
                               static_cast<std::uint8_t>(ir::ComparisonType::kTotalOrder)})}};
      std::ranges::copy_if(op.attributes(), std::back_inserter(attributes),
                           [](const ir::NamedAttribute& a) { return a.name != "compare_type"; });
      op.set_attributes(module_.copy(std::span<const ir::NamedAttribute>(attributes)));
    }
  }

  // ApproxTopK of arrays, their initial values and a comparator is a sort by this and the first of
  // each row: no search is approximate here.
  void sort_for_top_k(ir::Block& block, ir::Op& op) {
    const auto parts = approximate_top_k(op, module_);
    if (!parts) return;
    order_totally(*parts->comparator);
    const auto arrays = op.operands().first(op.operands().size() / 2);
    std::vector<ir::Type> types, scalars;
    for (const ir::Value* v : arrays) {
      types.push_back(v->type());
      scalars.insert(scalars.end(), 2,
                     module_.types().tensor(std::span<const std::int64_t>(), v->type().element()));
    }
    const ir::Type i64 = module_.types().scalar(DType::kI64);
    const ir::NamedAttribute sorted_by[] = {
        {"dimension", module_.attribute(ir::IntegerAttr{{}, parts->dimension, i64})},
        {"is_stable", module_.attribute(ir::BoolAttr{{}, true})}};
    ir::Op* const sort = create(K::kSort, op, arrays, types, sorted_by, 1);
    block.insert(&op, sort);
    ir::Block* const body = module_.create_block(scalars);
    std::vector<ir::Value*> arguments;
    for (int i = 0; i < body->argument_count(); ++i) arguments.push_back(body->argument(i));
    const ir::Type truth[] = {parts->comparator->results()[0]};
    const ir::NamedAttribute callee[] = {{"callee", parts->symbol}};
    ir::Op* const compared = create(K::kCall, op, arguments, truth, callee);
    body->insert(nullptr, compared);
    ir::Value* const answer[] = {compared->result(0)};
    body->insert(nullptr, create(K::kReturn, op, answer, {}, {}));
    ir::Block* const blocks[] = {body};
    module_.set_blocks(sort->region(), blocks);
    for (int i = 0; i < op.result_count(); ++i) {
      const ir::Type made = op.result(i)->type();
      const auto rank = static_cast<std::size_t>(made.rank());
      const ir::NamedAttribute bounds[] = {
          {"limit_indices", integers({made.dims().begin(), made.dims().end()})},
          {"start_indices", integers(std::vector<std::int64_t>(rank, 0))},
          {"strides", integers(std::vector<std::int64_t>(rank, 1))}};
      ir::Value* const whole[] = {sort->result(i)};
      const ir::Type type[] = {made};
      ir::Op* const first = create(K::kSlice, op, whole, type, bounds);
      block.insert(&op, first);
      instead_[op.result(i)] = first->result(0);
    }
    block.remove(&op);
  }

  void replace(ir::Block& block, ir::Op& op, const Instead& instead) {
    std::vector<ir::Type> types;
    for (const ir::Value& v : op.results()) types.push_back(v.type());
    ir::Op* const made = create(instead.kind, op, op.operands(), types, instead.attributes);
    // A composite of other types than the op takes is its decomposition.
    if (op.kind() == K::kComposite && !stablehlo::verify::infer(module_, *made)) return;
    block.insert(&op, made);
    for (int i = 0; i < op.result_count(); ++i) instead_[op.result(i)] = made->result(i);
    block.remove(&op);
  }

  ir::Module& module_;
  std::unordered_map<const ir::Value*, ir::Value*> instead_;
};

}  // namespace

bool use_native_ops(ir::Module& module) {
  Replacement replacement(module);
  for (ir::Function& f : module.functions()) {
    for (ir::Block* block : f.body().blocks()) replacement.block(*block);
  }
  return replacement.replaced();
}

}  // namespace millrace::devices::cpu
