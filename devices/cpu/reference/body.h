// Body: the region of a reducer, a comparator or an update: a small program of scalars of any type,
// for what kernels/region.h does not compile. Read next: scalar_op.h.
#pragma once

#include <vector>

#include "millrace/core/error.h"
#include "millrace/devices/cpu/ir/module.h"
#include "millrace/devices/cpu/reference/scalar_op.h"

namespace millrace::devices::cpu::reference {

// Thread-safety: immutable.
class Body {
 public:
  // kUnimplemented if an op of the block is not one of scalars, a constant or a call of such.
  static Result<Body> make(const ir::Module& module, const ir::Op& op, const ir::Block& block);

  int arguments() const { return arguments_; }
  int results() const { return static_cast<int>(results_.size()); }
  DType result_type(int i) const { return result_types_[static_cast<std::size_t>(i)]; }

  // The memory of one evaluation at a time. Thread-safety: confined.
  class Frame {
   public:
    explicit Frame(const Body& body) : body_(body), slots_(body.initial_) {}
    Scalar& argument(int i) { return slots_[static_cast<std::size_t>(i)]; }
    void run();
    const Scalar& result(int i) const {
      return slots_[static_cast<std::size_t>(body_.results_[static_cast<std::size_t>(i)])];
    }

   private:
    const Body& body_;
    std::vector<Scalar> slots_;
  };

 private:
  struct Instruction {
    ScalarOp op;
    int operands[3] = {};
    int result = 0;
  };
  friend class BodyBuilder;

  int arguments_ = 0;
  std::vector<Scalar> initial_;  // arguments, constants and intermediate values
  std::vector<Instruction> instructions_;
  std::vector<int> results_;
  std::vector<DType> result_types_;
};

}  // namespace millrace::devices::cpu::reference
