// run: executes a Plan. A RunContext holds what one execution at a time needs: the arena, oneDNN's
// objects, addresses. Several executions of one plan may run at once, each with a context of its
// own; contexts are reused, and from its second execution on a context allocates nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "millrace/core/error.h"
#include "millrace/core/function_ref.h"
#include "millrace/core/parallel_for.h"
#include "millrace/devices/cpu/plan/plan.h"

namespace millrace::devices::cpu {

// Thread-safety: confined to one execution at a time.
class RunContext {
 public:
  // kResourceExhausted if the arena cannot be had.
  static Result<std::unique_ptr<RunContext>> create(const Plan& plan);
  ~RunContext();

 private:
  friend class Runner;
  struct Free {
    void operator()(std::byte* p) const;
  };
  RunContext() = default;

  std::unique_ptr<std::byte, Free> arena_;
  std::vector<std::byte*> addresses_;  // by BufferId
  std::vector<std::byte*> inputs_;
  std::vector<std::unique_ptr<OneDnnState>> states_;
  std::vector<std::unique_ptr<std::byte, Free>>
      aligned_;  // copies of inputs that lie badly, made when needed
};

// inputs and outputs in the plan's order and sizes. Outputs are 64-byte aligned; an input that is
// not aligned to 16 bytes is copied first. outputs[i] == inputs[j] is allowed for the plan's
// aliases only. No other input is written. output_written(i) is called, on this thread, as soon as
// output i has its final bytes. kCancelled when stop is requested between two steps: outputs are
// then unspecified, apart from those told written.
Status run(const Plan& plan, RunContext& context, std::span<const void* const> inputs,
           std::span<void* const> outputs, Parallel& parallel,
           FunctionRef<void(int output)> output_written, std::stop_token stop);

// The same, and tells each step that has run, those inside of loops and branches too, each time
// that they do, with its milliseconds; a step that runs others is told without theirs, after them.
Status run_timed(const Plan& plan, RunContext& context, std::span<const void* const> inputs,
                 std::span<void* const> outputs, Parallel& parallel,
                 FunctionRef<void(const Step&, double ms)> timed);

}  // namespace millrace::devices::cpu
