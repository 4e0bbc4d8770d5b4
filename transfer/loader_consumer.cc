// LoaderCore: the consumer's side, the end, and what can be seen of it.
#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "millrace/transfer/loader_core.h"

namespace millrace::transfer {

Future<LoaderCore::Next> LoaderCore::next(int device, const CallOptions& options) {
  if (device < 0 || device >= static_cast<int>(devices_.size())) {
    return fail(ErrorCode::kInvalidArgument,
                "next(" + std::to_string(device) + ") was asked of a loader for " +
                    std::to_string(devices_.size()) + " devices (counted from 0)");
  }
  if (Status ok = check_in_time(options, *environment_.clock, "next()"); !ok) return ok.error();
  std::optional<Result<Next>> now;
  Ref<Call> call;
  Future<Next> turn;
  {
    MutexLock lock(mutex_);
    DeviceQueue& queue = of(device);
    ++queue.stats.asked;
    queue.ready_when_asked += schedule_.use(device).ready;
    if (queue.calls.empty() && schedule_.peek(device) != LoaderSchedule::Next::kPending) {
      ++queue.stats.found_ready;
      now.emplace(take(device));
    } else {
      call = make_ref<Call>(Ref<LoaderCore>::share(this), device, environment_.clock->now());
      turn = call->promise.future();
      queue.calls.push_back(call);
    }
  }
  if (now) {
    pump();
    return std::move(*now);
  }
  millrace::detail::limit_wait(options, environment_.timers, Ref<AsyncValue>(turn.cell()),
                               Ref<RefCounted>(call),
                               [](RefCounted& target, millrace::detail::WaitEnd end) {
                                 static_cast<Call&>(target).leave_line(end);
                               });
  return turn;
}

void LoaderCore::Call::leave_line(millrace::detail::WaitEnd end) {
  {
    MutexLock lock(core->mutex_);
    PooledDeque<Ref<Call>>& calls = core->of(device).calls;
    const auto place = std::ranges::find(calls, this, &Ref<Call>::get);
    if (place == calls.end()) return;
    calls.erase(place);
  }
  promise.set_error(
      millrace::detail::wait_error(end, "while waiting for the next batch of a loader"));
}

void LoaderCore::deliver(int device, AfterUnlock& after) {
  DeviceQueue& queue = of(device);
  while (!queue.calls.empty()) {
    const LoaderSchedule::Next next = schedule_.peek(device);
    if (next == LoaderSchedule::Next::kPending) return;
    Ref<Call> call = std::move(queue.calls.front());
    queue.calls.pop_front();
    queue.stats.consumer_waited += environment_.clock->now() - call->since;
    Result<Next> result = next == LoaderSchedule::Next::kStopped
                              ? fail(ErrorCode::kCancelled,
                                     "the loader was closed while a call waited for its next batch")
                              : take(device);
    after.deliveries.emplace_back(std::move(call), std::move(result));
  }
}

// For a device whose next is not pending.
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
      DeviceQueue& queue = of(device);
      const BatchRef batch = std::move(queue.batches.front());
      queue.batches.pop_front();
      ++queue.head;
      ++queue.stats.delivered;
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

void LoaderCore::drop(const BatchId& id, AfterUnlock& after) {
  after.dropped.push_back(std::move(batch_at(id)));
}

void LoaderCore::drop_unwanted(AfterUnlock& after) {
  for (const BatchId& id : schedule_.drop_unwanted()) drop(id, after);
}

void LoaderCore::finish_close(AfterUnlock& after) {
  if (!closing_ || schedule_.running() > 0) return;
  after.closed = std::move(closing_);
  closing_.reset();
  after.grace = std::exchange(grace_, std::nullopt);
}

void LoaderCore::carry_out(AfterUnlock after) {
  for (const BatchRef& batch : after.dropped) {  // blocks go back to the pool first
    batch->source = {};
    batch->arrays.clear();
    if (batch->turn) batch->turn->set_error(dropped_error());
  }
  if (after.grace) environment_.timers->cancel(*after.grace);
  for (auto& [call, result] : after.deliveries) call->promise.set(std::move(result));
  if (after.closed) after.closed->set_value();
}

Future<void> LoaderCore::close() {
  AfterUnlock after;
  Future<void> closed;
  {
    MutexLock lock(mutex_);
    if (closed_.valid()) return closed_;
    closing_.emplace();
    closed = closed_ = closing_->future();
    schedule_.stop();
    drop_unwanted(after);
    for (int device = 0; device < static_cast<int>(queues_.size()); ++device)
      deliver(device, after);
    finish_close(after);
  }
  stop_.request_stop();
  carry_out(std::move(after));
  pump();  // lets transfers that were decided on and not begun go
  if (closed.ready()) return closed;
  const TimerQueue::Id grace =
      environment_.timers->schedule(environment_.clock->now() + options_.close_grace,
                                    [self = Ref<LoaderCore>::share(this)] { self->give_up(); });
  bool late = false;
  {
    MutexLock lock(mutex_);
    late = !closing_;
    if (!late) grace_ = grace;
  }
  if (late) environment_.timers->cancel(grace);
  return closed;
}

void LoaderCore::give_up() {
  std::optional<Promise<void>> closed;
  StagesGivenUp given_up;
  {
    MutexLock lock(mutex_);
    if (!closing_) return;
    closed = std::move(closing_);
    closing_.reset();
    grace_.reset();
    given_up.stages = running_stages();
  }
  std::string names;
  for (const StageInFlight& stage : given_up.stages) {
    names += (names.empty() ? "" : "; ") + to_string(stage);
  }
  closed->set_error(
      Error(ErrorCode::kDeadlineExceeded,
            "closing a loader: these stages have not ended and were given up: " + names)
          .with_detail(std::move(given_up)));
}

StageInFlight LoaderCore::describe(const LoadingBatch& batch) const {
  return {.stage = batch.stage,
          .epoch = batch.id.sequence / plan_.steps_per_epoch(),
          .step = batch.id.sequence % plan_.steps_per_epoch(),
          .device = batch.id.device,
          .first_item = batch.first_item,
          .since = batch.begun};
}

std::vector<StageInFlight> LoaderCore::running_stages() const {
  std::vector<StageInFlight> stages;
  for (const DeviceQueue& queue : queues_) {
    for (const BatchRef& batch : queue.batches) {
      if (batch && batch->running) stages.push_back(describe(*batch));
    }
  }
  std::ranges::sort(stages, {}, [](const StageInFlight& stage) {
    return std::tuple(stage.since, stage.epoch, stage.step, stage.device);
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
  for (int device = 0; device < static_cast<int>(queues_.size()); ++device) {
    const DeviceQueue& queue = queues_[static_cast<std::size_t>(device)];
    DeviceQueueStats& shown = stats.devices.emplace_back(queue.stats);
    shown.use = schedule_.use(device);
    if (shown.asked > 0) {
      shown.mean_ready =
          static_cast<double>(queue.ready_when_asked) / static_cast<double>(shown.asked);
    }
  }
  return stats;
}

}  // namespace millrace::transfer
