// Plan: a compiled program: steps in order, one arena for all temporaries, constants, and which
// outputs may take over the bytes of which inputs. Made from verified ir; a RunContext
// (run_context.h) runs it.
//
// The way, a pass with a value each:
//   lower, simplify   ir -> Graph                       graph.h
//   units, order      -> Units: what becomes one step   units.h
//   kernels           -> UnitKernel: what computes each, and what it asks of memory  unit_kernel.h
//   storage           -> Placement: where arrays lie, which copies bring them there  placement.h
//   steps             -> Step: kernel and places        steps.h
// Each pass reads the values before it and changes none. Units and places nest as blocks do. A plan
// writes no input, except one that the program donates and the caller passes as the output's
// buffer.
//
// A step is one unit: a fused loop, a oneDNN kernel, a copy, a while. Steps name buffers by number;
// a run resolves the numbers to addresses once, then executes its steps in order. A run may stop
// where it takes what another process has not given yet, and goes on there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/core/base/error.h"
#include "millrace/core/base/function_ref.h"
#include "millrace/devices/cpu/compile/buffers.h"
#include "millrace/devices/cpu/compile/compiled.h"
#include "millrace/devices/cpu/compile/graph.h"
#include "millrace/devices/cpu/kernels/contraction/onednn.h"
#include "millrace/devices/shape.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::cpu {

namespace ir = stablehlo::ir;

struct Step;
using StepList = std::vector<Step>;

// What a step may use while it runs. Thread-safety: confined to the thread that runs the program;
// parts of a step share it for reading.
struct StepFrame {
  std::byte* const* buffers;                  // by BufferId
  std::span<const BufferId> inputs, outputs;  // the step's own
  std::byte* scratch;  // as many bytes as the step asked for, 64-byte aligned
  Parallel& parallel;
  OneDnnState* state;  // for steps with a oneDNN kernel, else nullptr

  template <class T = std::byte>
  T* at(BufferId b) const {
    return reinterpret_cast<T*>(buffers[b]);
  }
  template <class T = std::byte>
  T* in(std::size_t i = 0) const {
    return at<T>(inputs[i]);
  }
  template <class T = std::byte>
  T* out(std::size_t i = 0) const {
    return at<T>(outputs[i]);
  }
};

using StepFunction = std::function<Status(const StepFrame&)>;

// The StepFunction of a function that cannot fail.
template <class F>
StepFunction always(F run) {
  static_assert(std::is_void_v<std::invoke_result_t<F, const StepFrame&>>);
  return [run = std::move(run)](const StepFrame& f) -> Status {
    run(f);
    return {};
  };
}

// The operation that a step comes from, for --ops and for errors.
struct StepInfo {
  std::string name;  // "stablehlo.convolution", "fused loop of 7"
  std::uint32_t line = 0, column = 0;
  std::size_t scratch_bytes = 0;
  int position = 0;  // in the time that the lifetimes of buffers count
  // In one execution: bytes of what it reads and writes, each counted once, and arithmetic on
  // elements (a multiply-add is two; whatever a loop does to an element is one). 0 where it is not
  // counted, as in a while, which may run any number of times.
  std::size_t bytes = 0;
  double operations = 0;
};

struct Control;

// It runs, or decides which blocks do, or gives or takes its one array.
struct Step {
  StepInfo info;
  StepFunction run;
  std::unique_ptr<Control> control;
  std::optional<compiler::Exchange> exchange;
  std::vector<BufferId> inputs, outputs;  // what run finds in its frame
  std::unique_ptr<OneDnnKernel> kernel;   // whose state a run context makes; or nullptr
  BufferId scratch = -1;                  // -1: none
  int state = -1;                         // index among the context's states
  // Outputs of the program that have their final bytes after this step.
  std::vector<int> outputs_written;
};

// A while, whose blocks are its condition and its body, or a choice of one of its blocks.
struct Control {
  struct Block {
    StepList steps;
    std::vector<compiler::Copy> after;  // what brings its results where they are read
  };
  bool is_while = false;
  BufferId decider = -1;               // what the condition gives, u8; which block, i32
  std::vector<compiler::Copy> before;  // a while's
  std::vector<Block> blocks;
};

struct PlanOptions {
  // No choices by timing: the same bits from every compilation of a program.
  bool deterministic = false;
  std::string function = "main";  // the only function if there is just one
  std::stop_token stop;           // asked to stop, no kernel is made any more: kCancelled
  // What an earlier compilation of the same program with the same options chose: nothing is
  // measured. What does not fit the program is kDataLoss.
  std::optional<KernelChoices> chosen;
  // It is what one process runs of a program that spans several (stablehlo/spread/divide.h).
  bool is_divided = false;
};

// What a plan is made of.
struct PlanParts {
  std::vector<Shape> inputs, outputs;
  std::vector<int> donated;
  std::vector<OutputAlias> aliases;
  compiler::BufferTable buffers;
  std::vector<std::shared_ptr<const std::byte[]>> constants;
  std::vector<const OneDnnKernel*> kernels;  // by Step::state
  StepList steps;
  KernelChoices choices;
  std::size_t arena_bytes = 0, constant_bytes = 0;
};

// Thread-safety: immutable.
class Plan final : public Compiled {
 public:
  explicit Plan(PlanParts parts) : parts_(std::move(parts)) {}

  std::span<const Shape> inputs() const override { return parts_.inputs; }
  std::span<const Shape> outputs() const override { return parts_.outputs; }
  std::span<const int> donated() const override { return parts_.donated; }
  std::span<const OutputAlias> aliases() const override { return parts_.aliases; }
  std::size_t temporary_bytes() const override { return parts_.arena_bytes; }
  Result<std::unique_ptr<CompiledRun>> make_run() const override;    // a RunContext
  KernelChoices choices() const override { return parts_.choices; }  // for PlanOptions::chosen
  std::optional<RunCost> cost() const override;
  // The constants that all runs share.
  std::size_t constant_bytes() const { return parts_.constant_bytes; }
  // Inputs, outputs, arena and constants together.
  std::size_t peak_bytes() const;

  const StepList& steps() const { return parts_.steps; }
  const compiler::BufferTable& buffers() const { return parts_.buffers; }
  const PlanParts& parts() const { return parts_; }

 private:
  const PlanParts parts_;
};

// JAX marks a donated argument with the output that it may become, or as free for any of them.
std::vector<int> donated_arguments(const ir::Function& function);

}  // namespace millrace::devices::cpu
