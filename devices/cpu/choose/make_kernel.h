// make_kernel: from an operation to the kernel that its row of stablehlo/ir/ops.inc names, above
// all families. The compiler has faster ones for what models are made of (compile/unit_kernel.h).
#pragma once

#include <memory>
#include <span>

#include "millrace/devices/cpu/kernels/call.h"
#include "millrace/devices/stablehlo/specialise/known.h"

namespace millrace::devices::cpu::definition {

// Everything but calls, control flow, tuples and tokens. kUnimplemented for what is not known.
Result<std::shared_ptr<const Kernel>> make_kernel(const ir::Module& module, const ir::Op& op);

// What specialise folds sizes with.
bool evaluate(const ir::Module& module, const ir::Op& op,
              std::span<const stablehlo::specialise::KnownRef> operands,
              stablehlo::specialise::Known& result);

// kUnimplemented if an argument or result of the block is no scalar, or for an op that the
// evaluator does not know. Control flow runs as it stands: a while that never ends never ends.
Result<Body> make_body(const ir::Module& module, const ir::Op& op, const ir::Block& block);

// custom_attributes.cc: what a handler sees of the op's attributes: those of its
// mhlo.backend_config (as JAX writes it) and its backend_config, where they are dictionaries. What
// CallValue has nothing for (types, symbols, lists of several kinds, literals of more than a
// million elements) is not among them.
CallAttributes call_attributes(const ir::Op& op);

// Whether an operand or result has quantised elements.
bool is_quantised(const ir::Op& op);

}  // namespace millrace::devices::cpu::definition
