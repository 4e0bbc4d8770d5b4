// A program of dynamic shapes as the CPU client runs it: kept as it was written, and refined for
// the shapes of each call (refine/refine.h). Which refinements stay is up to whoever asks for them
// (execution.h).
#pragma once

#include <memory>

#include "millrace/devices/cpu/compiled.h"
#include "millrace/devices/cpu/ir/module.h"
#include "millrace/devices/cpu/plan/plan.h"

namespace millrace::devices::cpu {

// Of a verified module. options are those of every refinement's plan; kernels are chosen anew for
// each. Its refined() costs no more than the pass over the program; the plan is made by prepare().
Result<std::shared_ptr<const Compiled>> make_dynamic_program(ir::Module module,
                                                             const PlanOptions& options);

}  // namespace millrace::devices::cpu
