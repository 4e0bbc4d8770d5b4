// simplify: rewrites of the graph that make what follows simpler: operations that do nothing
// disappear, equal ones become one, transposes move into dots, reductions split into those that a
// loop can do.
#pragma once

#include "millrace/devices/cpu/plan/graph.h"

namespace millrace::devices::cpu::plan {

void simplify(Graph& graph);

// Nodes of each block, nested ones too, whose results nobody needs are taken out.
void remove_dead(Graph& graph);

}  // namespace millrace::devices::cpu::plan
