// The way of one batch: its rows are assembled in the device's put memory, put, run and fetched;
// each request gets its rows as views of the outputs. Internal to batch_actor.h.
#pragma once

#include <memory>

#include "millrace/core/async/coroutine.h"
#include "millrace/core/async/environment.h"
#include "millrace/devices/device.h"
#include "millrace/transfer/batch_model.h"
#include "millrace/transfer/batch_request.h"
#include "millrace/transfer/batch_schedule.h"

namespace millrace::transfer {

// Ends the requests that it still has when it goes: no turn of the actor has come to it.
// Thread-safety: the coroutine's, then the actor's.
struct RunningBatch final : RefCounted, Pooled {
  using Pooled::operator new;
  using Pooled::operator delete;
  ~RunningBatch() override;

  BatchSchedule::Batch batch = {};
  std::shared_ptr<BatchVersion> version = {};
  std::shared_ptr<BatchQueue> queue = {};
  devices::Device device = {};

  const BatchModel& model() const { return *version->model; }
  BatchRequest& request(std::size_t i) const {
    return static_cast<BatchRequest&>(*batch.places[i]);
  }
};

// True for an error of a device that has failed or is closed: others may do its work. A program may
// also fail as kUnavailable where its device is good.
bool is_gone(const devices::Device& device, const Error& error);

// Answers the requests itself, but where the device is gone: its error is then the result. One copy
// per row; outputs are not copied. A coroutine for the compute executor.
Task<void> run_batch(Ref<RunningBatch> running, const Clock& clock);

}  // namespace millrace::transfer
