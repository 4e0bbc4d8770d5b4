// Attempt: one try of a training, from the compilation to the evaluation; what it leaves to the
// next one is in RunState. Internal to training.cc. attempt_prepare.cc has everything before the
// first step, attempt.cc the steps and the end. Read next: step_graph.h (one step).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/tools/train/checkpoint.h"
#include "millrace/tools/train/model.h"
#include "millrace/tools/train/step_graph.h"
#include "millrace/tools/train/step_watch.h"
#include "millrace/tools/train/training_options.h"

namespace millrace::train {

// Lives in the frame of the coroutine that runs it, which closes it. Thread-safety: confined to
// that coroutine.
class Attempt {
 public:
  Attempt(TrainingParts parts, TrainingOptions options, TrainingListener* listener, RunState& run)
      : parts_(std::move(parts)),
        options_(std::move(options)),
        listener_(listener),
        run_(run),
        watch_(*parts_.environment.clock, *parts_.environment.compute, parts_.devices.size()),
        link_(options_.call.stop, [this] { watch_.stop(); }),
        shares_(parts_.devices.size()) {
    call_.stop = watch_.token();
    call_.deadline = options_.call.deadline;
    if (parts_.trace == nullptr) return;
    step_lane_ = parts_.trace->lane("steps");
    step_name_ = parts_.trace->name("step");
  }

  Task<TrainingReport> run();
  Task<void> close();
  // The error to return when run() ended with error: the first failure is the cause of the others.
  Error root_cause(const Error& error) const;

 private:
  struct StepInFlight {
    Ref<GraphRun> run;
    std::uint64_t epoch = 0;
    bool last_of_epoch = false;
  };

  std::int64_t rows() const {
    return options_.batch_size / static_cast<std::int64_t>(parts_.devices.size());
  }
  std::uint64_t total_steps() const;
  Future<devices::Executable> compile(const ProgramSpec& spec) const;
  Result<transfer::DeviceLoader> make_loader() const;
  Task<void> prepare();
  Task<void> open_run(const ProgramSpec& init, const ProgramSpec& update);
  void go_on();
  Task<void> initialise(const ProgramSpec& init, const devices::Executable& program);
  void make_checkpointer();
  Task<void> steps();
  void start_step(std::uint64_t step, std::uint64_t steps_per_epoch);
  Task<void> retire();
  Task<void> end_epoch(std::uint64_t epoch);
  Task<EpochShare> meet_all(std::string tag, EpochShare RankState::* share);
  Status note_checkpoint();
  Status advance_checkpoint();
  Task<void> begin_last_checkpoint();
  Task<void> end_checkpoint();
  void report_start(Duration compile_time);
  void report_step(double loss, std::uint64_t epoch);
  std::uint64_t steps_done() const { return run_.first_step + run_.losses.size(); }
  bool recovers() const { return options_.device_restarts.restarts > 0; }
  // Another process may go on from a checkpoint, to the same bits: no kernel is chosen by how fast
  // it was. (A run that recovers has the same programs.)
  bool deterministic() const { return options_.deterministic || options_.checkpoint; }
  TrainingReport figures() const;

  const TrainingParts parts_;
  const TrainingOptions options_;
  TrainingListener* const listener_;
  RunState& run_;
  StepWatch watch_;
  std::stop_callback<std::function<void()>> link_;
  CallOptions call_;
  TraceLane step_lane_{};
  TraceName step_name_{};

  std::optional<Model> model_;
  std::optional<transfer::DeviceLoader> loader_;
  std::vector<collectives::ProcessGroup> ranks_;
  std::optional<StepGraph> graph_;
  devices::Executable eval_program_;
  const ProgramSpec* grad_ = nullptr;
  const ProgramSpec* eval_ = nullptr;
  std::string grad_name_;
  std::string update_name_;

  std::uint64_t first_step_ = 0;  // of this attempt
  std::optional<Checkpointer> checkpointer_;

  std::vector<Replica> replicas_;
  std::deque<StepInFlight> in_flight_;
  std::vector<Future<std::optional<transfer::DeviceBatch>>> epoch_ends_;
  TimePoint last_done_{};
  std::vector<RankState> shares_;  // by rank, of the steps that have ended
};

}  // namespace millrace::train
