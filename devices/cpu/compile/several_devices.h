// A program for several devices as one: spread over them, then planned as any other. Read next:
// device_parts.h, stablehlo/spread/spread.h.
#pragma once

#include <memory>

#include "millrace/devices/cpu/compile/compiled.h"
#include "millrace/devices/cpu/compile/plan.h"
#include "millrace/devices/program.h"

namespace millrace::devices::cpu {

// module is verified and of static shapes. Errors: those of spread and of make_plan.
Result<std::shared_ptr<const Compiled>> plan_for_devices(const ir::Module& module,
                                                         const CompileOptions& options,
                                                         const PlanOptions& how);

}  // namespace millrace::devices::cpu
