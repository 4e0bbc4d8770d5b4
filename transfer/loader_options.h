// LoaderOptions: what a DeviceLoader loads, in which order, and how much of it ahead.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "millrace/core/base/braced.h"
#include "millrace/core/observe/trace.h"
#include "millrace/transfer/batch_plan.h"
#include "millrace/transfer/staging_pool.h"

namespace millrace::transfer {

struct LoaderOptions {
  std::int64_t batch_size = 0;  // global: the rows of all shards together
  Remainder remainder = Remainder::kDrop;
  bool shuffle = false;
  std::uint64_t seed = 0;
  // The shards of the run, and the shard of each device. Left out: one per device, in order.
  // Other ranks of the same run name other shards.
  int shards = 0;
  Braced<std::vector<int>> shard_of_device = {};

  std::uint64_t epochs = 1;  // 0: endless
  std::uint64_t start_epoch = 0;
  std::uint64_t start_item = 0;  // to resume: after so many items of that epoch
  bool prefetch_across_epochs = true;

  int reads_in_flight = 4;  // batches, all devices together
  int decodes_in_flight = 2;
  // Per device, each at least one batch. Host: staging memory and what was read and is not decoded.
  // Device: batches that are in transfer or wait for next(). 0: room for four and two batches.
  std::size_t host_bytes_per_device = 0;
  std::size_t device_bytes_per_device = 0;
  // Lets devices that can use host memory in place do so: no copy, and the staging block is the
  // batch until its consumer releases it.
  bool zero_copy = true;
  Braced<std::shared_ptr<StagingPool>> pool = {};  // left out: one of its own, within the budgets
  TraceRecorder* trace = nullptr;  // one lane per stage, an event per batch (batch_flow)
  // For batch_flow, where the run has devices of other loaders: the place of the first device of
  // this one among all of them, and their number. 0: these are all.
  std::size_t first_flow_device = 0;
  std::size_t flow_devices = 0;
  Duration close_grace = std::chrono::milliseconds(500);  // so long close() waits for stages
};

}  // namespace millrace::transfer
