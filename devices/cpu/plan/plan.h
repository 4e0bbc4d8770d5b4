// Plan: a compiled program: steps in order, one arena for everything that lives in between,
// constants, and which outputs may take over the bytes of which inputs. Made from verified ir; run
// by run/run.h with a RunContext.
//
// The way: lower (ir -> Graph) -> simplify -> fuse -> emit (steps and buffers). A plan never writes
// an input but one that the program donates and that the caller passes as the output's buffer.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "millrace/core/error.h"
#include "millrace/devices/cpu/ir/module.h"
#include "millrace/devices/cpu/kernel_choice.h"
#include "millrace/devices/cpu/plan/buffers.h"
#include "millrace/devices/cpu/run/step.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

struct PlanOptions {
  // No choices by timing: the same bits from every compilation of a program.
  bool deterministic = false;
  std::string function = "main";  // the only function if there is just one
  std::stop_token stop;           // asked to stop, the next step is not made: kCancelled
  // Of an earlier compilation of the same program with the same options: nothing is measured. What
  // does not fit the program is kDataLoss.
  std::optional<KernelChoices> chosen;
};

// Output `output` may be given the buffer of input `input`: it is written after that input's last
// read.
struct PlanAlias {
  int output = 0;
  int input = 0;
};

// Thread-safety: immutable.
class Plan {
 public:
  // kUnimplemented with "line:column: op: ..." for what the CPU device does not run.
  static Result<std::unique_ptr<Plan>> create(const ir::Module& module, const PlanOptions& options);
  ~Plan();

  std::span<const Shape> inputs() const { return inputs_; }
  std::span<const Shape> outputs() const { return outputs_; }
  std::span<const PlanAlias> aliases() const { return aliases_; }
  // Bytes of one run context, and of the constants that all of them share.
  std::size_t arena_bytes() const { return arena_bytes_; }
  std::size_t constant_bytes() const { return constant_bytes_; }
  // Inputs, outputs, arena and constants together.
  std::size_t peak_bytes() const;

  // For PlanOptions::chosen.
  const KernelChoices& choices() const { return choices_; }
  const StepList& steps() const { return steps_; }
  int states() const { return static_cast<int>(kernels_.size()); }
  // The kernel behind state i.
  const OneDnnKernel& kernel(int i) const { return *kernels_[static_cast<std::size_t>(i)]; }
  const plan::BufferTable& buffers() const { return buffers_; }
  const std::byte* constant(int i) const { return constants_[static_cast<std::size_t>(i)].get(); }

 private:
  Plan() = default;
  friend class PlanBuilder;

  std::vector<Shape> inputs_, outputs_;
  std::vector<PlanAlias> aliases_;
  plan::BufferTable buffers_;
  std::vector<std::shared_ptr<const std::byte[]>> constants_;
  std::vector<const OneDnnKernel*> kernels_;
  StepList steps_;
  KernelChoices choices_;
  std::size_t arena_bytes_ = 0, constant_bytes_ = 0;
};

}  // namespace millrace::devices::cpu
