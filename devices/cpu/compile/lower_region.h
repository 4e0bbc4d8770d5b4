// Compiles the body of reduce, scatter, sort and their like into a kernels' Region.
#pragma once

#include <memory>

#include "millrace/core/base/error.h"
#include "millrace/devices/cpu/kernels/region.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::cpu {
namespace ir = stablehlo::ir;
}
namespace millrace::devices::cpu::compiler {

// The body of `op`, whose arguments and results are scalars. kUnimplemented if an op in it is not
// elementwise.
Result<std::shared_ptr<const Region>> lower_region(const ir::Module& module, const ir::Op& op,
                                                   int region_index);

}  // namespace millrace::devices::cpu::compiler
