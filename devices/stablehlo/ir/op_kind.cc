#include "millrace/devices/stablehlo/ir/op_kind.h"

#include <array>
#include <unordered_map>

namespace millrace::devices::stablehlo::ir {
namespace {

constexpr std::array<std::string_view, kOpKinds> kNames = {
    "",
#define MILLRACE_OP_NAME(kind, name) name,
#include "millrace/devices/stablehlo/ir/ops.inc"
};

}  // namespace

std::string_view to_string(OpKind kind) { return kNames[static_cast<int>(kind)]; }

OpKind op_kind_from_string(std::string_view name) {
  static const auto* const kinds = [] {
    auto* const made = new std::unordered_map<std::string_view, OpKind>;
    for (int i = 1; i < kOpKinds; ++i) made->emplace(kNames[i], static_cast<OpKind>(i));
    return made;
  }();
  const auto found = kinds->find(name);
  return found == kinds->end() ? OpKind::kOther : found->second;
}

OpKind without_broadcast(OpKind kind) {
  switch (kind) {
#define MILLRACE_OP_BROADCAST(kind, base) \
  case OpKind::kind:                      \
    return OpKind::base;
#include "millrace/devices/stablehlo/ir/ops.inc"
    default:
      return kind;
  }
}

}  // namespace millrace::devices::stablehlo::ir
