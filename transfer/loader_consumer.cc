// LoaderCore: the consumer's side, the end, and what can be seen of it.
#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "millrace/transfer/loader_core.h"

namespace millrace::transfer {

Future<LoaderCore::Next> LoaderCore::next(int device, const CallOptions& options) {
  MILLRACE_CHECK(device >= 0 && device < static_cast<int>(devices_.size()),
                 "a device of this loader");
  std::optional<Result<Next>> now;
  {
    MutexLock lock(mutex_);
    Lane& lane = lanes_[static_cast<std::size_t>(device)];
    ++lane.stats.asked;
    lane.ready_when_asked += schedule_.use(device).ready;
    while (!lane.waiters.empty() && lane.waiters.front().call->claimed()) lane.waiters.pop_front();
    if (lane.waiters.empty() && schedule_.peek(device) != LoaderSchedule::Next::kPending) {
      ++lane.stats.found_ready;
      now.emplace(take(device));
    }
  }
  if (now) {
    pump();
    return std::move(*now);
  }
  const Ref<Call> call = Call::make(options, *environment_.timers, "the next batch of a loader");
  Future<Next> future = call->future();
  Outcome outcome;
  {
    MutexLock lock(mutex_);
    Lane& lane = lanes_[static_cast<std::size_t>(device)];
    lane.waiters.push_back({call, environment_.clock->now()});
    deliver(device, outcome);  // it may have become ready meanwhile
  }
  carry_out(std::move(outcome));
  pump();
  return future;
}

void LoaderCore::deliver(int device, Outcome& outcome) {
  Lane& lane = lanes_[static_cast<std::size_t>(device)];
  while (!lane.waiters.empty()) {
    const LoaderSchedule::Next next = schedule_.peek(device);
    if (next == LoaderSchedule::Next::kPending) return;
    Waiter waiter = std::move(lane.waiters.front());
    lane.waiters.pop_front();
    if (!waiter.call->claim()) continue;  // its caller has left, and takes nothing
    lane.stats.consumer_waited += environment_.clock->now() - waiter.since;
    if (next == LoaderSchedule::Next::kStopped) {
      outcome.deliveries.emplace_back(
          std::move(waiter.call),
          fail(ErrorCode::kCancelled,
               "the loader was closed while a call waited for its next batch"));
    } else {
      outcome.deliveries.emplace_back(std::move(waiter.call), take(device));
    }
  }
}

// Of a device whose next is not pending.
Result<LoaderCore::Next> LoaderCore::take(int device) {
  BatchId id;
  switch (schedule_.take(device, &id)) {
    case LoaderSchedule::Next::kEndOfEpoch:
      return Next();
    case LoaderSchedule::Next::kFailed:
      return std::unexpected(*failure_);
    case LoaderSchedule::Next::kStopped:
      return fail(ErrorCode::kUnavailable, "the loader is closed and gives no more batches");
    case LoaderSchedule::Next::kPending:
      break;
    case LoaderSchedule::Next::kBatch: {
      Lane& lane = lanes_[static_cast<std::size_t>(device)];
      const BatchRef batch = std::move(lane.batches.front());
      lane.batches.pop_front();
      ++lane.head;
      ++lane.stats.delivered;
      // A block that the device uses in place is the consumer's memory from now on.
      if (options_.zero_copy) uncharge(*batch->charge);
      return Next(DeviceBatch{.arrays = devices::Buffers(batch->arrays),
                              .rows = batch->shard.rows,
                              .valid = batch->shard.valid,
                              .epoch = batch->source->epoch,
                              .step = batch->source->step,
                              .sequence = id.sequence,
                              .first_item = batch->first_item,
                              .device = device});
    }
  }
  MILLRACE_CHECK(false, "take() of a device whose next batch is pending");
  return Next();
}

void LoaderCore::drop(LoadingBatch& batch, Outcome& outcome) {
  Lane& lane = lanes_[static_cast<std::size_t>(batch.id.device)];
  outcome.dropped.push_back(std::move(lane.batches[batch.id.sequence - lane.head]));
}

void LoaderCore::drop_unwanted(Outcome& outcome) {
  for (const BatchId& id : schedule_.drop_unwanted()) {
    Lane& lane = lanes_[static_cast<std::size_t>(id.device)];
    outcome.dropped.push_back(std::move(lane.batches[id.sequence - lane.head]));
  }
}

void LoaderCore::finish_close(Outcome& outcome) {
  if (!closing_ || schedule_.running() > 0) return;
  outcome.closed = std::move(closing_);
  closing_.reset();
  outcome.grace = std::exchange(grace_, std::nullopt);
}

void LoaderCore::carry_out(Outcome outcome) {
  outcome.dropped.clear();  // blocks go back to the pool before anybody is told
  if (outcome.grace) environment_.timers->cancel(*outcome.grace);
  for (auto& [call, result] : outcome.deliveries) call->complete(std::move(result));
  if (outcome.closed) outcome.closed->set_value();
}

Future<void> LoaderCore::close() {
  Outcome outcome;
  Future<void> closed;
  {
    MutexLock lock(mutex_);
    if (closed_.valid()) return closed_;
    closing_.emplace();
    closed = closed_ = closing_->future();
    schedule_.stop();
    drop_unwanted(outcome);
    for (int device = 0; device < static_cast<int>(lanes_.size()); ++device)
      deliver(device, outcome);
    finish_close(outcome);
  }
  stop_.request_stop();
  carry_out(std::move(outcome));
  pump();  // lets transfers that were decided on and not begun go
  if (closed.ready()) return closed;
  const TimerQueue::Id grace =
      environment_.timers->schedule(environment_.clock->now() + options_.close_grace,
                                    [self = Ref<LoaderCore>::share(this)] { self->abandon(); });
  bool late = false;
  {
    MutexLock lock(mutex_);
    late = !closing_;
    if (!late) grace_ = grace;
  }
  if (late) environment_.timers->cancel(grace);
  return closed;
}

void LoaderCore::abandon() {
  std::optional<Promise<void>> closed;
  AbandonedStages abandoned;
  {
    MutexLock lock(mutex_);
    if (!closing_) return;
    closed = std::move(closing_);
    closing_.reset();
    grace_.reset();
    abandoned.stages = running_stages();
  }
  std::string names;
  for (const StageInFlight& stage : abandoned.stages) {
    names += (names.empty() ? "" : "; ") + to_string(stage);
  }
  closed->set_error(
      Error(ErrorCode::kDeadlineExceeded,
            "closing a loader: these stages have not ended and were abandoned: " + names)
          .with_detail(std::move(abandoned)));
}

StageInFlight LoaderCore::describe(LoadStage stage, const LoadingBatch& batch) const {
  return {.stage = stage,
          .epoch = batch.id.sequence / plan_.steps_per_epoch(),
          .step = batch.id.sequence % plan_.steps_per_epoch(),
          .device = batch.id.device,
          .first_item = batch.first_item,
          .since = batch.begun};
}

std::vector<StageInFlight> LoaderCore::running_stages() const {
  std::vector<StageInFlight> stages;
  for (const Lane& lane : lanes_) {
    for (const BatchRef& batch : lane.batches) {
      if (batch && batch->running) stages.push_back(describe(batch->stage, *batch));
    }
  }
  std::sort(stages.begin(), stages.end(), [](const StageInFlight& a, const StageInFlight& b) {
    return std::tie(a.since, a.epoch, a.step, a.device) <
           std::tie(b.since, b.epoch, b.step, b.device);
  });
  return stages;
}

std::vector<StageInFlight> LoaderCore::in_flight() const {
  MutexLock lock(mutex_);
  return running_stages();
}

LoaderStats LoaderCore::stats() const {
  MutexLock lock(mutex_);
  LoaderStats stats;
  stats.stages = stages_;
  stats.peak_host_bytes = schedule_.peak_host_bytes();
  stats.peak_device_bytes = schedule_.peak_device_bytes();
  for (int device = 0; device < static_cast<int>(lanes_.size()); ++device) {
    const Lane& lane = lanes_[static_cast<std::size_t>(device)];
    DeviceQueueStats queue = lane.stats;
    queue.use = schedule_.use(device);
    if (queue.asked > 0) {
      queue.mean_ready =
          static_cast<double>(lane.ready_when_asked) / static_cast<double>(queue.asked);
    }
    stats.devices.push_back(queue);
  }
  return stats;
}

}  // namespace millrace::transfer
