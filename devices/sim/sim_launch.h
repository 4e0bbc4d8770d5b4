// SimExecutable and SimLaunch: a simulated program, and one execution of it from its inputs to its
// end. Internal to sim_client.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/scope.h"
#include "millrace/devices/pooled_array.h"
#include "millrace/devices/sim/sim_buffer.h"
#include "millrace/devices/sim/sim_device.h"
#include "millrace/devices/sim/sim_options.h"

namespace millrace::devices::sim {

// Thread-safety: immutable.
class SimExecutable final : public ExecutableBody {
 public:
  SimExecutable(SimClient& client, std::shared_ptr<const SimProgram> program);

  const std::string& name() const override { return program_->name; }
  std::span<const Shape> input_shapes() const override { return program_->inputs; }
  std::span<const Shape> output_shapes() const override { return program_->outputs; }
  std::span<const bool> donated_inputs() const override {
    return {donated_.get(), program_->inputs.size()};
  }
  int devices_per_launch() const override { return program_->devices; }
  std::int64_t temporary_bytes() const override { return program_->temporary_bytes; }
  Status launch(const LaunchArguments& call, std::span<LaunchResult> results) override;
  Result<std::string> serialize() const override { return "sim:" + program_->name; }

  struct Step {
    Duration at{};
    int output = 0;
  };
  const SimProgram& program() const { return *program_; }
  std::span<const Step> steps() const {
    return steps_;
  }  // outputs in the order in which they are written

 private:
  SimClient& client_;
  const std::shared_ptr<const SimProgram> program_;
  const std::unique_ptr<bool[]> donated_;
  std::vector<Step> steps_;
};

// Life: waits for its inputs' bytes, waits for its devices, begins on all of them, writes outputs,
// ends. Owned by whoever will call it next: input waiters, device queues, a timer.
class SimLaunch final : public RefCounted, public Pooled {
 public:
  using Pooled::operator new;
  using Pooled::operator delete;

  SimLaunch(SimClient& client, Ref<SimExecutable> executable, std::size_t devices,
            Scope::Hold hold);

  // By launch(), in this order.
  void prepare(const LaunchArguments& call, std::span<LaunchResult> results,
               std::span<SimDevice* const> devices);
  void start(const LaunchArguments& call);

  bool inputs_ready() const { return inputs_ready_; }  // under the client's mutex
  void finish(const Status& status);

 private:
  class InputWaiter;
  struct Part {
    SimDevice* device = nullptr;
    PooledArray<Ref<SimBytes>> inputs;
    PooledArray<Ref<SimBuffer>> outputs;
    Ref<QuietCell> done;
  };

  void input_done(const Error* error);
  void enqueue();
  static void try_begin(SimClient& client, SimDevice& device);
  void begin();
  Status stopped() const;
  void later(TimePoint due, void (SimLaunch::*what)());
  Status compute();
  void step();
  TimePoint due_locked(Duration offset) const;
  void trace(const SimDevice& device) const;

  SimClient& client_;
  const Ref<SimExecutable> executable_;
  PooledArray<Part> parts_;
  Scope::Hold hold_;
  std::uint64_t number_ = 0;
  std::uint64_t flow_ = 0;
  std::optional<Error> scripted_;
  std::stop_token stop_;  // looked at before each thing that the program does
  TimePoint deadline_ = kNoDeadline;
  std::atomic<std::size_t> pending_{1};
  // Guarded by the client's mutex.
  std::optional<Error> input_error_;
  bool inputs_ready_ = false;
  bool finished_ = false;
  std::optional<TimerQueue::Id> timer_;
  // Confined to whoever steps.
  TimePoint begin_{};
  std::size_t next_step_ = 0;
};

}  // namespace millrace::devices::sim
