// Step: one unit of a planned program: a fused loop, a oneDNN kernel, a copy, a while. Steps know
// buffers by number; a run resolves the numbers to addresses once, then executes its steps in
// order. Made by emit.h. Read next: plan.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/core/base/error.h"
#include "millrace/core/base/function_ref.h"
#include "millrace/devices/cpu/kernels/contraction/onednn.h"

namespace millrace::devices::cpu {

using BufferId = int;
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
  // Runs the steps of a nested block; kCancelled when the run was stopped.
  FunctionRef<Status(const StepList&)> nested;

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

// Where it came from, for --ops and for errors.
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

struct Step {
  StepInfo info;
  StepFunction run;
  std::vector<BufferId> inputs, outputs;  // what run finds in its frame
  std::unique_ptr<OneDnnKernel> kernel;   // whose state a run context makes; or nullptr
  BufferId scratch = -1;                  // -1: none
  int state = -1;                         // index among the context's states
  // Outputs of the program that have their final bytes after this step.
  std::vector<int> outputs_written;
};

}  // namespace millrace::devices::cpu
