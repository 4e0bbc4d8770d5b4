// Batcher: dynamic batching in front of devices. Requests of a few rows go in, each gets a Future
// of its rows out; together they are launched as batches of the sizes that programs were exported
// for.
//
//   auto batcher = Batcher::create(runtime.actors(), {.devices = {runtime.device(0)}});
//   if (!batcher) return std::unexpected(batcher.error());
//   if (Status added = batcher->add(model, {.most_delay = 2ms}); !added) return added;
//   const RowInput images{.name = "images", .view = view};  // view.owner keeps the bytes
//   Future<RowOutputs> y = batcher->run("mnist", images);   // several inputs: {images, lengths}
//
//   run: checked, admitted --> queue --> batch --> put, execute, fetch --> its rows, as views
//        (refused at once)     BatchSchedule       a coroutine per batch (batch_run.h)
//
// All requests of a client share one stop token: where the client goes, its stop_source takes what
// is still queued with it. Read next: batch_model.h (what is run), batch_schedule.h (what happens
// when), batch_actor.h.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/actors/system.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/braced.h"
#include "millrace/transfer/batch_model.h"
#include "millrace/transfer/batch_options.h"

namespace millrace::transfer {

class BatcherCore;

// Value handle. The actor is ended by close() or, at the latest, by its system; then calls give
// kUnavailable. A device that has failed gets nothing any more; what it had goes to the others.
// Thread-safety: thread-safe.
class Batcher {
 public:
  Batcher(const Batcher& other);
  Batcher(Batcher&& other) noexcept;
  Batcher& operator=(Batcher other) noexcept;
  ~Batcher();
  // kInvalidArgument: no device, or an empty one; kAlreadyExists: an actor of that name.
  static Result<Batcher> create(actors::ActorSystem& system, BatcherOptions options);

  // From now on run() takes requests for model->name(). kAlreadyExists; kInvalidArgument for
  // options that the model cannot have, or constants for another number of devices.
  Status add(const std::shared_ptr<const BatchModel>& model,
             const BatchQueueOptions& options = {}) const;
  // A new version: requests that are queued and later ones run on it, batches that run on the old
  // one end there. Completes when the last of these has ended. kNotFound; kFailedPrecondition where
  // its interface is another one, or its largest batch smaller: add it under another name.
  Future<void> replace(std::shared_ptr<const BatchModel> model) const;

  // The rows of every output, in the order of model->outputs(); views of the batch's arrays.
  // kNotFound: no such model; kInvalidArgument names the input; kResourceExhausted (QueueFull) at
  // once where the queue is full; kCancelled, kDeadlineExceeded by options (a batch that has begun
  // runs on); kUnavailable once closed or without a device; else the reason of the failed batch.
  Future<RowOutputs> run(const std::string& model, const ListOf<RowInput>& inputs,
                         const RequestOptions& options = {}) const;

  // nullptr: none of that name.
  std::shared_ptr<const BatchModel> model(const std::string& name) const;
  std::vector<std::string> models() const;
  Result<BatchQueueStats> stats(const std::string& model) const;
  // How many of the devices have not failed; one that is restarted stays out of this batcher.
  std::size_t devices_alive() const;
  // By device of the options: why it has failed; nullopt: it works.
  std::vector<std::optional<Error>> device_failures() const;

  // Refuses new requests and launches what is queued without delay; what is not launched at the
  // deadline fails with kUnavailable. Completes when everything has ended. The first call counts.
  Future<void> close(TimePoint deadline = TimePoint()) const;

 private:
  explicit Batcher(Ref<BatcherCore> core);
  Ref<BatcherCore> core_;
};

}  // namespace millrace::transfer
