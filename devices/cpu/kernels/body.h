// Body: the region of a reducer, a comparator or an update, for what kernels/region.h does not
// compile: a small program on scalars of any type; a quantised one is its stored integer, and each
// op on it computes with the number that it stands for. Values that are no scalars, and ops on
// them, are kernels on arrays in the frame. What it reads of its surroundings it captures: MLIR's
// scopes let it do so, though XLA's own reader knows constants only. Read next: scalar_op.h,
// kernel.h.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/cpu/kernels/base/scratch.h"
#include "millrace/devices/cpu/kernels/custom_call.h"
#include "millrace/devices/cpu/kernels/functions/scalar_op.h"
#include "millrace/devices/cpu/kernels/kernel.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::cpu::definition {

// Made by choose/make_kernel.h. Thread-safety: immutable.
class Body {
 public:
  // Where the body is one op on its two arguments, in this order or the other; else nullptr.
  const ScalarOp* only_op() const;
  // The values of its surroundings that it reads, but for constants.
  std::span<const ir::Value* const> captures() const { return captures_; }

  // The memory of one evaluation at a time. Thread-safety: confined.
  class Frame {
   public:
    // `captured` are the arrays of body.captures(). Not to be run if scratch measures.
    Frame(const Body& body, std::span<const ConstArray> captured, Scratch& scratch);
    Scalar& argument(int i) { return slots_[static_cast<std::size_t>(i)]; }
    void run();
    const Scalar& result(int i) const {
      return slots_[static_cast<std::size_t>(body_.results_[static_cast<std::size_t>(i)])];
    }
    // The first error of all runs: a kernel inside of the body may fail.
    const Status& status() const { return status_; }

   private:
    void run_kernel(std::size_t kernel);

    const Body& body_;
    std::span<Scalar> slots_;
    std::span<std::byte> bytes_;  // of arrays
    std::span<ConstArray> operands_;
    std::span<MutableArray> results_;
    std::span<std::byte> kernel_scratch_;
    Status status_;
  };

 private:
  enum class What : std::uint8_t {
    kApply,       // slots[result] = op(slots[operands...])
    kDequantise,  // slots[result] = the number that slots[from] stands for by `quant`
    kQuantise,    // the other way
    kCopy,        // slots[result] = slots[from]
    kCopyArray,   // arrays[result] = arrays[from]
    kLoad,        // slots[result] = arrays[from]
    kStore,       // arrays[result] = slots[from]
    kKernel,      // runs kernels[from]
    kJump,        // to instruction `result`
    kJumpUnless,  // the same if slots[from] is false
  };
  struct Instruction {
    What what = What::kApply;
    ScalarOp op;
    const ir::QuantParameters* quant = nullptr;
    int operands[3] = {};  // the first is `from`
    int result = 0;
  };
  struct ArrayPlace {
    Shape shape;
    std::size_t offset = 0;
  };
  // Where a value is: a slot if it is a scalar, else an array.
  struct Place {
    int slot = -1;
    int array = -1;
  };
  struct Inner {
    std::shared_ptr<const Kernel> kernel;
    std::vector<int> operands, results;  // arrays
  };
  friend class BodyBuilder;

  int arguments_ = 0;
  std::vector<Scalar> initial_;  // arguments, constants and intermediate values
  std::vector<std::byte> initial_bytes_;
  std::vector<ArrayPlace> arrays_;
  std::vector<const ir::Value*> captures_;
  std::vector<Place> captured_;  // where they are
  std::vector<Inner> kernels_;
  std::size_t most_operands_ = 0, most_results_ = 0, most_scratch_ = 0;  // of any kernel
  std::vector<Instruction> instructions_;
  std::vector<int> results_;
};

}  // namespace millrace::devices::cpu::definition
