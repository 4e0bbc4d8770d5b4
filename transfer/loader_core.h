// LoaderCore: the work behind a DeviceLoader. It carries out what its LoaderSchedule decides; the
// state is behind one mutex, and stages, continuations and consumers run outside it. Internal to
// the loader.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "millrace/core/environment.h"
#include "millrace/core/mutex.h"
#include "millrace/devices/device.h"
#include "millrace/transfer/batch_plan.h"
#include "millrace/transfer/device_batch.h"
#include "millrace/transfer/item_source.h"
#include "millrace/transfer/loader_options.h"
#include "millrace/transfer/loader_schedule.h"
#include "millrace/transfer/loader_stats.h"
#include "millrace/transfer/pending_call.h"

namespace millrace::transfer {

// The staging memory of a batch in the budget; apart from the batch, which holds the buffers whose
// end may be what the release of the memory waits for. Guarded by LoaderCore's mutex.
struct StagingCharge final : RefCounted, Pooled {
  using Pooled::operator new;
  using Pooled::operator delete;

  explicit StagingCharge(int d) : device(d) {}
  const int device;
  bool charged = true;
};

// A batch and what the loader knows about it. The fields below `source` belong to the stage that
// runs.
struct LoadingBatch final : RefCounted, Pooled {
  using Pooled::operator new;
  using Pooled::operator delete;

  BatchId id;
  Ref<SourceBatch> source = make_ref<SourceBatch>();
  Shard shard;
  std::uint64_t first_item = 0;
  PooledVector<devices::Buffer> arrays;
  TimePoint ended{};     // the stage before this one
  TimePoint begun{};     // this stage; both guarded by LoaderCore's mutex
  bool running = false;  // likewise
  Ref<StagingCharge> charge;
  LoadStage stage = LoadStage::kStaging;
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
  // Begins every stage that may begin. Called whenever the schedule may have changed, without the
  // lock.
  void pump() MILLRACE_EXCLUDES(mutex_);
  Future<Next> next(int device, const CallOptions& options) MILLRACE_EXCLUDES(mutex_);
  Future<void> close() MILLRACE_EXCLUDES(mutex_);
  LoaderStats stats() const MILLRACE_EXCLUDES(mutex_);
  std::vector<StageInFlight> in_flight() const MILLRACE_EXCLUDES(mutex_);

 private:
  using Start = LoaderSchedule::Start;
  using BatchRef = Ref<LoadingBatch>;
  using Call = PendingCall<Next>;

  struct Waiter {
    Ref<Call> call;
    TimePoint since;
  };
  struct Lane {
    PooledDeque<BatchRef> batches;  // in step with the slots of the schedule; empty where dropped
    std::uint64_t head = 0;         // sequence of batches.front()
    PooledDeque<Waiter> waiters;
    std::uint64_t ready_when_asked = 0;
    DeviceQueueStats stats;
  };
  // What is to be done once the lock is open.
  struct Outcome {
    PooledVector<std::pair<Ref<Call>, Result<Next>>> deliveries;
    PooledVector<BatchRef> dropped;
    std::optional<Promise<void>> closed;
    std::optional<TimerQueue::Id> grace;
  };

  ~LoaderCore() override = default;

  BatchRef batch_to_start(const Start& start) MILLRACE_REQUIRES(mutex_);
  void begin(const Start& start, const BatchRef& batch);
  void begin_staging(const Start& start, const BatchRef& batch);
  void begin_source(const Start& start, const BatchRef& batch);
  void begin_transfer(const Start& start, const BatchRef& batch);
  Future<void> watch_transfer(const BatchRef& batch, const Status& put,
                              std::span<const Future<devices::PutResult>> puts);
  void mark_begun(LoadingBatch& batch) MILLRACE_EXCLUDES(mutex_);
  Status place(LoadingBatch& batch, Result<StagingBlock> block) const;
  // The end of a stage; ended() also begins what may begin now.
  void settle(const Start& start, const BatchRef& batch, const Status& status)
      MILLRACE_EXCLUDES(mutex_);
  void ended(const Start& start, const BatchRef& batch, const Status& status)
      MILLRACE_EXCLUDES(mutex_);
  void staging_released(StagingCharge& charge) MILLRACE_EXCLUDES(mutex_);
  void uncharge(StagingCharge& charge) MILLRACE_REQUIRES(mutex_);
  void account(const Start& start, LoadingBatch& batch) MILLRACE_REQUIRES(mutex_);
  void set_failure(const Start& start, const LoadingBatch& batch, const Error& error)
      MILLRACE_REQUIRES(mutex_);
  void drop(LoadingBatch& batch, Outcome& outcome) MILLRACE_REQUIRES(mutex_);
  void drop_unwanted(Outcome& outcome) MILLRACE_REQUIRES(mutex_);
  void deliver(int device, Outcome& outcome) MILLRACE_REQUIRES(mutex_);
  Result<Next> take(int device) MILLRACE_REQUIRES(mutex_);
  void finish_close(Outcome& outcome) MILLRACE_REQUIRES(mutex_);
  void carry_out(Outcome outcome) MILLRACE_EXCLUDES(mutex_);
  void abandon() MILLRACE_EXCLUDES(mutex_);
  StageInFlight describe(LoadStage stage, const LoadingBatch& batch) const
      MILLRACE_REQUIRES(mutex_);
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
  std::vector<Lane> lanes_ MILLRACE_GUARDED_BY(mutex_);
  std::array<StageStats, kLoadStages> stages_ MILLRACE_GUARDED_BY(mutex_);
  std::optional<Error> failure_ MILLRACE_GUARDED_BY(mutex_);
  std::optional<TimerQueue::Id> grace_ MILLRACE_GUARDED_BY(mutex_);
  std::optional<Promise<void>> closing_ MILLRACE_GUARDED_BY(mutex_);
  Future<void> closed_ MILLRACE_GUARDED_BY(mutex_);  // empty while open
};

}  // namespace millrace::transfer
