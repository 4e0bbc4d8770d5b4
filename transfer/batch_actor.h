// BatchActor: the actor of a Batcher. Its state is a BatchSchedule; requests come as notices whose
// number the queues' limits bound, batches run as coroutines and come back as turns. Read next:
// batch_schedule.h (the decisions), batch_run.h (a batch).
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/actors/actor.h"
#include "millrace/actors/actor_ref.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/devices/device.h"
#include "millrace/devices/device_body.h"
#include "millrace/transfer/batch_devices.h"
#include "millrace/transfer/batch_request.h"
#include "millrace/transfer/batch_run.h"
#include "millrace/transfer/batch_schedule.h"

namespace millrace::transfer {

struct AddBatchQueue {
  std::shared_ptr<BatchQueue> queue;
};
struct SetBatchQueue {
  std::shared_ptr<BatchQueue> queue;
  std::shared_ptr<const BatchModel> model;
  Promise<void> ended;  // of the version before
};
// Ends the request where no actor takes it.
struct EnterBatch {
  explicit EnterBatch(Ref<BatchRequest> entering) : request(std::move(entering)) {}
  EnterBatch(EnterBatch&&) noexcept = default;
  EnterBatch& operator=(EnterBatch&&) = delete;
  ~EnterBatch() {
    if (request) request->end_closed();
  }
  Ref<BatchRequest> request;
};
struct LeaveBatch {
  Ref<BatchRequest> request;
};
struct BatchDeviceFailed {
  std::size_t device = 0;
  Error reason;
};
struct BatchTimer {};
struct CloseBatches {
  TimePoint deadline;
};

// Invariants:
//  - BA-1 every request that entered ends once: with its rows, or with one error.
//  - BA-2 the actor stops once no batch runs any more.
// Thread-safety: confined.
class BatchActor final : public actors::Actor {
 public:
  // known: hears of devices that fail; read by other threads.
  BatchActor(std::vector<devices::Device> devices, const BatchSchedule::Options& options,
             std::shared_ptr<BatchDevices> known);
  Future<void> on_start() override;
  Future<void> on_stop(const actors::Exit& exit) override;

  void on(AddBatchQueue&& message);
  void on(SetBatchQueue&& message);
  void on(EnterBatch&& message);
  void on(LeaveBatch&& message);
  void on(const BatchDeviceFailed& failed);
  void on(const BatchTimer& timer);
  void on(const CloseBatches& close);

 private:
  struct Watch;

  static BatchRequest& request_of(BatchPlace& place) { return static_cast<BatchRequest&>(place); }
  TimePoint now() const { return context().environment().clock->now(); }
  void pump();
  void launch(BatchSchedule::Batch batch);
  void on_ended(RunningBatch& running, const Status& ran);
  void set_timer();
  void run_elsewhere(RunningBatch& running);
  void fail_all(const BatchSchedule::Places& places, const Error& error);
  void lose_device(std::size_t device, const Error& reason);
  void end_if_idle();
  Error closed_error() const;

  const std::vector<devices::Device> devices_;
  const std::shared_ptr<BatchDevices> known_;
  BatchSchedule schedule_;
  std::vector<std::shared_ptr<BatchQueue>> queues_;  // by their numbers
  std::vector<std::shared_ptr<Watch>> watches_;      // by device
  std::optional<Error> no_device_;                   // why, once none is left
  std::optional<TimerQueue::Id> timer_;
  TimePoint timer_at_{};
  std::optional<TimePoint> closing_;  // the deadline of close()
  Promise<void> ended_;               // on_stop waits for the batches that run
  bool stopping_ = false;
};

}  // namespace millrace::transfer
