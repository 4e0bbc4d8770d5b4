// OpKind: every operation that Millrace knows by name, interned once so that passes and kernels
// switch on an integer. An operation outside the list is kOther and keeps its name in the Op. Read
// next: ops.inc, the table of them; op.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace millrace::devices::stablehlo::ir {

enum class OpKind : std::uint16_t {
  kOther,  // known only by its name
#define MILLRACE_OP_NAME(kind, name) kind,
#include "millrace/devices/stablehlo/ir/ops.inc"
  kCount,
};

inline constexpr int kOpKinds = static_cast<int>(OpKind::kCount);

// "stablehlo.add" and so on; "" for kOther.
std::string_view to_string(OpKind kind);
// The kind of a full name ("stablehlo.add"), kOther if it is not in the list.
OpKind op_kind_from_string(std::string_view name);
// kAdd of kChloBroadcastAdd; the kind itself where it broadcasts nothing.
OpKind without_broadcast(OpKind kind);

}  // namespace millrace::devices::stablehlo::ir
