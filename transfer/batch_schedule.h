// BatchSchedule: the decisions of a Batcher: which requests become the next batch, of which
// exported size, on which device, and when. Pure: no time of its own, no threads, no bytes.
//
//  - BS-1 requests of one queue, bucket and priority are launched in the order of their arrival.
//  - BS-2 a batch has at most most_rows rows, of requests of one queue and bucket, and takes the
//    smallest exported size that holds them. One with padding is cut to a smaller size, where that
//    holds its first request, if rows take less time in it; until both were measured, if there is
//    more padding than rows. Every kCutsInARow-th stays whole, so that its size is measured again:
//    one slow batch is no reason for ever.
//  - BS-3 a device has at most batches_per_device batches, and gets one behind another not before
//    that is half over or ends within a millisecond; one that has failed gets none.
//  - BS-4 a request that was withdrawn, or whose deadline has passed, is never launched.
//  - BS-5 queues that always have requests share the time of the devices by their weights.
//  - BS-6 a request waits for others at most most_delay, and not at all once most_rows wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "millrace/core/base/clock.h"
#include "millrace/core/base/pool.h"
#include "millrace/core/base/ref.h"

namespace millrace::transfer {

// One request in the schedule, which alone writes it; what is batched derives from it.
struct BatchPlace : RefCounted {
  enum class State : std::uint8_t {
    kOutside,    // -> kQueued
    kQueued,     // -> kLaunched, kEnded
    kLaunched,   // in a batch -> kEnded, kAbandoned; -> kQueued where its device has failed
    kAbandoned,  // withdrawn while its batch runs -> kEnded
    kEnded,      // final
  };
  struct Facts {
    std::size_t queue = 0;
    std::size_t bucket = 0;
    std::int64_t rows = 1;  // at most the queue's most_rows
    int priority = 0;       // 0 comes first
    TimePoint deadline = kNoDeadline;
  };
  explicit BatchPlace(const Facts& f) : facts(f) {}

  const Facts facts;
  State state = State::kOutside;
  TimePoint arrived{};
  TimePoint rank{};  // requests are launched in the order of rank, then number
  TimePoint due{};   // when it stops waiting for others
  std::uint64_t number = 0;
};

// Thread-safety: external.
class BatchSchedule {
 public:
  using Place = Ref<BatchPlace>;
  using Places = PooledVector<Place>;

  struct Options {
    std::size_t devices = 1;
    int batches_per_device = 2;
    // A request of priority p is launched as if it had come p times this later, so no priority
    // starves.
    Duration priority_step = std::chrono::milliseconds(20);
  };
  struct QueueOptions {
    // By bucket: the sizes that programs were exported for, ascending; none is empty.
    std::vector<std::vector<std::int64_t>> sizes = {};
    std::int64_t most_rows = 1;  // of a batch: no bucket's largest size is below it
    Duration most_delay{};
    double weight = 1;
  };
  struct Batch {
    std::size_t queue = 0;
    std::size_t bucket = 0;
    std::size_t device = 0;
    std::int64_t rows = 0;
    std::int64_t size = 0;  // as exported; size - rows are padding
    Places places = {};
    TimePoint begun{};
    Duration expected{};  // what it was charged
  };

  static constexpr std::uint64_t kCutsInARow = 64;

  explicit BatchSchedule(const Options& options);

  // Numbers are the caller's, from 0; each is added once (CHECKed).
  void add_queue(std::size_t queue, QueueOptions options);
  // For a new version of what it runs: as many buckets, and no smaller most_rows (CHECKed). What
  // was measured is erased.
  void set_queue(std::size_t queue, QueueOptions options);

  void enter(const Place& place, TimePoint now);
  // True: it was queued, and is the caller's to end. False: its batch runs on, or it has ended.
  bool withdraw(BatchPlace& place);
  // The batch that begins now, if one may. late: gets requests whose deadline has passed.
  std::optional<Batch> next(TimePoint now, Places* late);
  // Its outputs are there, or it has failed for a reason of its own. Gives the requests that still
  // wait for it.
  Places finish(const Batch& batch, TimePoint now);
  // Its device has failed: what still waits for it queues again, in its old place.
  void put_back(const Batch& batch);
  // Nothing is launched there any more. False: no device is left.
  bool fail_device(std::size_t device);
  // From now on no request waits for others.
  void drain() { draining_ = true; }
  // Takes all that is queued, or all of a queue.
  Places take_queued(std::optional<std::size_t> queue = {});

  // When next() is to be asked again if nothing else happens; nullopt: only after an event.
  std::optional<TimePoint> next_time() const;
  // How long a request that came now would wait for its launch, as far as was measured.
  Duration expected_wait(std::size_t queue) const;
  std::size_t queued(std::size_t queue) const;
  std::size_t queued() const;
  std::size_t in_flight() const;
  bool device_alive(std::size_t device) const { return devices_[device].alive; }
  // The time of a batch of that size, exponentially averaged; nothing was measured: zero.
  Duration measured(std::size_t queue, std::size_t bucket, std::int64_t size) const;

 private:
  struct InOrder {
    bool operator()(const Place& a, const Place& b) const {
      return std::pair(a->rank, a->number) < std::pair(b->rank, b->number);
    }
  };
  using Due = std::pair<TimePoint, std::uint64_t>;
  struct Bucket {
    std::set<Place, InOrder, PoolAllocator<Place>> line = {};
    std::set<Due, std::less<>, PoolAllocator<Due>> due = {};
    std::int64_t rows = 0;
    std::map<std::int64_t, Duration> measured = {};  // by size
    std::uint64_t cuts = 0;                          // to a smaller size
  };
  struct Queue {
    QueueOptions options = {};
    std::vector<Bucket> buckets = {};
    double served = 0;  // device time by weight, in ns: who has least is next
    std::size_t places = 0;
  };
  struct Device {
    bool alive = true;
    int batches = 0;
    Duration outstanding{};
    TimePoint busy_since{};  // the begin of the batch that runs, or the end of the last one
  };

  static bool may_move(BatchPlace::State from, BatchPlace::State to);
  static void move(BatchPlace& place, BatchPlace::State to);
  void insert(const Place& place);
  void erase(const Place& place);
  bool is_due(const Queue& queue, const Bucket& bucket, TimePoint now) const;
  // When the device may get one more batch; kNoDeadline: not before the end of another.
  TimePoint takes_next(const Device& device) const;
  std::optional<std::size_t> free_device(TimePoint now) const;
  // The due bucket of the queue that has been served least.
  std::optional<std::pair<std::size_t, std::size_t>> due_bucket(TimePoint now) const;
  std::optional<Batch> form(std::size_t queue, std::size_t bucket, TimePoint now, Places* late);
  Duration expected(const Bucket& bucket, std::int64_t size) const;
  static bool is_cheaper(const Bucket& bucket, std::int64_t size, const Batch& padded);
  void release_device(const Batch& batch);

  const Options options_;
  std::vector<Queue> queues_;
  std::vector<Device> devices_;
  double now_served_ = 0;  // of the queue that was chosen last
  std::uint64_t next_number_ = 0;
  bool draining_ = false;
};

}  // namespace millrace::transfer
