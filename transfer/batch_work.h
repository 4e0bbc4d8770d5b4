// BatchWork: what is done to one batch in each stage, whenever the loader says: it knows the
// source, the devices and the plan, and neither budgets nor turns. Internal to the loader.
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "millrace/devices/device.h"
#include "millrace/transfer/batch_plan.h"
#include "millrace/transfer/device_batch.h"
#include "millrace/transfer/item_source.h"
#include "millrace/transfer/loader_options.h"

namespace millrace::transfer {

// stop() asks all running work to end early. Thread-safety: thread-safe, for different batches.
class BatchWork {
 public:
  using Puts = PooledVector<Future<devices::PutResult>>;

  struct Parts {
    std::shared_ptr<ItemSource> source;
    std::vector<devices::Device> devices;
    LoaderOptions options;
    BatchPlan plan;
    std::vector<std::size_t> field_offsets = {};  // in a staging block
    std::size_t staging_bytes = 0;                // of a batch
  };
  explicit BatchWork(Parts parts) : parts_(std::move(parts)) {}

  const LoaderOptions& options() const { return parts_.options; }
  const BatchPlan& plan() const { return parts_.plan; }
  int devices() const { return static_cast<int>(parts_.devices.size()); }
  std::size_t bytes(std::int64_t rows) const;  // on a device
  void stop() { stop_.request_stop(); }

  // All of the batch but its arrays.
  DeviceBatch planned(const BatchId& id) const;
  Future<StagingBlock> reserve() const;
  // The block is the batch's: what read and decode are to know of it.
  Ref<SourceBatch> place(const DeviceBatch& batch, const StagingBlock& block) const;
  Future<void> read(const Ref<SourceBatch>& batch) const;
  Future<void> decode(const Ref<SourceBatch>& batch) const;
  // The block is the device's afterwards: it returns to the pool when the device releases it.
  Puts put(SourceBatch& source, const DeviceBatch& batch) const;

 private:
  int shard_of(int device) const {
    return options().shard_of_device[static_cast<std::size_t>(device)];
  }
  const devices::Device& device_of(const DeviceBatch& batch) const {
    return parts_.devices[static_cast<std::size_t>(batch.device)];
  }

  const Parts parts_;
  std::stop_source stop_;
};

}  // namespace millrace::transfer
