// What a chlo operation is in StableHLO alone. VHLO has no chlo: a portable artifact holds each of
// them as a composite "chlo.name" with the function that expand_chlo makes as its decomposition, as
// JAX writes them; readers that know the operation take their own. Pure. Read next:
// write_bytecode.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "millrace/devices/cpu/ir/op.h"

namespace millrace::devices::cpu::bytecode {

// The text of "func.func private @name(...)" with the operands of op as its arguments. nullopt for
// operations, element types and shapes without an expansion: those with regions, open extents.
// Special functions are computed in f64.
std::optional<std::string> expand_chlo(const ir::Op& op, std::string_view name);

// The same of chlo.scan, and behind it the declaration of @name.body, whose body is the region of
// op: nullopt too where that reads values of its surroundings.
std::optional<std::string> expand_scan(const ir::Op& op, std::string_view name);

}  // namespace millrace::devices::cpu::bytecode
