// split_to_fit: cuts groups of fuse() that one loop cannot hold: too many arrays, results or values
// at a time (LoopKernel). Pure.
#pragma once

#include <vector>

#include "millrace/devices/cpu/plan/fuse.h"

namespace millrace::devices::cpu::plan {

// Each group, or its nodes in several groups one after the other, so that LoopKernel::make takes
// each; a single node always fits. Nodes in the block's order, as fuse() gives them: then no part
// depends on one behind it.
std::vector<Group> split_to_fit(const Graph& graph, const Uses& uses, std::vector<Group> groups);

}  // namespace millrace::devices::cpu::plan
