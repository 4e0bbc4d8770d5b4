// What a chlo operation is in StableHLO alone. VHLO has no chlo: a portable artifact holds each of
// them as a composite "chlo.name" with the function that expand_chlo makes as its decomposition, as
// JAX writes them; readers that know the operation take their own. Pure. Read next:
// write_bytecode.h.
#pragma once

#include <span>
#include <vector>

#include "millrace/devices/stablehlo/bytecode/expression.h"
#include "millrace/devices/stablehlo/ir/op.h"

namespace millrace::devices::stablehlo::bytecode {

// The body, made in `module`, of a function that takes the operands of op and then the values of
// `outer`, which chlo.scan's region reads of its surroundings. nullptr for operations, element
// types and shapes without an expansion: other operations with regions, open extents. Special
// functions are computed in f64.
ir::Block* expand_chlo(ir::Module& module, const ir::Op& op,
                       std::span<ir::Value* const> outer = {});

// What the region, and all inside of it, reads of its surroundings, each value once.
std::vector<ir::Value*> values_from_outside(const ir::Region& region);

// chlo.scan's results of the operands and what stands for `outer`; none without an expansion.
Expressions expand_scan(const ir::Op& op, Builder& builder, const Expressions& in,
                        std::span<ir::Value* const> outer);

}  // namespace millrace::devices::stablehlo::bytecode
