// RunContext: the state of one execution of a Plan: the arena, oneDNN's objects, addresses. Several
// executions of one plan may run at once, each with its own context. Contexts are reused, and from
// its second execution on a context allocates nothing. Where a run is, in loops and branches, is
// kept here and not on the stack: it can stop at a step that waits for another process, and go on.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/core/base/clock.h"
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
  Result<RunState> run(const RunCall& call) override;
  Result<RunState> resume(const RunCall& call) override;

  // The same for a program of one process. inputs and outputs in the plan's order and sizes.
  // Outputs are 64-byte aligned; an input that is not aligned to 16 bytes is copied first.
  // outputs[i] == inputs[j] is allowed for the plan's aliases only. No other input is written.
  // output_written(i) is called, on this thread, as soon as output i has its final bytes.
  // kCancelled when stop is requested between two steps: outputs are then unspecified, apart from
  // those reported written. timed gets each step that has run, those inside of loops and branches
  // too, each time that they do, with its milliseconds; a step that runs others without theirs,
  // after them.
  using Timed = FunctionRef<void(const Step&, double ms)>;
  Status run(
      std::span<const void* const> inputs, std::span<void* const> outputs, Parallel& parallel,
      FunctionRef<void(int output)> output_written = [](int) {}, const std::stop_token& stop = {},
      const Timed* timed = nullptr);

 private:
  struct Execution;
  // A list of steps that is under way.
  struct Level {
    const StepList* steps = nullptr;
    std::size_t next = 0;
    const Step* control = nullptr;  // whose block it is; nullptr: the whole program
    std::size_t block = 0;
    TimePoint begin = {};  // of the control, where steps are timed
    double before_ms = 0;  // inside_ms_ then
  };

  explicit RunContext(const Plan& plan) : plan_(plan) {}
  Status bind(std::span<const void* const> inputs, std::span<void* const> outputs);
  Result<std::byte*> aligned(std::size_t input, const void* data);
  Status begin(std::span<const void* const> inputs, std::span<void* const> outputs);
  Result<RunState> go_on(const Execution& execution);
  void enter(const Step& control, const Execution& execution);
  // At the end of a block: the next one of its control, or what follows.
  void leave(const Execution& execution);
  Result<bool> exchange(const Step& step, const Execution& execution) const;
  Status run_step(const Step& step, const Execution& execution);
  void copy(const compiler::Copy& copy) const;

  const Plan& plan_;
  SystemMemory arena_;
  std::vector<std::byte*> addresses_;  // by BufferId
  std::vector<std::byte*> inputs_;
  std::vector<Level> levels_;
  double inside_ms_ = 0;  // of the steps that the present control has run
  std::vector<std::unique_ptr<OneDnnState>> states_;
  std::vector<SystemMemory> aligned_;  // copies of inputs that lie badly, made when needed
};

}  // namespace millrace::devices::cpu
