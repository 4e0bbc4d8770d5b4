// definition: every operation as StableHLO's specification defines it, on dense arrays, one element
// after the other. It runs the operations that have no fast kernel, and it is the oracle that the
// fast kernels are tested against (tests/support/interpreter.h). Read next: scalar.h (elements),
// body.h (regions of reducers and comparators), then the families: each folder beside this file has
// the definitions of a family and its fast kernels.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/devices/cpu/kernels/base/scratch.h"
#include "millrace/devices/cpu/kernels/body.h"
#include "millrace/devices/cpu/kernels/custom_call.h"
#include "millrace/devices/cpu/kernels/kernel.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::cpu::definition {

// The lists of integers among an op's attributes, decoded once. Thread-safety: immutable.
class IntLists {
 public:
  explicit IntLists(const ir::Op& op);
  // Empty if there is none.
  std::span<const std::int64_t> find(std::string_view name) const;

 private:
  std::vector<std::pair<std::string_view, std::vector<std::int64_t>>> lists_;
};

// One operation at work. Shapes are those of the arrays, not of the op's types, which may be
// dynamic. A quantised array has the shape of its storage.
struct Call {
  const ir::Op& op;
  const IntLists& lists;         // of op
  std::span<const Body> bodies;  // of the op's regions
  std::span<const ConstArray> operands;
  std::span<const ConstArray> captured;  // what the bodies capture, one body after the other
  std::span<const MutableArray> results;
  Scratch& scratch;

  // To evaluate body i.
  Body::Frame frame(std::size_t i) const {
    std::size_t first = 0;
    for (std::size_t b = 0; b < i; ++b) first += bodies[b].captures().size();
    return {bodies[i], captured.subspan(first, bodies[i].captures().size()), scratch};
  }
  std::span<const std::int64_t> ints(std::string_view name) const { return lists.find(name); }
};
using Function = Status (*)(const Call&);

// A kernel that takes scratch, as much as the same lines say where it measures.
class ScratchKernel : public Kernel {
 public:
  std::size_t scratch_bytes(std::span<const ConstArray> operands,
                            std::span<const MutableArray> results) const override {
    Scratch scratch;
    // An error is of no interest: what fails for these shapes fails again when it runs.
    static_cast<void>(call(operands, results, scratch));
    return scratch.taken_bytes();
  }
  Status run(std::span<const ConstArray> operands, std::span<const MutableArray> results,
             std::span<std::byte> memory) const override {
    Scratch scratch(memory);
    return call(operands, results, scratch);
  }

 protected:
  virtual Status call(std::span<const ConstArray> operands, std::span<const MutableArray> results,
                      Scratch& scratch) const = 0;
};

}  // namespace millrace::devices::cpu::definition
