// lower(): the first pass of the compiler, from ir to a Graph. Its parts: lower_op.h.
#pragma once

#include "millrace/devices/cpu/compile/graph.h"

namespace millrace::devices::cpu::compiler {

// lower.cc, with lower_op.h (its parts): the graph of `function`, calls and composites inlined.
// kUnimplemented with "line:column: op: ..." for an op, an element type or an option that the CPU
// device does not run.
Result<Graph> lower(const ir::Module& module, const ir::Function& function);

}  // namespace millrace::devices::cpu::compiler
