// Compiles the body of reduce, scatter, sort and their like into a kernels' Region.
#pragma once

#include <memory>

#include "millrace/core/error.h"
#include "millrace/devices/cpu/ir/module.h"
#include "millrace/devices/cpu/kernels/region.h"

namespace millrace::devices::cpu::plan {

// The body of `op`, whose arguments and results are scalars. kUnimplemented if an op in it is not
// elementwise.
Result<std::shared_ptr<const Region>> lower_region(const ir::Module& module, const ir::Op& op,
                                                   int region_index);

}  // namespace millrace::devices::cpu::plan
