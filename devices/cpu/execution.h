// CpuExecutable and Execution: a compiled program on CPU devices, and one launch of it: from
// handles, through the wait for the inputs' bytes, to the end of the program.
//  - CE-1 a launch on several devices is one entry in one line, that of its first device: no
//    thread waits for another inside of it, so launches that meet in any order all end.
//  - CE-2 where a part of it fails, or one of its devices has failed, the outputs of all its
//    devices get that error; none of them is written before all are.
//  - CE-3 a launch of a program that spans processes waits for these outside of the line: others
//    run on its devices meanwhile, and no thread waits. An error that ends it in one process does
//    so in all that lack something by then.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "millrace/core/async/executor.h"
#include "millrace/core/async/parallel_for.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/client.h"
#include "millrace/devices/cpu/buffer.h"
#include "millrace/devices/cpu/compile/compiled.h"
#include "millrace/devices/cpu/devices.h"
#include "millrace/devices/cpu/gathering.h"
#include "millrace/devices/cpu/shape_cache.h"
#include "millrace/devices/pooled_array.h"

namespace millrace::devices::cpu {

// For a program of dynamic shapes it is the front of others, one for each set of argument shapes
// that was launched lately: a launch finds or makes the one for its own, which then does the work.
// The shapes of the outputs are known when a launch returns; the plan for new shapes is made by the
// device's threads, as the first part of the execution.
//
// One for several devices is bound to them, in the order of its launches.
// Thread-safety: thread-safe.
class CpuExecutable final : public ExecutableBody {
 public:
  // What of CompileOptions outlives the compilation. devices: that it is bound to, none where it
  // runs on any one.
  struct Options {
    int replicas = 1;
    int partitions = 1;
    std::vector<CpuDevice*> devices = {};
    bool deterministic = false;
    Ref<ProgramLink> link = {};  // to the other processes of a program that spans several
  };
  CpuExecutable(CpuDevices& devices, const Program& program,
                std::shared_ptr<const Compiled> compiled, Options options);

  const std::string& name() const override { return program_.name(); }
  Client& client() const override { return devices_.client; }
  std::span<const Shape> input_shapes() const override {
    return parts_ != nullptr ? std::span(parts_->arguments) : compiled_->inputs();
  }
  std::span<const Shape> output_shapes() const override {
    return parts_ != nullptr ? std::span(parts_->results) : compiled_->outputs();
  }
  std::span<const bool> donated_inputs() const override {
    return {donated_.get(), input_shapes().size()};
  }
  // Those of this process.
  int devices_per_launch() const override {
    return spans_processes() ? static_cast<int>(options_.devices.size())
                             : options_.replicas * options_.partitions;
  }
  // For a program of dynamic shapes: the most that a launch so far has taken, with the outputs
  // whose shapes are not known before.
  std::int64_t temporary_bytes() const override;
  Status launch(const LaunchArguments& call, std::span<LaunchResult> results) override;
  // The part of one device of a launch on several: the k-th call of each belongs to the k-th
  // launch, which starts when all have come. The stop and the deadline of the first one count.
  // Handles at once; a call that is refused was none. Errors are those of launch().
  Result<LaunchResult> launch_part(const LaunchArguments& call);
  // What has not all its calls by now never will: its outputs fail.
  void give_up_parts(const Error& why) { devices_.gathering.give_up(*this, why); }
  Result<std::string> serialize() const override;
  // "flops" and "bytes accessed", as the plan counts them.
  Result<Attributes> cost_analysis() const override;

  bool spans_processes() const { return static_cast<bool>(options_.link); }
  std::shared_ptr<ProcessLaunch> reserve_launch() override {
    return spans_processes() ? options_.link->next_launch() : nullptr;
  }
  ProcessLaunches& process_launches() const { return devices_.process_launches; }

  // Before take_run() and alias_of(): makes the plan if that was left until now. Any thread.
  Status prepare();
  // A run that is not in use; release it for the next execution.
  Result<std::unique_ptr<CompiledRun>> take_run();
  void release_run(std::unique_ptr<CompiledRun> run);
  // Memory of runs that are not under way is freed.
  void drop_free_runs();
  // The one program that runs, for all devices.
  const Compiled& compiled() const { return *compiled_; }
  const DeviceParts* parts() const { return parts_; }
  std::span<CpuDevice* const> devices() const { return options_.devices; }
  // The input that output may be written over, -1 for none.
  int alias_of(std::size_t output) const { return alias_of_[output]; }
  // Whose memory an output of a launch on several devices is: the first device that has it.
  CpuDevice& owner_of(std::size_t output) const { return *options_.devices[owner_of_[output]]; }
  // The threads of all devices that it is bound to; nullptr where it runs on those of one.
  Parallel* parallel() const { return parallel_; }
  TraceName trace_name() const { return trace_name_; }
  void took(Duration time);
  // Running it costs less than handing it to another thread, as the last executions say; false
  // before the first.
  bool is_short(bool awaited) const;

