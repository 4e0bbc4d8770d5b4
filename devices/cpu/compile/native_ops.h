// Composites and custom calls that the CPU device has a kernel for. JAX sends functions such as erf
// and top_k as stablehlo.composite with a decomposition into many small operations, of which the
// kernel is faster and closer to the exact result; PyTorch sends them as custom calls of names such
// as mhlo.erf, as XLA writes what StableHLO has no op for. XLA's ApproxTopK becomes a sort.
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
