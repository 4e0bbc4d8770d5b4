// simplify: rewrites of the graph that make what follows simpler: operations that do nothing
// disappear, equal ones become one, transposes move into dots, reductions split into those that a
// loop can do, and nodes whose results nothing needs are taken out of their blocks.
#pragma once

#include "millrace/devices/cpu/compile/graph.h"

namespace millrace::devices::cpu::compiler {

void simplify(Graph& graph);

}  // namespace millrace::devices::cpu::compiler
