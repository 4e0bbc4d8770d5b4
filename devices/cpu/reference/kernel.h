// reference: every operation by its definition in StableHLO's specification, on dense arrays, one
// element after the other. It runs what the planner has no faster kernel for, and it is the oracle
// that the planner's kernels are tested against (interpreter.h). Read next: scalar.h (elements),
// scalar_op.h (functions of elements), body.h (regions of reducers and comparators), then the
// families beside this file.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "millrace/devices/cpu/custom_call.h"
#include "millrace/devices/cpu/ir/module.h"
#include "millrace/devices/cpu/reference/body.h"

namespace millrace::devices::cpu::reference {

// One operation at work. Shapes are those of the arrays, not of the op's types, which may be
// dynamic. A quantised array has the shape of its storage.
struct Call {
  const ir::Op& op;
  std::span<const Body> bodies;  // of the op's regions
  std::span<const ConstArray> operands;
  std::span<const MutableArray> results;
};
using Function = Status (*)(const Call&);

// One operation made ready: its bodies compiled, its module kept. Thread-safety: immutable.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Operands and results do not overlap.
  virtual Status run(std::span<const ConstArray> operands,
                     std::span<const MutableArray> results) const = 0;
  // It does more than write its results: it must run though nobody reads them.
  virtual bool has_effect() const { return false; }
};

// Everything but calls, control flow, tuples and tokens. kUnimplemented for what is not known.
Result<std::shared_ptr<const Kernel>> make_kernel(const ir::Module& module, const ir::Op& op);

// Whether an operand or result has quantised elements.
bool is_quantised(const ir::Op& op);

// The shape of an array of this type in memory; nullopt if dynamic, no tensor, or a token.
std::optional<Shape> memory_shape(ir::Type type);

}  // namespace millrace::devices::cpu::reference
