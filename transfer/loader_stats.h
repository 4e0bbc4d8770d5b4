// Numbers of a loader: where its time goes and how much memory it holds. Plain values, snapshots.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "millrace/core/base/clock.h"
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

}  // namespace millrace::transfer
