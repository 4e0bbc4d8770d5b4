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

#include "millrace/core/base/byte_budget.h"
#include "millrace/core/base/function_ref.h"
#include "millrace/core/base/pool.h"
#include "millrace/core/base/ref.h"

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

// One batch in the schedule, which alone writes it; what is loaded derives from it.
struct LoadPlace : RefCounted {
  // Two states for each stage. From each but the last two also -> kDropped.
  enum class State : std::uint8_t {
    kStaging,       // running -> kStaged
    kStaged,        // -> kReading
    kReading,       // running -> kRead
    kRead,          // -> kDecoding
    kDecoding,      // running -> kDecoded
    kDecoded,       // -> kTransferring
    kTransferring,  // running -> kReady
    kReady,         // -> kTaken
    kTaken,         // final: the consumer's
    kDropped,       // final: failed or unwanted
  };

  explicit LoadPlace(const BatchId& batch) : id(batch) {}
  // That runs, or has ended last. Not for a final state.
  LoadStage stage() const { return static_cast<LoadStage>(static_cast<int>(state) / 2); }
  bool running() const { return state < State::kReady && static_cast<int>(state) % 2 == 0; }

  const BatchId id;
  State state = State::kStaging;
  bool charged = true;  // its staging block counts in the budget
};

// Thread-safety: external.
class LoaderSchedule {
 public:
  static constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();
  using Place = Ref<LoadPlace>;
  using Places = PooledVector<Place>;

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

  // A batch whose next stage() may begin, and counts as running now; empty: none. Late stages come
  // first, then early batches. make gives a batch that begins its place.
  Place start(FunctionRef<Place(const BatchId&)> make);
  // The running stage has succeeded. False: the batch is unwanted, and dropped now.
  bool finish(LoadPlace& batch);
  // The running stage has failed. Gives the batches that are dropped now: this one and, if it is
  // the first failure in order (LS-3), those after it of which no stage runs.
  Places fail(LoadPlace& batch);
  // The staging block of a batch that was transferred is free, or its consumer's. Again: nothing.
  void release_staging(LoadPlace& batch);

  enum class Next { kPending, kBatch, kEndOfEpoch, kFailed, kStopped };
  // What take() would return now.
  Next peek(int device) const;
  // The same, and takes it: a batch (then *batch is it) or the end of an epoch.
  Next take(int device, Place* batch);

  // No stage begins any more, and every take gives kStopped. Gives the batches that are dropped
  // now.
  Places stop();
  bool stopped() const { return stopped_; }
  bool wanted(const BatchId& batch) const { return !stopped_ && (!failure_ || batch < *failure_); }
  const std::optional<BatchId>& failure() const { return failure_; }
  template <class F>
  void for_each_running(F f) const {
    for (const DeviceQueue& queue : queues_) {
      for (const Place& batch : queue.batches) {
        if (batch->running()) f(*batch);
      }
    }
  }

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
  std::size_t peak_host_bytes() const { return host_.peak(); }
  std::size_t peak_device_bytes() const { return device_.peak(); }

 private:
  using State = LoadPlace::State;
  struct DeviceQueue {
    PooledDeque<Place> batches = {};  // from sequence head on
    std::uint64_t head = 0;           // the batch that the consumer takes next
    std::uint64_t next_read = 0;
    std::uint64_t next_transfer = 0;
    std::uint64_t epoch = 0;  // that the consumer is in
    bool reserves = false;    // is in reserve_
    bool transfers = false;   // is in transfer_
    ByteBudget host;
    ByteBudget device;
    int ready = 0;
  };
  using Heap = std::priority_queue<BatchId, std::vector<BatchId>, std::greater<>>;

  std::size_t batch_bytes() const { return options_.staging_bytes + options_.raw_bytes; }
  static bool may_move(State from, State to);
  void move(LoadPlace& batch, State to);
  DeviceQueue& of(int device) { return queues_[static_cast<std::size_t>(device)]; }
  const DeviceQueue& of(int device) const { return queues_[static_cast<std::size_t>(device)]; }
  const Place& at(const BatchId& batch) const {
    const DeviceQueue& queue = of(batch.device);
    return queue.batches[batch.sequence - queue.head];
  }
  std::optional<BatchId> pop_wanted(Heap& heap);
  void offer_reserve(int device);
  void offer_reads(int device);
  void offer_transfer(int device);
  bool may_transfer(int device) const;
  Places drop_unwanted();

  Options options_;
  std::uint64_t end_sequence_;
  std::vector<DeviceQueue> queues_;
  Heap reserve_;  // next sequence of each device that has room for it
  Heap staged_;
  Heap read_;
  PooledDeque<int> transfer_;  // devices that have room for their next transfer
  int reads_ = 0;
  int decodes_ = 0;
  ByteBudget host_;  // all devices together
  ByteBudget device_;
  bool stopped_ = false;
  std::optional<BatchId> failure_;  // the first known
};

}  // namespace millrace::transfer
