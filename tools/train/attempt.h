// Attempt: one try of a training, from the compilation to the evaluation; what it leaves to the
// next one is in RunState. Internal to recovery.cc. attempt_prepare.cc has everything before the
// first step, attempt_agree.cc what the ranks must agree on there, attempt_resume.cc where they
// begin, attempt.cc the steps and the end, attempt_evaluate.cc the evaluation. Read next:
// step_graph.h (one step).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/tools/train/checkpoint.h"
#include "millrace/tools/train/model.h"
#include "millrace/tools/train/step_graph.h"
#include "millrace/tools/train/step_plan.h"
#include "millrace/tools/train/step_watch.h"
#include "millrace/tools/train/training.h"

namespace millrace::train {

// Why an attempt has ended where another follows it, in a new group.
struct Interruption {
  TimePoint at{};
  std::optional<Error> error;  // none: a rank waited to join
  std::uint64_t steps = 0;     // of the run, that had ended
};

// What one attempt leaves to the next; owned by train().
struct RunState {
  std::uint64_t recoveries = 0;
  bool spans = false;    // ranks of the group are elsewhere
  std::size_t full = 0;  // ranks when all processes are there
  int futile = 0;  // attempts one after the other that failed without a loss and got no further
  std::uint64_t futile_step = 0;             // the step after which they began
  std::optional<Interruption> interruption;  // that has not been reported yet
  bool begun = false;                        // with the others: rank 0 had nothing against it
  bool reported = false;                     // the listener knows of the start
  RunIdentity identity;                      // known before the folder is open
  std::shared_ptr<CheckpointFolder> folder;  // none: no checkpoints
  std::string resumed_from;                  // the checkpoint that the run itself resumed
  std::uint64_t begin_step = 0;              // of the run, which others may have begun
  std::uint64_t first_step = 0;              // of losses
  std::shared_ptr<const Committed> committed;
  std::map<std::string, devices::Executable> programs;  // compiled, by file
  std::optional<TimePoint> started;                     // the first step
  CpuUsage cpu_before;                                  // up to then
  std::vector<devices::DeviceStats> devices_before;
  std::vector<Duration> step_times;  // of every step that has ended
  // What attempts that have ended add to the report: their loaders, and how long the steps of each
  // device waited for data.
  transfer::LoaderStats loaded;
  std::vector<Duration> data_waits;
  // By step of the run, those after committed are computed again: losses, and rows of all ranks.
  std::vector<double> losses;
  std::vector<std::int64_t> rows;
};

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
        link_(options_.call.stop, [this] { watch_.stop(); }) {
    call_.stop = watch_.token();
    call_.deadline = options_.call.deadline;
    if (parts_.trace == nullptr) return;
    step_lane_ = parts_.trace->lane("steps");
    step_name_ = parts_.trace->name("step");
  }

  Task<TrainingReport> run();
  // failure: what run() ended with. Ranks elsewhere hear of it.
  Task<void> close(std::optional<Error> failure);
  // The error to return when run() ended with error: the first failure is the cause of the others.
  Error root_cause(const Error& error) const;
  // run() ended so that a rank joins the others. After close().
  bool found_newcomers() const { return checkpointer_ && checkpointer_->found_newcomers(); }
  // The error is that of other processes alone.
  bool blames_others(const Error& error) const {
    return collectives::failed_elsewhere(error, ranks_);
  }
  std::uint64_t steps_done() const { return run_.first_step + run_.losses.size(); }

 private:
  // Ranks of the group.
  std::size_t world() const { return static_cast<std::size_t>(ranks_.front().size()); }
  bool spans() const { return world() > ranks_.size(); }
  bool has_first_rank() const { return ranks_.front().rank() == collectives::Rank{0}; }
  // A step has so many of each rank, however many there are.
  std::int64_t rows() const { return options_.batch_size / static_cast<std::int64_t>(run_.full); }
  std::int64_t batch() const { return rows() * static_cast<std::int64_t>(world()); }
  bool is_here(collectives::Rank rank) const;
  bool elastic() const { return parts_.world != nullptr && parts_.world->elastic(); }
  Future<devices::Executable> compile(const ProgramSpec& spec) const;
  Task<void> make_group();
  Status check_progress(bool changed);
  Status check_batch() const;
  transfer::LoaderOptions loading() const;
  Result<transfer::DeviceLoader> make_loader() const;
  Task<void> prepare();
  Task<void> find_identity();
  Task<void> agree_on_facts();
  Task<void> find_start();
  Task<OpenedCheckpoints> open_folder();
  Task<void> agree_on_start(Result<OpenedCheckpoints> opened, collectives::Rank begun);
  Task<std::int64_t> agree(collectives::AgreeOp op, std::int64_t value);
  Task<collectives::Rank> first_rank_with(bool condition);
  Status resume_from_committed();
  void report_recovery();
  Status record_step();
  Task<void> initialise(const ProgramSpec& init);
  Task<void> keep_received(Future<devices::Buffers> received);
  void make_checkpointer();
  Task<void> steps();
  Result<double> read_losses(const GraphRun& step);
  void start_step(std::uint64_t step);
  Task<void> retire();
  Task<void> end_epoch(std::uint64_t epoch);
  Task<void> report_epoch(std::uint64_t epoch);
  Task<EpochShare> meet_all(std::string tag, EpochShare RankState::* share);
  Status note_checkpoint();
  Status advance_checkpoint();
  Task<void> begin_last_checkpoint();
  Task<void> end_checkpoint();
  Task<void> end_late_checkpoint();
  void fail_ranks(const Error& error) const;
  Task<void> evaluate(TrainingReport* report);
  void report_start(Duration compile_time);
  void report_step(double loss, std::uint64_t epoch);
  // The compiled program; after prepare() has compiled it.
  const devices::Executable& executable(const ProgramSpec* spec) const {
    return run_.programs.at(spec->path);
  }
  bool recovers() const { return elastic() || (options_.device_restarts.restarts > 0 && !spans()); }
  // Another process may resume from a checkpoint, to the same bits: no kernel is chosen by how fast
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
  const ProgramSpec* grad_ = nullptr;
  const ProgramSpec* update_ = nullptr;
  const ProgramSpec* eval_ = nullptr;  // none: no evaluation

  bool goes_on_ = false;                     // a process of the group has begun the run before
  collectives::Rank root_{};                 // begins with the arrays that the others get
  std::optional<CheckpointManifest> begin_;  // the commit that all begin after; none: they begin
  // The newest checkpoint in files is after so many, where that may be fewer than those of begin_.
  std::optional<std::uint64_t> file_step_;
  std::optional<StepPlan> plan_;
  std::optional<RecoveryReport> recovery_;  // to be reported when the first step has ended
  std::optional<TimePoint> interrupted_;    // when it began, by this process's clock
  std::optional<Checkpointer> checkpointer_;

  std::vector<Replica> replicas_;
  std::deque<Ref<GraphRun>> in_flight_;  // the first is that of step steps_done()
  std::vector<Future<std::optional<transfer::DeviceBatch>>> epoch_ends_;
  TimePoint last_done_{};
  std::vector<RankState> shares_;  // of all ranks, of the steps that have ended
};

}  // namespace millrace::train
