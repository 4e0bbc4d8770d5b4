// Loader: the work behind a DeviceLoader. Each batch is a coroutine, load(), that owns it and asks
// the LoaderSchedule for its turn before each stage:
//
//   reserve -> read -> decode -> transfer -> deliver
//
// A delivered batch is the schedule's until a call of next() takes it. One mutex guards the
// schedule, whose states are those of the batches (LoadPlace). Stages run, and calls of next() and
// the turns of batches complete, outside the mutex. Internal to the loader.
#pragma once

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/core/async/coroutine.h"
#include "millrace/core/async/environment.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/base/mutex.h"
#include "millrace/transfer/batch_work.h"
#include "millrace/transfer/device_batch.h"
#include "millrace/transfer/loader_schedule.h"

namespace millrace::transfer {

// States: open -> closing (stopped, coroutines left) -> closed. Lives as long as a handle, a
// coroutine or a timer of it. Thread-safety: thread-safe.
class Loader final : public RefCounted {
 public:
  using Next = std::optional<DeviceBatch>;

  Loader(const Environment& environment, BatchWork::Parts parts,
         const LoaderSchedule::Options& schedule);

  const BatchPlan& plan() const { return work_.plan(); }
  // Begins every stage that may begin, after a change of the schedule.
  void pump() MILLRACE_EXCLUDES(mutex_);
  Future<Next> next(int device, const CallOptions& options) MILLRACE_EXCLUDES(mutex_);
  Future<void> close() MILLRACE_EXCLUDES(mutex_);
  LoaderStats stats() const MILLRACE_EXCLUDES(mutex_);
  std::vector<StageInFlight> in_flight() const MILLRACE_EXCLUDES(mutex_);

 private:
  struct Batch final : LoadPlace, Pooled {
    Batch(const BatchId& batch, DeviceBatch planned, TimePoint now)
        : LoadPlace(batch), result(std::move(planned)), ended(now) {}
    // The stage that runs owns these; then the thread that takes or drops the batch. That one
    // empties them: the device keeps the batch until it releases the block, arrays the block.
    DeviceBatch result;
    Ref<SourceBatch> source;
    // Guarded by the Loader's mutex.
    TimePoint ended;                    // the stage before this one
    TimePoint begun{};                  // this stage
    std::optional<Promise<void>> turn;  // what load() waits for between two stages
  };
  using BatchRef = Ref<Batch>;

  // A call of next() that waits. The thread that takes it out of its line completes it.
  struct Call final : RefCounted, Pooled {
    Call(Ref<Loader> l, int d, TimePoint now) : loader(std::move(l)), device(d), since(now) {}
    void leave_line(millrace::detail::WaitEnd end);

    const Ref<Loader> loader;
    const int device;
    const TimePoint since;
    Promise<Next> promise;
  };
  struct Consumer {
    PooledDeque<Ref<Call>> line;
    std::uint64_t ready_when_asked = 0;
    DeviceQueueStats stats;
  };
  // What a change of the schedule leaves to do without the lock.
  struct Effects {
    LoaderSchedule::Places dropped;
    PooledVector<std::pair<Ref<Call>, Result<Next>>> served;
  };

  ~Loader() override = default;

  // The way of a batch: what it waits for, stage by stage.
  void launch(BatchRef batch, Scope::Hold hold);
  Future<void> reserve(const BatchRef& batch);
  Task<void> load(BatchRef batch, Future<void> reserved);
  auto ask(const BatchRef& batch, Future<void> (BatchWork::*work)(const Ref<SourceBatch>&) const);
  Task<void> transfer(BatchRef batch);
  // Its stage has ended; completes when the next one may run: kCancelled if the batch was dropped.
  Future<void> turn(Batch& batch, const Status& ended) MILLRACE_EXCLUDES(mutex_);
  // Its last stage has ended: the batch is its consumer's. Or any stage has failed.
  void deliver(Batch& batch, const Status& ended) MILLRACE_EXCLUDES(mutex_);
  // The rest of its way was dropped, in a stage or between two.
  void abandon(Batch& batch, const Error& why) MILLRACE_EXCLUDES(mutex_);

  static Batch& batch_of(LoadPlace& place) { return static_cast<Batch&>(place); }
  static StageInFlight describe(const Batch& batch);
  bool end_stage(Batch& batch, const Status& ended, Effects& effects) MILLRACE_REQUIRES(mutex_);
  void account(Batch& batch) MILLRACE_REQUIRES(mutex_);
  void fail_batch(Batch& batch, const Error& why, Effects& effects) MILLRACE_REQUIRES(mutex_);
  void set_failure(const Batch& batch, const Error& error) MILLRACE_REQUIRES(mutex_);
  void serve(int device, Effects& effects) MILLRACE_REQUIRES(mutex_);
  void serve_all(Effects& effects) MILLRACE_REQUIRES(mutex_);
  Result<Next> take(int device) MILLRACE_REQUIRES(mutex_);
  static Error dropped_error() {
    return Error(ErrorCode::kCancelled, "no consumer wants the batch any more");
  }
  void settle(Effects effects) MILLRACE_EXCLUDES(mutex_);
  Status give_up() const MILLRACE_EXCLUDES(mutex_);

  const Environment environment_;
  BatchWork work_;
  std::array<TraceLane, kLoadStages> trace_lanes_{};
  TraceName trace_name_{};
  Scope scope_{"the loader"};  // held by each coroutine
  Promise<void> closing_;
  const Future<void> closed_ = closing_.future();

  mutable Mutex mutex_;
  LoaderSchedule schedule_ MILLRACE_GUARDED_BY(mutex_);
  bool pumping_ MILLRACE_GUARDED_BY(mutex_) = false;
  std::vector<Consumer> consumers_ MILLRACE_GUARDED_BY(mutex_);  // by device
  std::array<StageStats, kLoadStages> stages_ MILLRACE_GUARDED_BY(mutex_);
  std::optional<Error> failure_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::transfer
