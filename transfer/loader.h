// LoaderCore: the work behind a DeviceLoader: one coroutine per batch, load(), whose stages the
// LoaderSchedule starts. One mutex guards the state; stages, continuations and consumers run
// outside it. Internal to the loader.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "millrace/core/async/combinators.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/core/async/environment.h"
#include "millrace/core/base/mutex.h"
#include "millrace/devices/device.h"
#include "millrace/transfer/batch_plan.h"
#include "millrace/transfer/device_batch.h"
#include "millrace/transfer/item_source.h"
#include "millrace/transfer/loader_options.h"
#include "millrace/transfer/loader_schedule.h"

namespace millrace::transfer {

// The staging memory of a batch in the budget. It is apart from the batch, because the batch holds
// buffers whose end may release the memory. Guarded by LoaderCore's mutex.
struct StagingCharge final : RefCounted, Pooled {
  explicit StagingCharge(int d) : device(d) {}
  const int device;
  bool charged = true;
};

// A batch and what the loader knows about it.
struct LoadingBatch final : RefCounted, Pooled {
  BatchId id;
  Shard shard;
  std::uint64_t first_item = 0;
  Ref<StagingCharge> charge;
  // Belongs to the stage that runs, then to the thread that takes the batch out of its queue.
  Ref<SourceBatch> source = make_ref<SourceBatch>();
  PooledVector<devices::Buffer> arrays;
  // Guarded by LoaderCore's mutex.
  LoadStage stage = LoadStage::kStaging;
  bool running = false;
  TimePoint ended{};                  // the stage before this one
  TimePoint begun{};                  // this stage
  std::optional<Promise<void>> turn;  // what load() waits for between two stages
};

// States: open -> closing (stopped, stages still run) -> closed. Lives as long as a handle, a
// running stage or a timer of it. Thread-safety: thread-safe.
class LoaderCore final : public RefCounted {
 public:
  using Next = std::optional<DeviceBatch>;

  // field_offsets and the sizes of a batch follow from plan and source.
  LoaderCore(const Environment& environment, std::shared_ptr<ItemSource> source,
             std::vector<devices::Device> devices, LoaderOptions options, const BatchPlan& plan,
             const LoaderSchedule::Options& schedule, std::vector<std::size_t> field_offsets,
             std::size_t staging_bytes);

  const BatchPlan& plan() const { return plan_; }
  // Begins every stage that may begin, after a change of the schedule. Without the lock.
  void pump() MILLRACE_EXCLUDES(mutex_);
  Future<Next> next(int device, const CallOptions& options) MILLRACE_EXCLUDES(mutex_);
  Future<void> close() MILLRACE_EXCLUDES(mutex_);
  LoaderStats stats() const MILLRACE_EXCLUDES(mutex_);
  std::vector<StageInFlight> in_flight() const MILLRACE_EXCLUDES(mutex_);

 private:
  using Start = LoaderSchedule::Start;
  using BatchRef = Ref<LoadingBatch>;

  // A call of next() that waits. The thread that takes it out of its queue completes it.
  struct Call final : RefCounted, Pooled {
    Call(Ref<LoaderCore> c, int d, TimePoint now) : core(std::move(c)), device(d), since(now) {}
    void leave_line(millrace::detail::WaitEnd end);

    const Ref<LoaderCore> core;
    const int device;
    const TimePoint since;
    Promise<Next> promise;
  };
  struct DeviceQueue {
    PooledDeque<BatchRef> batches;  // in step with the slots of the schedule; empty where dropped
    std::uint64_t head = 0;         // sequence of batches.front()
    PooledDeque<Ref<Call>> calls;
    std::uint64_t ready_when_asked = 0;
    DeviceQueueStats stats;
  };
  // The work to do once the lock is released.
  struct AfterUnlock {
    PooledVector<std::pair<Ref<Call>, Result<Next>>> deliveries;
    PooledVector<BatchRef> dropped;
    std::optional<Promise<void>> closed;
    std::optional<TimerQueue::Id> grace;
  };

