#include "millrace/devices/stablehlo/verify/rules.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace millrace::devices::stablehlo::verify {
namespace {

using ir::OpKind;

constexpr bool kTensors = true, kAnyTypes = false;
constexpr unsigned kFloatOrComplex = kFloat | kComplex;
constexpr unsigned kBits = kBool | kInteger;

// Ops of other dialects: what says where arrays lie, and casts between types that mean the same.
constexpr std::string_view kSameTypes[] = {
    "sdy.sharding_constraint",
    "sdy.reshard",
    "sdy.data_flow_edge",
    "sdy.propagation_barrier",
    "builtin.unrealized_conversion_cast",
};
constexpr Rule kSameTypesRule = {check_same_types, kAnyTypes};
constexpr Rule kManualRule = {check_manual_computation, kAnyTypes};

constexpr Rule kRules[] = {
    {unchecked, kAnyTypes},
#define MILLRACE_OP_CHECK(kind, check, types) {check, types},
#include "millrace/devices/stablehlo/ir/ops.inc"
};

constexpr auto kElements = [] {
  std::array<Elements, ir::kOpKinds> table{};
#define MILLRACE_OP_ELEMENTS(kind, operands, elements, outcome) \
  table[static_cast<std::size_t>(OpKind::kind)] = {operands, elements, Outcome::outcome};
#include "millrace/devices/stablehlo/ir/ops.inc"
  return table;
}();

}  // namespace

bool unchecked(Check&) { return true; }

const Rule& rule_of(const ir::Op& op) {
  if (op.kind() == OpKind::kOther) {
    if (op.name() == "sdy.manual_computation") return kManualRule;
    if (std::ranges::find(kSameTypes, op.name()) != std::end(kSameTypes)) return kSameTypesRule;
  }
  return kRules[static_cast<std::size_t>(op.kind())];
}

const Elements& elements_of(OpKind kind) {
  return kElements[static_cast<std::size_t>(ir::without_broadcast(kind))];
}

}  // namespace millrace::devices::stablehlo::verify
