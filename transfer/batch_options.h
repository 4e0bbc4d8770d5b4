// What the calls of a Batcher take, and what they say of it. Read next: batcher.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "millrace/core/async/call_options.h"
#include "millrace/core/observe/metrics.h"
#include "millrace/devices/device.h"
#include "millrace/transfer/batch_model.h"

namespace millrace::transfer {

struct BatcherOptions {
  std::string name = "batcher";  // of its actor
  std::vector<devices::Device> devices = {};
  // Launched and not done: one runs, the others wait on the device.
  int batches_per_device = 2;
  Duration priority_step = std::chrono::milliseconds(20);  // BatchSchedule::Options
  // Counts by model: millrace_requests_total{model,code}, millrace_batch_... ; nullptr: none.
  Metrics* metrics = nullptr;
};

struct BatchQueueOptions {
  Duration most_delay = std::chrono::milliseconds(2);  // for which a request waits for others
  std::int64_t most_rows = 0;                          // of a batch; 0: the largest exported
  double weight = 1;                                   // beside the other models of the devices
  std::size_t most_requests = 1024;                    // that wait for their launch
  std::size_t most_bytes = std::size_t{64} << 20;      // of their inputs
};

struct RequestOptions {
  CallOptions call = {};
  int priority = 0;  // 0 to 9; 0 comes first
};

using RowOutputs = std::vector<RowOutput>;

// Detail of the kResourceExhausted of a queue that is full.
struct QueueFull {
  std::size_t requests = 0;  // that wait
  std::size_t bytes = 0;
  Duration retry_after{};  // the time that what waits will take, as far as was measured
};

// One moment of a model.
struct BatchQueueStats {
  std::size_t queued = 0;
  std::size_t queued_bytes = 0;
  std::size_t most_requests = 0;  // that may be queued
  std::size_t most_bytes = 0;
  std::uint64_t succeeded = 0;  // requests
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;  // by stop, deadline or close
  std::uint64_t refused = 0;    // the queue was full
  std::uint64_t rows = 0;       // launched
  std::uint64_t padding = 0;    // rows that were launched beside them
  Histogram::Snapshot batch_rows = {};
  Histogram::Snapshot queue_time = {};    // ns, from run() to the launch of its batch
  Histogram::Snapshot batch_time = {};    // ns, of a batch from its launch to its outputs
  Histogram::Snapshot request_time = {};  // ns, from run() to the rows
};

}  // namespace millrace::transfer
