#include "millrace/devices/cpu/ir/op_kind.h"

#include <array>
#include <unordered_map>

namespace millrace::devices::cpu::ir {
namespace {

constexpr std::array<std::string_view, kOpKinds> kNames = {"",
#define MILLRACE_IR_NAME(enumerator, name) name,
                                                           MILLRACE_IR_OPS(MILLRACE_IR_NAME)
#undef MILLRACE_IR_NAME
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

}  // namespace millrace::devices::cpu::ir
