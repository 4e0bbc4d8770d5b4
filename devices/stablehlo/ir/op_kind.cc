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

using NameMap = std::unordered_map<std::string_view, OpKind>;

const NameMap& name_map() {
  static const NameMap* map = [] {
    auto* m = new NameMap;
    m->reserve(kNames.size());
    for (int i = 1; i < kOpKinds; ++i) m->emplace(kNames[i], static_cast<OpKind>(i));
    return m;
  }();
  return *map;
}

}  // namespace

std::string_view to_string(OpKind kind) { return kNames[static_cast<int>(kind)]; }

OpKind op_kind_from_string(std::string_view name) {
  auto it = name_map().find(name);
  return it == name_map().end() ? OpKind::kOther : it->second;
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
