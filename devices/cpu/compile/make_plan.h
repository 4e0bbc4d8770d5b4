// make_plan(): the compiler, from verified ir to a Plan; the way of its passes stands in plan.h.
#pragma once

#include <memory>

#include "millrace/devices/cpu/compile/plan.h"

namespace millrace::devices::cpu {

// kUnimplemented with "line:column: op: ..." for what the CPU device does not run.
Result<std::unique_ptr<Plan>> make_plan(const ir::Module& module, const PlanOptions& options);

}  // namespace millrace::devices::cpu
