// The last pass: a unit's kernel and the places of its arrays become a step. It decides nothing.
// Read next: run_context.h, which runs the steps.
#pragma once

#include <vector>

#include "millrace/devices/cpu/compile/placement.h"
#include "millrace/devices/cpu/compile/plan.h"
#include "millrace/devices/cpu/compile/unit_kernel.h"

namespace millrace::devices::cpu::compiler {

// The steps of a block; each uses up its kernel. onednn gets the kernels by Step::state.
StepList make_steps(std::vector<UnitKernel> kernels, const std::vector<UnitPlaces>& places,
                    std::vector<const OneDnnKernel*>& onednn);

}  // namespace millrace::devices::cpu::compiler
