// RunContext: the state of one execution of a Plan: the arena, oneDNN's objects, addresses. Several
// executions of one plan may run at once, each with its own context. Contexts are reused, and from
// its second execution on a context allocates nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/core/base/error.h"
#include "millrace/core/base/function_ref.h"
#include "millrace/devices/cpu/compile/plan.h"
#include "millrace/devices/memory_pool.h"

namespace millrace::devices::cpu {

// Thread-safety: confined to one execution at a time.
class RunContext final : public CompiledRun {
 public:
  // kResourceExhausted if the arena cannot be had, or oneDNN would get too little.
  static Result<std::unique_ptr<RunContext>> create(const Plan& plan);
  Status run(const RunCall& call) override {
    return run(call.inputs, call.outputs, call.parallel, call.output_written, call.stop);
  }

  // inputs and outputs in the plan's order and sizes. Outputs are 64-byte aligned; an input that is
  // not aligned to 16 bytes is copied first. outputs[i] == inputs[j] is allowed for the plan's
  // aliases only. No other input is written. output_written(i) is called, on this thread, as soon
  // as output i has its final bytes. kCancelled when stop is requested between two steps: outputs
  // are then unspecified, apart from those reported written. timed gets each step that has run,
  // those inside of loops and branches too, each time that they do, with its milliseconds; a step
  // that runs others without theirs, after them.
  using Timed = FunctionRef<void(const Step&, double ms)>;
  Status run(
      std::span<const void* const> inputs, std::span<void* const> outputs, Parallel& parallel,
      FunctionRef<void(int output)> output_written = [](int) {}, const std::stop_token& stop = {},
      const Timed* timed = nullptr);

 private:
  struct Execution;

  explicit RunContext(const Plan& plan) : plan_(plan) {}
  Status bind(std::span<const void* const> inputs, std::span<void* const> outputs);
  Result<std::byte*> aligned(std::size_t input, const void* data);
  Status run_steps(const StepList& steps, Execution& execution);

  const Plan& plan_;
  SystemMemory arena_;
  std::vector<std::byte*> addresses_;  // by BufferId
  std::vector<std::byte*> inputs_;
  std::vector<std::unique_ptr<OneDnnState>> states_;
  std::vector<SystemMemory> aligned_;  // copies of inputs that lie badly, made when needed
};

}  // namespace millrace::devices::cpu