  ~LoaderCore() override = default;

  BatchRef new_batch(const BatchId& id) MILLRACE_REQUIRES(mutex_);
  DeviceQueue& of(int device) MILLRACE_REQUIRES(mutex_) {
    return queues_[static_cast<std::size_t>(device)];
  }
  BatchRef& batch_at(const BatchId& id) MILLRACE_REQUIRES(mutex_);
  void begin(LoadingBatch& batch, LoadStage stage) MILLRACE_REQUIRES(mutex_);
  void launch(const BatchRef& batch);
  Task<void> load(BatchRef batch, Future<void> turn);
  Status place(LoadingBatch& batch, Result<StagingBlock> block) const;
  Future<void> ask_source(LoadingBatch& batch, LoadStage stage) MILLRACE_EXCLUDES(mutex_);
  PooledVector<Future<devices::PutResult>> put(LoadingBatch& batch) const;
  Future<void> arrival(LoadingBatch& batch, const Status& put,
                       std::span<const Future<devices::PutResult>> puts);
  // The end of the stage that runs, and the beginning of those that may run now. Completes when it
  // is the turn of the batch's next stage: kCancelled if the batch was dropped; empty after the
  // last. Nothing for a batch of which no stage runs.
  Future<void> ended(LoadingBatch& batch, const Status& status) MILLRACE_EXCLUDES(mutex_);
  void uncharge(StagingCharge& charge) MILLRACE_REQUIRES(mutex_);
  void account(LoadingBatch& batch) MILLRACE_REQUIRES(mutex_);
  void set_failure(const LoadingBatch& batch, const Error& error) MILLRACE_REQUIRES(mutex_);
  void drop(const BatchId& id, AfterUnlock& after) MILLRACE_REQUIRES(mutex_);
  void drop_unwanted(AfterUnlock& after) MILLRACE_REQUIRES(mutex_);
  void deliver(int device, AfterUnlock& after) MILLRACE_REQUIRES(mutex_);
  Result<Next> take(int device) MILLRACE_REQUIRES(mutex_);
  void finish_close(AfterUnlock& after) MILLRACE_REQUIRES(mutex_);
  static Error dropped_error() {
    return Error(ErrorCode::kCancelled, "no consumer wants the batch any more");
  }
  void carry_out(AfterUnlock after) MILLRACE_EXCLUDES(mutex_);
  void give_up() MILLRACE_EXCLUDES(mutex_);
  StageInFlight describe(const LoadingBatch& batch) const MILLRACE_REQUIRES(mutex_);
  std::vector<StageInFlight> running_stages() const MILLRACE_REQUIRES(mutex_);

  const Environment environment_;
  const std::shared_ptr<ItemSource> source_;
  const std::vector<devices::Device> devices_;
  const LoaderOptions options_;
  const BatchPlan plan_;
  const std::vector<std::size_t> field_offsets_;
  const std::size_t staging_bytes_;
  std::array<TraceLane, kLoadStages> trace_lanes_{};
  TraceName trace_name_{};
  std::stop_source stop_;

  mutable Mutex mutex_;
  LoaderSchedule schedule_ MILLRACE_GUARDED_BY(mutex_);
  std::vector<DeviceQueue> queues_ MILLRACE_GUARDED_BY(mutex_);
  std::array<StageStats, kLoadStages> stages_ MILLRACE_GUARDED_BY(mutex_);
  std::optional<Error> failure_ MILLRACE_GUARDED_BY(mutex_);
  std::optional<TimerQueue::Id> grace_ MILLRACE_GUARDED_BY(mutex_);
  std::optional<Promise<void>> closing_ MILLRACE_GUARDED_BY(mutex_);
  Future<void> closed_ MILLRACE_GUARDED_BY(mutex_);  // empty while open
};

}  // namespace millrace::transfer
