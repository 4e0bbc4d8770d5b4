// DeviceLoader: reads, decodes and transfers batches to every device ahead of the step that needs
// them, within budgets in bytes. The source reads on the blocking executor and decodes on the
// compute executor of the environment; the loader has no thread of its own. Read next:
// loader_schedule.h (what happens when).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/environment.h"
#include "millrace/devices/device.h"
#include "millrace/transfer/batch_plan.h"
#include "millrace/transfer/device_batch.h"
#include "millrace/transfer/item_source.h"
#include "millrace/transfer/loader_options.h"

namespace millrace::transfer {

class Loader;

// The consumers' handle; prefetching begins when it is made. Destroyed without close(), it stops
// all and waits for nothing: running stages end by themselves. Thread-safety: thread-safe.
class DeviceLoader {
 public:
  // kInvalidArgument names what does not fit: no source, an empty Device, the plan, the shards, or
  // a budget below one batch.
  static Result<DeviceLoader> create(const Environment& environment,
                                     std::shared_ptr<ItemSource> source,
                                     std::vector<devices::Device> devices, LoaderOptions options);
  DeviceLoader(DeviceLoader&& other) noexcept;
  DeviceLoader& operator=(DeviceLoader&& other) noexcept;
  ~DeviceLoader();

  const BatchPlan& plan() const;

  // The device's next batch in order, complete when its bytes have arrived; nullopt at the end of
  // an epoch (then the next epoch follows, if there is one; after the last one always nullopt).
  // Several calls may wait, and are served in order. A failed stage comes as its error
  // (LoadFailure) in the place of the first batch that is missing for it, and again from then on.
  // kCancelled and kDeadlineExceeded by options take no batch; kUnavailable after close();
  // kInvalidArgument for a device that the loader does not have, or a moved-from loader.
  // Where the executors of the environment have closed (a closed runtime), the stages that
  // they dropped have failed: kAborted or kUnavailable.
  Future<std::optional<DeviceBatch>> next(int device, const CallOptions& options = {}) const;

  // Stops reading ahead, cancels waiting next() calls, asks running stages to give up and waits for
  // them, at most close_grace: then the rest is given up and named by kDeadlineExceeded
  // (StagesGivenUp). Stages given up keep their memory.
  Future<void> close() const;

  LoaderStats stats() const;
  // The running stages, the oldest first: a loader without a ready batch waits for these.
  std::vector<StageInFlight> in_flight() const;

 private:
  explicit DeviceLoader(Ref<Loader> loader);
  Ref<Loader> loader_;
};

}  // namespace millrace::transfer