 private:
  Status start(const LaunchArguments& call, std::span<LaunchResult> results);
  // The devices of a call, if they are those that this is bound to, and live.
  Status check_devices(std::span<const DeviceId> ids) const;
  // The executable for arguments of these shapes.
  Result<Ref<CpuExecutable>> refined(std::span<const Buffer> arguments);
  void note_launch(CpuExecutable& refined);

  CpuDevices& devices_;
  const Program program_;
  const std::shared_ptr<const Compiled> compiled_;
  const DeviceParts* const parts_;  // of compiled_
  const Options options_;
  const std::unique_ptr<bool[]> donated_;
  std::vector<std::size_t> owner_of_;
  std::unique_ptr<Parallel> own_parallel_;
  Parallel* parallel_ = nullptr;
  std::vector<int> alias_of_;  // read after prepare()
  std::atomic<bool> prepared_{false};
  const std::unique_ptr<ShapeCache<Ref<CpuExecutable>>> refinements_;  // of dynamic shapes
  std::atomic<std::int64_t> largest_launch_{0};
  TraceName trace_name_{};
  std::atomic<Duration::rep> usual_time_{-1};
  Mutex mutex_;
  std::vector<std::unique_ptr<CompiledRun>> free_runs_ MILLRACE_GUARDED_BY(mutex_);
};

// Life: waits for the calls of its devices and for their inputs -> stands in the line of the first
// device -> runs [-> waits for another process -> stands in the line -> runs ...] -> ends. Owned by
// what will call it next: calls to come, input waiters, the line, the executor. Counted: Gathering
// holds it besides. Thread-safety: external; the order of its life makes it so.
class Execution final : public GatheredLaunch, public InLine, public Pooled {
 public:
  using Pooled::operator new;
  using Pooled::operator delete;

  // device: the only one, or the first of the executable's.
  Execution(CpuDevice& device, Ref<CpuExecutable> executable, Scope::Hold hold);

  // Takes the inputs (donated ones away from their handles), makes the outputs and starts to wait.
  // Consumes the caller's reference.
  void launch(const LaunchArguments& call, std::span<LaunchResult> results);

  void take_options(const LaunchArguments& call);
  LaunchResult take(std::size_t place, std::span<const Buffer> arguments,
                    const LaunchArguments& call) override;
  void give_up(const Error& why) override { given_up_ = why; }
  bool is_given_up() const override { return given_up_.has_value(); }
  void arrive(std::size_t place) override;
  void miss(std::size_t calls) override;

  void run() noexcept override;
  void drop() noexcept override;
  // What goes on because another process gave something does not do so on the thread that heard it.
  bool is_short() const override {
    return with_others_ == nullptr && executable_->is_short(awaited_);
  }
  void fail_unrun() override;

 private:
  class InputWaiter;

  std::span<CpuDevice* const> devices() const {
    return spans_ ? executable_->devices() : std::span<CpuDevice* const>(&device_, 1);
  }
  // The error of the first device that has failed.
  Status alive() const;
  Ref<CpuArray> output_of(std::size_t place, std::size_t result) const;
  // Where argument `input` of the program that runs stands among inputs_.
  std::size_t place_of(std::size_t input) const;
  void input_done();
  Result<RunState> begin_program();
  Result<RunState> continue_program(bool begins);
  // Goes on once another process has given what it waits for, or there is reason to end.
  void wait_for_others();
  void join_others(std::shared_ptr<ProcessLaunch> launch);
  // Names the process that it waited for, if it did.
  std::unexpected<Error> stopped(bool waited) const;
  void end_run();
  void record(TimePoint begin, TimePoint end) const;
  void write(std::size_t output);
  Status assign_blocks();
  Ref<Block> donated_block(std::size_t output) const;
  bool is_exclusive(std::size_t place) const;
  void finish(const Status& status);

  CpuDevice* const device_;
  const Ref<CpuExecutable> executable_;
  const bool spans_;  // several devices, or processes
  Scope::Hold hold_;
  std::stop_token stop_;
  TimePoint deadline_ = kNoDeadline;
  std::uint64_t flow_ = 0;
  bool awaited_ = false;
  PooledArray<Ref<CpuArray>> inputs_;  // of all devices, one after the other
  PooledArray<bool> given_;            // per input: donated by this launch
  PooledArray<Ref<CpuArray>> outputs_;
  PooledArray<Ref<Block>> blocks_;    // of the outputs, while it runs
  std::unique_ptr<CompiledRun> run_;  // the four of a run that is under way
  std::optional<MemoryPool::Use> temporaries_;
  PooledArray<const void*> input_bytes_;
  PooledArray<void*> output_bytes_;
  std::size_t left_ = 0;                        // outputs that are not written
  std::shared_ptr<ProcessLaunch> with_others_;  // of a program that spans processes
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
  bool recorded_ = false;                   // the run goes into the trace
  std::optional<std::size_t> last_output_;  // of a recorded run: written once it is in the trace
  const Ref<Cell<void>> done_;
  std::optional<Error> given_up_;  // not all calls come; read by all that come after it was set
  std::atomic<std::size_t> pending_;
};

}  // namespace millrace::devices::cpu
