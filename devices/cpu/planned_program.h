// PlannedProgram: a plan as the CPU client runs it (compiled.h).
#pragma once

#include <memory>
#include <vector>

#include "millrace/devices/cpu/compiled.h"
#include "millrace/devices/cpu/ir/module.h"
#include "millrace/devices/cpu/plan/plan.h"

namespace millrace::devices::cpu {

// Of a verified module whose shapes are static. Errors are those of Plan::create.
Result<std::shared_ptr<const Compiled>> plan_program(const ir::Module& module,
                                                     const PlanOptions& options);

// JAX marks a donated argument with the output that it may become, or as free for any of them.
std::vector<int> donated_arguments(const ir::Module& module);

}  // namespace millrace::devices::cpu
