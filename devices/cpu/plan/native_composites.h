// Composites that the CPU device has a kernel for. JAX sends functions such as erf and top_k as
// stablehlo.composite with a decomposition into many small operations; the kernel is faster and
// closer to the exact result.
#pragma once

#include "millrace/devices/cpu/ir/module.h"

namespace millrace::devices::cpu {

// Puts the operation itself in place of each composite whose name is that of a known one; others
// stay, to be run by their decompositions. Before verification.
void use_native_composites(ir::Module& module);

}  // namespace millrace::devices::cpu
