// The results of a loader: batches, the details of its errors, and its statistics: the time of each
// stage and the memory that it holds. Read next: device_loader.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/base/clock.h"
#include "millrace/devices/buffer.h"
#include "millrace/transfer/loader_schedule.h"

namespace millrace::transfer {

// One stage, all devices together.
struct StageStats {
  std::uint64_t batches = 0;  // that have passed it
  std::uint64_t bytes = 0;    // of these, as they lie on the device
  Duration busy{};            // sum over batches of the time in the stage
  Duration waited{};          // sum over batches of the time from the end of the stage before
  int running = 0;
  int peak_running = 0;
};

struct DeviceQueueStats {
  LoaderSchedule::DeviceUse use = {};
  std::uint64_t delivered = 0;
  std::uint64_t asked = 0;        // next() calls
  std::uint64_t found_ready = 0;  // of these, served at once
  Duration consumer_waited{};     // sum over next() calls of the time until they were served
  double mean_ready = 0;          // batches ready when next() was called
};

struct LoaderStats {
  std::array<StageStats, kLoadStages> stages = {};  // by LoadStage
  std::vector<DeviceQueueStats> devices = {};
  std::size_t peak_host_bytes = 0;  // of all devices together, within the loader's budgets
  std::size_t peak_device_bytes = 0;

  const StageStats& stage(LoadStage s) const { return stages[static_cast<std::size_t>(s)]; }
};

// A stage that runs.
struct StageInFlight {
  LoadStage stage = LoadStage::kRead;
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  int device = 0;
  std::uint64_t first_item = 0;
  TimePoint since{};
};
// "read of epoch 0, step 3, device 1 (from item 17)".
std::string to_string(const StageInFlight& stage);

// One batch on one device; its bytes have arrived.
struct DeviceBatch {
  devices::Buffers arrays = {};  // one per field of the source, in order: rows x the item's shape
  std::int64_t rows = 0;
  std::int64_t valid = 0;  // the first ones; the others repeat items (Remainder::kPad)
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;        // within the epoch
  std::uint64_t sequence = 0;    // through all epochs
  std::uint64_t first_item = 0;  // index of the item in row 0
  int device = 0;                // as next() was asked
};

// The number of a batch in traces (TraceEvent::flow): the batches of one step, one per device of
// the run, are neighbours in the order of the devices.
constexpr std::uint64_t batch_flow(std::uint64_t sequence, std::size_t device,
                                   std::size_t devices) {
  return sequence * devices + device + 1;
}

// Attached to every error of a stage, with FilePosition where a file caused it.
struct LoadFailure : StageInFlight {
  // The one at fault, where the source names it (FailedItem, SourceBatch::working_on).
  std::optional<std::uint64_t> item = {};
};

// Attached to the error of a close() that gave up stages.
struct StagesGivenUp {
  std::vector<StageInFlight> stages;
};

}  // namespace millrace::transfer
