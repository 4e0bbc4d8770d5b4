// DeviceBatch: what a loader's consumer gets, and the details of the errors that it may get
// instead. Read next: device_loader.h.
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/devices/buffer.h"
#include "millrace/transfer/loader_schedule.h"
#include "millrace/transfer/loader_stats.h"

namespace millrace::transfer {

// One batch on one device; its bytes have arrived.
struct DeviceBatch {
  devices::Buffers arrays =
      {};  // one per field of the source, in its order: rows x the item's shape
  std::int64_t rows = 0;
  std::int64_t valid = 0;  // the first ones; the others repeat items (Remainder::kPad)
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;        // within the epoch
  std::uint64_t sequence = 0;    // through all epochs
  std::uint64_t first_item = 0;  // index of the item in row 0
  int device = 0;                // as next() was asked
};

// The number of a batch in traces (TraceEvent::flow): the batches of one step, one per device of
// the loader, are neighbours in the order of the devices.
constexpr std::uint64_t batch_flow(std::uint64_t sequence, std::size_t device,
                                   std::size_t devices) {
  return sequence * devices + device + 1;
}

// Attached to every error that a stage brings to the consumer; FilePosition too, where a file was
// at fault.
struct LoadFailure {
  LoadStage stage = LoadStage::kRead;
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  int device = 0;
  // The one at fault, where the source names it (FailedItem, SourceBatch::working_on).
  std::optional<std::uint64_t> item = {};
};

// Attached to the error of a close() that did not wait any longer.
struct AbandonedStages {
  std::vector<StageInFlight> stages;
};

}  // namespace millrace::transfer
