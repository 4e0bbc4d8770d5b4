// What a chlo operation is in StableHLO alone. VHLO has no chlo: a portable artifact holds each of
// them as a composite "chlo.name" with the function that expand_chlo makes as its decomposition, as
// JAX writes them; readers that know the operation take their own. Pure. Read next:
// write_bytecode.h.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/devices/cpu/ir/op.h"

namespace millrace::devices::cpu::bytecode {

// The text of "func.func private @name(...)" with the operands of op as its arguments. nullopt for
// operations, element types and shapes without an expansion: those with regions, open extents.
// Special functions are computed in f64.
std::optional<std::string> expand_chlo(const ir::Op& op, std::string_view name);

// What the region, and all inside of it, reads of its surroundings, each value once.
std::vector<const ir::Value*> values_from_outside(const ir::Region& region);

// The same of chlo.scan, whose function takes what the body reads of its surroundings (outer)
// behind the operands; and behind it the declaration of @name.body, whose body is the region of op,
// and which takes these behind the region's arguments too.
std::optional<std::string> expand_scan(const ir::Op& op, std::string_view name,
                                       std::span<const ir::Value* const> outer);

}  // namespace millrace::devices::cpu::bytecode
