// Step: one unit of a planned program: a fused loop, a oneDNN kernel, a copy, a while. Steps know
// buffers by number; a run resolves the numbers to addresses once, then executes its steps in
// order. Made by plan/emit*.cc. Read next: run_context.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "millrace/core/error.h"
#include "millrace/core/function_ref.h"
#include "millrace/core/parallel_for.h"
#include "millrace/devices/cpu/kernels/onednn.h"

namespace millrace::devices::cpu {

using BufferId = int;
struct StepList;

// What a step may use while it runs. Thread-safety: confined to the thread that runs the program;
// parts of a step share it for reading.
struct StepFrame {
  std::byte* const* buffers;  // by BufferId
  std::byte* scratch;         // as many bytes as the step asked for, 64-byte aligned
  Parallel& parallel;
  OneDnnState* state;  // for steps with a oneDNN kernel, else nullptr
  // Runs the steps of a nested block; kCancelled when the run was stopped.
  FunctionRef<Status(const StepList&)> nested;

  template <class T = std::byte>
  T* at(BufferId b) const {
    return reinterpret_cast<T*>(buffers[b]);
  }
};

// Where it came from, for --ops and for errors.
struct StepInfo {
  std::string name;  // "stablehlo.convolution", "fused loop of 7"
  std::uint32_t line = 0, column = 0;
  std::size_t scratch_bytes = 0;
  int position = 0;  // in the time in which the lifetimes of buffers are told
  // Of one execution: bytes of what it reads and writes, each counted once, and arithmetic on
  // elements (a multiply-add is two; whatever a loop does to an element is one). 0 where nobody
  // has counted, as in a while, which may run any number of times.
  std::size_t bytes = 0;
  double operations = 0;
};

struct Step {
  StepInfo info;
  std::function<Status(const StepFrame&)> run;
  std::unique_ptr<OneDnnKernel> kernel;  // whose state a run context makes; or nullptr
  BufferId scratch = -1;                 // -1: none
  int state = -1;                        // index among the context's states
  std::vector<int>
      outputs_written;  // outputs of the program that have their final bytes after this step
};

struct StepList {
  std::vector<Step> steps;
};

}  // namespace millrace::devices::cpu
