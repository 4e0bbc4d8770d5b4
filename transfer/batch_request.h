// BatchRequest and BatchQueue: what the callers of a Batcher, its actor and its batches share.
// Internal to batcher.h.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/core/base/mutex.h"
#include "millrace/transfer/batch_model.h"
#include "millrace/transfer/batch_options.h"
#include "millrace/transfer/batch_schedule.h"
#include "millrace/transfer/queue_limit.h"

namespace millrace::transfer {

// One version of a model; goes with the last batch that runs on it, once it was replaced.
struct BatchVersion {
  explicit BatchVersion(std::shared_ptr<const BatchModel> of) : model(std::move(of)) {}
  BatchVersion(const BatchVersion&) = delete;
  BatchVersion& operator=(const BatchVersion&) = delete;
  ~BatchVersion() {
    model.reset();  // its buffers go before those who wait hear of it
    if (ended) ended->set_value();
  }
  std::shared_ptr<const BatchModel> model;
  std::optional<Promise<void>> ended = {};  // once it was replaced; the actor's
};

// One model of a batcher. Thread-safety: thread-safe.
class BatchQueue {
 public:
  BatchQueue(std::shared_ptr<const BatchModel> model, const BatchQueueOptions& options,
             std::size_t number, Metrics* metrics);

  const std::string name;
  const BatchQueueOptions options;
  const std::size_t number;  // in the schedule
  QueueLimit limit;
  std::atomic<Duration::rep> expected_wait{0};  // as the actor has it, for QueueFull

  std::shared_ptr<const BatchModel> model() const { return version()->model; }
  std::shared_ptr<BatchVersion> version() const {
    MutexLock lock(mutex_);
    return version_;
  }
  // ended completes when nothing runs on the version before any more.
  void replace(std::shared_ptr<const BatchModel> model, Promise<void> ended) {
    auto version = std::make_shared<BatchVersion>(std::move(model));
    {
      MutexLock lock(mutex_);
      version_.swap(version);
    }
    version->ended = std::move(ended);
  }
  // A request has ended so; nullptr: with its rows.
  void count(const Error* error, Duration took);
  void count_refused();
  void count_batch(const BatchSchedule::Batch& batch);
  void count_batch_time(Duration took) { record(batch_time_, took); }
  BatchQueueStats stats() const;

 private:
  // Counted here; and, where there are metrics, shown there.
  struct Shown {
    Counter here = {};
    Counter* there = nullptr;
    void add(std::uint64_t n = 1) {
      here.add(n);
      if (there != nullptr) there->add(n);
    }
  };
  struct ShownTimes {
    Histogram here = {};
    Histogram* there = nullptr;
  };
  static void record(ShownTimes& times, Duration time);

  mutable Mutex mutex_;
  std::shared_ptr<BatchVersion> version_ MILLRACE_GUARDED_BY(mutex_);
  Shown succeeded_;
  Shown failed_;
  Shown cancelled_;
  Shown refused_;
  Shown rows_;
  Shown padding_;
  ShownTimes batch_rows_;
  ShownTimes queue_time_;
  ShownTimes batch_time_;
  ShownTimes request_time_;
};

// kUnavailable, "... is closed": counts as cancelled, as no other error of that code does.
Error batcher_closed(const std::string& which);

// A request from run() to its end. `answer` completes once: with rows by its batch, with an error
// by any that ends it. Thread-safety: answer is thread-safe, inputs are the batch's.
struct BatchRequest final : BatchPlace, Pooled {
  BatchRequest(const Facts& request, std::shared_ptr<BatchQueue> of, ListOf<RowInput> rows,
               std::size_t size, std::int64_t row_length, TimePoint now)
      : BatchPlace(request),
        queue(std::move(of)),
        bytes(size),
        length(row_length),
        since(now),
        inputs(std::move(rows)) {}
  using Pooled::operator new;
  using Pooled::operator delete;

  ~BatchRequest() override { leave_limit(); }

  // It waits no more; nothing the second time. The actor's, or that of the last reference.
  void leave_limit() {
    if (std::exchange(admitted, false)) queue->limit.release(bytes);
  }
  // False: it has ended before.
  bool end(Result<RowOutputs> result, TimePoint now) {
    const std::optional<Error> error = result ? std::nullopt : std::optional<Error>(result.error());
    if (!answer->try_set(std::move(result))) return false;
    queue->count(error ? &*error : nullptr, now - since);
    return true;
  }

  // The batcher has gone before the request's end.
  void end_closed() {
    if (answer->complete()) return;
    end(std::unexpected(batcher_closed("the batcher of model '" + queue->name + "'")), since);
  }

  const Ref<Cell<RowOutputs>> answer = make_ref<Cell<RowOutputs>>();
  const std::shared_ptr<BatchQueue> queue;
  const std::size_t bytes;
  const std::int64_t length;  // of its rows; 0: they do not vary
  const TimePoint since;
  ListOf<RowInput> inputs;
  bool admitted = true;  // counts in queue->limit
};

}  // namespace millrace::transfer
