// SimExecutable and SimLaunch: a simulated program, and one execution of it from its inputs to its
// end. Internal to sim_client.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/async/scope.h"
#include "millrace/devices/pooled_array.h"
#include "millrace/devices/sim/sim_buffer.h"

namespace millrace::devices::sim {

// Thread-safety: immutable.
class SimExecutable final : public ExecutableBody {
 public:
  SimExecutable(SimCore& client, std::shared_ptr<const SimProgram> program);

  const std::string& name() const override { return program_->name; }
  Client& client() const override { return client_; }
  std::span<const Shape> input_shapes() const override { return program_->inputs; }
  std::span<const Shape> output_shapes() const override { return program_->outputs; }
  std::span<const bool> donated_inputs() const override {
    return {donated_.get(), program_->inputs.size()};
  }
  int devices_per_launch() const override { return program_->devices; }
  std::int64_t temporary_bytes() const override { return program_->temporary_bytes; }
  Status launch(const LaunchArguments& call, std::span<LaunchResult> results) override;
  Result<std::string> serialize() const override { return "sim:" + program_->name; }

  struct OutputTime {
    Duration at{};
    int output = 0;
  };
  const SimProgram& program() const { return *program_; }
  std::span<const OutputTime> output_times() const {
    return output_times_;
  }  // outputs in the order in which they are written

 private:
  SimCore& client_;
  const std::shared_ptr<const SimProgram> program_;
  const std::unique_ptr<bool[]> donated_;
  std::vector<OutputTime> output_times_;
};

// Life: waits for its inputs' bytes, waits for its devices, begins on all of them, writes outputs,
// ends. Owned by what will call it next: input waiters, device queues, a timer.
class SimLaunch final : public SimQueued, public Pooled {
 public:
  using Pooled::operator new;
  using Pooled::operator delete;

  SimLaunch(SimCore& client, Ref<SimExecutable> executable, std::size_t devices, Scope::Hold hold);

  // By launch(), in this order.
  void prepare(const LaunchArguments& call, std::span<LaunchResult> results,
               std::span<SimDevice* const> devices);
  void start(const LaunchArguments& call);

  void finish(const Status& status) override;

 private:
  struct Part {
    SimDevice* device = nullptr;
    PooledArray<Ref<SimBytes>> inputs;
    PooledArray<Ref<SimBuffer>> outputs;
    Ref<QuietCell> done;
  };

  void input_done(const Error* error);
  void enqueue();
  static void try_begin(SimCore& client, SimDevice& device);
  void begin();
  Status stopped() const;
  void later(TimePoint due, void (SimLaunch::*what)());
  Status compute();
  void step();
  TimePoint due_locked(Duration offset) const;
  void note(SimEvent::Kind kind, const Part& part, int output = -1) const;
  void trace(const SimDevice& device) const;

  SimCore& client_;
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
  bool finished_ = false;
  std::optional<TimerQueue::Id> timer_;
  // Confined to the thread that steps.
  TimePoint begin_{};
  std::size_t next_step_ = 0;
};

}  // namespace millrace::devices::sim
