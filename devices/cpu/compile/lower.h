// lower: from ir::Module to Graph: calls and composites inlined, attributes decoded, bodies of
// reductions compiled. Read next: lower_op.h (one op), lower_region.h (bodies).
#pragma once

#include "millrace/core/base/error.h"
#include "millrace/devices/cpu/compile/graph.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::cpu::compiler {

// The graph of `function`. kUnimplemented with "line:column: op: ..." for an op, an element type or
// an option that the CPU device does not run.
Result<Graph> lower(const ir::Module& module, const ir::Function& function);

}  // namespace millrace::devices::cpu::compiler
