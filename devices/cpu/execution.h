// CpuExecutable and Execution: a compiled program on CPU devices, and one launch of it: from
// handles, through the wait for the inputs' bytes, to the end of the program.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/async/executor.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/client.h"
#include "millrace/devices/cpu/buffer.h"
#include "millrace/devices/cpu/compile/compiled.h"
#include "millrace/devices/cpu/devices.h"
#include "millrace/devices/cpu/shape_cache.h"
#include "millrace/devices/pooled_array.h"

namespace millrace::devices::cpu {

// For a program of dynamic shapes it is the front of others, one for each set of argument shapes
// that was launched lately: a launch finds or makes the one for its own, which then does the work.
// The shapes of the outputs are known when a launch returns; the plan for new shapes is made by the
// device's threads, as the first part of the execution. Thread-safety: thread-safe.
class CpuExecutable final : public ExecutableBody {
 public:
  CpuExecutable(CpuDevices& devices, const Program& program,
                std::shared_ptr<const Compiled> compiled, std::optional<DeviceId> device,
                bool deterministic);

  const std::string& name() const override { return program_.name(); }
  Client& client() const override { return devices_.client; }
  std::span<const Shape> input_shapes() const override { return compiled_->inputs(); }
  std::span<const Shape> output_shapes() const override { return compiled_->outputs(); }
  std::span<const bool> donated_inputs() const override {
    return {donated_.get(), compiled_->inputs().size()};
  }
  int devices_per_launch() const override { return 1; }
  // For a program of dynamic shapes: the most that a launch so far has taken, with the outputs
  // whose shapes are not known before.
  std::int64_t temporary_bytes() const override;
  Status launch(const LaunchArguments& call, std::span<LaunchResult> results) override;
  Result<std::string> serialize() const override;
  // "flops" and "bytes accessed", as the plan counts them.
  Result<Attributes> cost_analysis() const override;

  // Before take_run() and alias_of(): makes the plan if that was left until now. Any thread.
  Status prepare();
  // A run that is not in use; release it for the next execution.
  Result<std::unique_ptr<CompiledRun>> take_run();
  void release_run(std::unique_ptr<CompiledRun> run);
  // Memory of runs that are not under way is freed.
  void drop_free_runs();
  // The input that output may be written over, -1 for none.
  int alias_of(std::size_t output) const { return alias_of_[output]; }
  TraceName trace_name() const { return trace_name_; }
  void took(Duration time);
  // Running it costs less than handing it to another thread, as the last executions say; false
  // before the first.
  bool is_short() const;

 private:
  Status start(const LaunchArguments& call, std::span<LaunchResult> results);
  // The executable for arguments of these shapes.
  Result<Ref<CpuExecutable>> refined(std::span<const Buffer> arguments);
  void note_launch(CpuExecutable& refined);

  CpuDevices& devices_;
  const Program program_;
  const std::shared_ptr<const Compiled> compiled_;
  const std::optional<DeviceId> device_;  // that it is bound to
  const bool deterministic_;
  const std::unique_ptr<bool[]> donated_;
  std::vector<int> alias_of_;  // read after prepare()
  std::atomic<bool> prepared_{false};
  const std::unique_ptr<ShapeCache<Ref<CpuExecutable>>> refinements_;  // of dynamic shapes
  std::atomic<std::int64_t> largest_launch_{0};
  TraceName trace_name_{};
  std::atomic<Duration::rep> usual_time_{-1};
  Mutex mutex_;
  std::vector<std::unique_ptr<CompiledRun>> free_runs_ MILLRACE_GUARDED_BY(mutex_);
};

// Life: waits for inputs -> stands in the device's line -> runs -> ends. Owned by what will call
// it next: input waiters, the line, the executor.
class Execution final : public RefCounted, public InLine, public Pooled {
 public:
  using Pooled::operator new;
  using Pooled::operator delete;

  Execution(CpuDevice& device, Ref<CpuExecutable> executable, Scope::Hold hold);

  // Takes the inputs (donated ones away from their handles), makes the outputs and starts to wait.
  // Consumes the caller's reference.
  LaunchResult launch(const LaunchArguments& call);

  void run() noexcept override;
  void drop() noexcept override;
  bool is_short() const override { return executable_->is_short(); }
  void fail_unrun() override;

 private:
  class InputWaiter;

  void input_done();
  Status run_program();
  void write(std::size_t output);
  Status assign_blocks();
  Ref<Block> donated_block(std::size_t output) const;
  void finish(const Status& status);

  CpuDevice& device_;
  const Ref<CpuExecutable> executable_;
  Scope::Hold hold_;
  std::stop_token stop_;
  TimePoint deadline_ = kNoDeadline;
  std::uint64_t flow_ = 0;
  PooledArray<Ref<CpuArray>> inputs_;
  PooledArray<bool> given_;  // per input: donated by this launch
  PooledArray<Ref<CpuArray>> outputs_;
  PooledArray<Ref<Block>> blocks_;          // of the outputs, while it runs
  bool recorded_ = false;                   // the run goes into the trace
  std::optional<std::size_t> last_output_;  // of a recorded run: written once it is in the trace
  const Ref<Cell<void>> done_;
  std::atomic<std::size_t> pending_{1};
};

}  // namespace millrace::devices::cpu
