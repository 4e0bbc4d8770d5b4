#include "millrace/transfer/batch_actor.h"

#include <algorithm>
#include <utility>

namespace millrace::transfer {

using actors::ActorRef;
using devices::Device;

// Reports to the actor that a device has failed. The device knows it weakly.
struct BatchActor::Watch final : devices::FailureListener {
  Watch(ActorRef<BatchActor> to, std::size_t of) : actor(std::move(to)), device(of) {}
  void on_device_failed(const Error& reason) override {
    actor.send_notice(BatchDeviceFailed{device, reason});
  }
  const ActorRef<BatchActor> actor;
  const std::size_t device;
};

namespace {

BatchSchedule::QueueOptions schedule_options(const BatchQueue& queue, const BatchModel& model) {
  return {.sizes = model.sizes(),
          .most_rows = queue.options.most_rows,
          .most_delay = queue.options.most_delay,
          .weight = queue.options.weight};
}

}  // namespace

BatchActor::BatchActor(std::vector<Device> devices, const BatchSchedule::Options& options,
                       std::shared_ptr<BatchDevices> known)
    : devices_(std::move(devices)), known_(std::move(known)), schedule_(options) {}

Future<void> BatchActor::on_start() {
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    watches_.push_back(std::make_shared<Watch>(ActorRef<BatchActor>(this), d));
    devices_[d].body()->add_listener(watches_.back());
  }
  return {};
}

Error BatchActor::closed_error() const {
  return batcher_closed("the batcher '" + context().name() + "'");
}

void BatchActor::on(AddBatchQueue&& message) {
  const std::size_t number = message.queue->number;
  schedule_.add_queue(number, schedule_options(*message.queue, *message.queue->model()));
  if (number >= queues_.size()) queues_.resize(number + 1);
  queues_[number] = std::move(message.queue);
}

void BatchActor::on(SetBatchQueue&& message) {
  schedule_.set_queue(message.queue->number, schedule_options(*message.queue, *message.model));
  message.queue->replace(std::move(message.model), std::move(message.ended));
}

void BatchActor::on(EnterBatch&& message) {
  const Ref<BatchRequest> entering = std::move(message.request);
  BatchRequest& request = *entering;
  if (request.answer->complete()) return request.leave_limit();  // it has ended on its way here
  if (no_device_ || closing_ || stopping_) {
    request.leave_limit();
    request.end(std::unexpected(no_device_ ? *no_device_ : closed_error()), now());
    return;
  }
  schedule_.enter(entering, now());
  pump();
}

void BatchActor::on(LeaveBatch&& message) {
  if (!schedule_.withdraw(*message.request)) return;
  message.request->leave_limit();
  pump();
}

// Launches what may be launched now, and sees to it that what may be later is.
void BatchActor::pump() {
  for (;;) {
    BatchSchedule::Places late;
    std::optional<BatchSchedule::Batch> batch = schedule_.next(now(), &late);
    fail_all(late, Error(ErrorCode::kDeadlineExceeded,
                         "the request's deadline came before the launch of its batch"));
    if (!batch) break;
    launch(*std::move(batch));
  }
  for (const auto& queue : queues_) {
    if (queue) queue->expected_wait.store(schedule_.expected_wait(queue->number).count());
  }
  set_timer();
  end_if_idle();
}

void BatchActor::launch(BatchSchedule::Batch batch) {
  auto running = make_ref<RunningBatch>();
  running->queue = queues_[batch.queue];
  running->version = running->queue->version();
  running->device = devices_[batch.device];
  running->queue->count_batch(batch);
  for (const BatchSchedule::Place& place : batch.places) request_of(*place).leave_limit();
  running->batch = std::move(batch);
  const Environment& environment = context().environment();
  spawn(*environment.compute, run_batch(running, *environment.clock))
      .then(context().executor(), [this, running](const Status& ran) { on_ended(*running, ran); })
      .ignore();
}

void BatchActor::on_ended(RunningBatch& running, const Status& ran) {
  running.version = {};  // an old version ends with its last batch
  if (ran) {
    schedule_.finish(running.batch, now());
  } else if (!stopping_ && is_gone(running.device, ran.error())) {
    lose_device(running.batch.device, ran.error());
    run_elsewhere(running);
  } else {
    for (const BatchSchedule::Place& place : schedule_.finish(running.batch, now()))
      request_of(*place).end(std::unexpected(ran.error()), now());
  }
  pump();
}

void BatchActor::run_elsewhere(RunningBatch& running) {
  for (const BatchSchedule::Place& place : running.batch.places) {
    BatchRequest& request = request_of(*place);
    if (request.answer->complete()) {
      schedule_.withdraw(request);
    } else {
      request.queue->limit.readmit(request.bytes);
      request.admitted = true;
    }
  }
  schedule_.put_back(running.batch);
  running.batch.places.clear();
  if (no_device_) fail_all(schedule_.take_queued(), *no_device_);
}

void BatchActor::lose_device(std::size_t device, const Error& reason) {
  if (!schedule_.device_alive(device)) return;
  known_->fail(device, reason);
  if (schedule_.fail_device(device)) return;
  no_device_ = reason.with_context("no device of the batcher '" + context().name() +
                                   "' is left; the last one has failed");
  fail_all(schedule_.take_queued(), *no_device_);
}

void BatchActor::on(const BatchDeviceFailed& failed) {
  lose_device(failed.device, failed.reason);
  pump();
}

void BatchActor::fail_all(const BatchSchedule::Places& places, const Error& error) {
  for (const BatchSchedule::Place& place : places) {
    BatchRequest& request = request_of(*place);
    request.leave_limit();
    request.end(std::unexpected(error), now());
  }
}

void BatchActor::set_timer() {
  std::optional<TimePoint> next = schedule_.next_time();
  if (closing_ && schedule_.queued() > 0) next = std::min(next.value_or(kNoDeadline), *closing_);
  if (timer_ && next == timer_at_) return;
  TimerQueue& timers = *context().environment().timers;
  if (timer_) timers.cancel(*timer_);
  timer_.reset();
  if (!next || *next == kNoDeadline) return;
  timer_at_ = *next;
  timer_ = timers.schedule(*next,
                           [self = ActorRef<BatchActor>(this)] { self.send_notice(BatchTimer{}); });
}

void BatchActor::on(const BatchTimer& /*timer*/) {
  timer_.reset();
  if (closing_ && *closing_ <= now()) fail_all(schedule_.take_queued(), closed_error());
  pump();
}

void BatchActor::on(const CloseBatches& close) {
  if (!closing_) closing_ = close.deadline;
  schedule_.drain();
  if (*closing_ <= now()) fail_all(schedule_.take_queued(), closed_error());
  pump();
}

void BatchActor::end_if_idle() {
  if (schedule_.in_flight() > 0) return;
  if (stopping_) {
    if (ended_.valid()) ended_.set_value();
  } else if (closing_ && schedule_.queued() == 0) {
    context().stop();
  }
}

Future<void> BatchActor::on_stop(const actors::Exit& /*exit*/) {
  stopping_ = true;
  if (timer_) context().environment().timers->cancel(*timer_);
  timer_.reset();
  fail_all(schedule_.take_queued(), closed_error());
  return schedule_.in_flight() > 0 ? ended_.future() : Future<void>();
}

}  // namespace millrace::transfer
