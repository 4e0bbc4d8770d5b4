// LoaderSchedule: the decisions of the loader: which stage of which batch may begin now, within the
// budgets, and what a consumer gets next. Pure: no time, threads or I/O.
//
//  - LS-1 batches of a device are delivered in the order of their sequence numbers.
//  - LS-2 a device's charged bytes never exceed its budgets; devices share only reads and decodes.
//  - LS-3 a batch is delivered unless a failure at or before its position is known; a device that
//    has met a failure gets nothing after it.
//  - LS-4 per device, memory is reserved and reads and transfers begin in sequence order, so the
//    next batch of a consumer is never behind another one and can always complete.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <vector>

#include "millrace/core/base/pool.h"

namespace millrace::transfer {

// What is done to a batch, in this order.
enum class LoadStage : std::uint8_t {
  kStaging,   // wait for a block of host memory
  kRead,      // ItemSource::read
  kDecode,    // ItemSource::decode
  kTransfer,  // host to device, until the bytes have arrived
};
inline constexpr int kLoadStages = 4;
const char* to_string(LoadStage stage);

// A batch of a device; the order is that in which a single consumer would meet them.
struct BatchId {
  std::uint64_t sequence = 0;  // counts the device's batches through all epochs
  int device = 0;
  auto operator<=>(const BatchId&) const = default;
};

// Thread-safety: external.
class LoaderSchedule {
 public:
  static constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

  struct Options {
    int devices = 1;
    std::uint64_t steps_per_epoch = 1;
    std::uint64_t first_epoch = 0;
    std::uint64_t first_step = 0;  // may be steps_per_epoch: the end of first_epoch comes first
    std::uint64_t end_epoch = kEndless;
    bool across_epochs = true;  // begin the next epoch before the consumer met the end of this one
    int reads = 1;              // running at once, all devices together
    int decodes = 1;
    std::size_t staging_bytes = 0;  // of one batch
    std::size_t raw_bytes = 0;
    std::size_t device_batch_bytes = 0;
    std::size_t host_budget = 0;  // per device; at least one batch
    std::size_t device_budget = 0;
  };

  explicit LoaderSchedule(const Options& options);

  struct Start {
    LoadStage stage;
    BatchId batch;
  };
  // A stage that may begin, and counts as running now. Late stages come first, then early batches.
  std::optional<Start> start();
  // A running stage has succeeded. False: the batch is unwanted (its budget is free again).
  bool finish(const Start& stage);
  // A running stage was given up: its batch is unwanted.
  void finish_unwanted(const Start& stage);
  // A running stage has failed. True: this is now the first failure in order (LS-3).
  bool fail(const Start& stage);
  // After fail() and stop(): frees the budget of unwanted batches that no stage works on: these.
  std::vector<BatchId> drop_unwanted();
  // The staging block of a batch is free, or its consumer's. Once per batch that was transferred.
  void release_staging(int device);

  enum class Next { kPending, kBatch, kEndOfEpoch, kFailed, kStopped };
  // What take() would return now.
  Next peek(int device) const;
  // The same, and takes it: a batch (then *batch says which) or the end of an epoch.
  Next take(int device, BatchId* batch);

  // No stage begins any more, and every take gives kStopped.
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }
  bool wanted(const BatchId& batch) const { return !stopped_ && (!failure_ || batch < *failure_); }
  const std::optional<BatchId>& failure() const { return failure_; }
  int running() const { return running_; }

  struct DeviceUse {
    std::size_t host_bytes = 0;
    std::size_t peak_host_bytes = 0;
    std::size_t device_bytes = 0;
    std::size_t peak_device_bytes = 0;
    std::size_t ready = 0;  // batches that wait for the consumer
    std::size_t begun = 0;  // batches in any stage
  };
  DeviceUse use(int device) const;
  // All devices together.
  std::size_t peak_host_bytes() const { return peak_host_bytes_; }
  std::size_t peak_device_bytes() const { return peak_device_bytes_; }

 private:
  enum class Slot : std::uint8_t {
    kStaging,       // running -> kStaged
    kStaged,        // -> kReading
    kReading,       // running -> kRead
    kRead,          // -> kDecoding
    kDecoding,      // running -> kDecoded
    kDecoded,       // -> kTransferring
    kTransferring,  // running -> kReady
    kReady,         // taken by the consumer, and gone
    kDead,          // final, from any other: failed or unwanted
  };
  // The only change of a slot's state: to the next one, or to kDead.
  static void advance(Slot& slot, Slot to);
  struct DeviceQueue {
    PooledDeque<Slot> slots;  // from sequence head on
    std::uint64_t head = 0;   // the batch that the consumer takes next
    std::uint64_t next_read = 0;
    std::uint64_t next_transfer = 0;
    std::uint64_t epoch = 0;         // that the consumer is in
    bool queued_to_reserve = false;  // is in reserve_
    DeviceUse use;
  };
  using Heap = std::priority_queue<BatchId, std::vector<BatchId>, std::greater<>>;

  std::size_t host_batch_bytes() const { return options_.staging_bytes + options_.raw_bytes; }
  DeviceQueue& of(int device) { return queues_[static_cast<std::size_t>(device)]; }
  const DeviceQueue& of(int device) const { return queues_[static_cast<std::size_t>(device)]; }
  Slot& slot(const BatchId& batch);
  std::optional<BatchId> pop_wanted(Heap& heap);
  void offer_reserve(int device);
  void offer_reads(int device);
  void offer_transfers(int device);
  void end_stage(const Start& stage);
  void charge_host(DeviceQueue& queue);
  void uncharge_host(DeviceQueue& queue, std::size_t bytes);
  void charge_device(DeviceQueue& queue);
  void uncharge_device(DeviceQueue& queue);

  Options options_;
  std::uint64_t end_sequence_;
  std::vector<DeviceQueue> queues_;
  Heap reserve_;  // next sequence of each device that has room for it
  Heap staged_;
  Heap read_;
  PooledDeque<BatchId> transfers_;
  int reads_ = 0;
  int decodes_ = 0;
  int running_ = 0;
  std::size_t host_bytes_ = 0;
  std::size_t peak_host_bytes_ = 0;
  std::size_t device_bytes_ = 0;
  std::size_t peak_device_bytes_ = 0;
  bool stopped_ = false;
  std::optional<BatchId> failure_;  // the first known
};

}  // namespace millrace::transfer
