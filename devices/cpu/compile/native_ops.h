// Composites and custom calls for which the CPU device has a kernel. JAX sends functions such as
// erf and top_k as stablehlo.composite, with a decomposition into many small operations: the kernel
// is faster and more exact. PyTorch sends them as custom calls such as mhlo.erf, XLA's names for
// what StableHLO has no op for. XLA's ApproxTopK becomes a sort.
#pragma once

#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::cpu {

namespace ir = stablehlo::ir;

// Puts the operation itself in place of each of them whose name is that of a known one; other
// composites stay, to be run by their decompositions, other custom calls too, and those for which a
// handler is registered. `module` is verified, so that a composite is refused for its decomposition
// whether that runs or not; true if anything was replaced, which is to be verified then.
bool use_native_ops(ir::Module& module);

}  // namespace millrace::devices::cpu
