// Kernel: one operation, as something that runs. What it is made of: call.h.
#pragma once

#include <cstddef>
#include <span>

#include "millrace/core/base/error.h"
#include "millrace/devices/cpu/kernels/base/scratch.h"
#include "millrace/devices/cpu/kernels/custom_call.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::cpu {
namespace ir = stablehlo::ir;
namespace definition {

// One operation made ready: its bodies compiled, its module kept. Thread-safety: immutable.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // What a run with arrays of these shapes needs; their addresses are not used.
  virtual std::size_t scratch_bytes(std::span<const ConstArray> /*operands*/,
                                    std::span<const MutableArray> /*results*/) const {
    return 0;
  }
  // Operands and results do not overlap. scratch has scratch_bytes(), aligned for any element.
  // Nothing is allocated, unless the run fails or calls a user's function.
  virtual Status run(std::span<const ConstArray> operands, std::span<const MutableArray> results,
                     std::span<std::byte> scratch) const = 0;
  // Leading dimensions whose places have nothing to do with each other: a run with the same part of
  // all arrays along them, taken as one dimension, makes that part of the results. Threads share
  // such parts.
  virtual int independent_dims(std::span<const ConstArray> /*operands*/,
                               std::span<const MutableArray> /*results*/) const {
    return 0;
  }
  // It does more than write its results: it must run even where they are not read.
  virtual bool has_effect() const { return false; }
  // Values of the op's surroundings that its bodies read: further operands, behind its own. They
  // live as long as the module.
  virtual std::span<const ir::Value* const> captures() const { return {}; }
};

}  // namespace definition
}  // namespace millrace::devices::cpu
