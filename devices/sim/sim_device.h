// SimDevice: when things happen on one simulated device: one program at a time, one transfer at a
// time in each direction, stalls, slowness, failure. Internal to sim_core.h.
#pragma once

#include <array>
#include <atomic>
#include <optional>
#include <vector>

#include "millrace/devices/client.h"
#include "millrace/devices/sim/sim_options.h"

namespace millrace::devices::sim {

// A launch in the queues of its devices.
class SimQueued : public RefCounted {
 public:
  bool inputs_ready() const { return inputs_ready_; }  // under the client's mutex
  virtual void finish(const Status& status) = 0;

 protected:
  bool inputs_ready_ = false;
};

// Owned by its client. Thread-safety: memory counters are thread-safe, the rest is guarded by the
// client's mutex.
class SimDevice {
 public:
  enum class Direction : std::uint8_t { kIn, kOut };

  explicit SimDevice(DeviceId id) : id_(id) {}

  DeviceId id() const { return id_; }

  void add_memory(std::int64_t bytes);
  bool has_room(std::size_t bytes, std::int64_t limit) const {
    return limit == 0 || bytes_in_use_.load() + static_cast<std::int64_t>(bytes) <= limit;
  }
  MemoryStats memory(std::int64_t limit) const;
  // The device is restarted: what was on it is lost. A buffer knows by the number of its life.
  void lose_memory() { life_.fetch_add(1); }
  std::uint32_t life() const { return life_.load(); }

  struct Nth {
    std::uint64_t nth;
    Error error;
  };
  struct Stall {
    TimePoint at;
    Duration length;
  };
  struct Slow {
    TimePoint at;
    double factor;
  };

  // When something that began at begin and takes length of device time is over, stalls included.
  TimePoint end_of(TimePoint begin, Duration length) const;
  // The duration of what begins at begin.
  Duration scaled(Duration length, TimePoint begin) const;
  // Takes the next place in this direction.
  TimePoint reserve(Direction direction, TimePoint now, Duration length);
  static const Error* find(const std::vector<Nth>& faults, std::uint64_t nth);
  // The launch that would begin next; nullptr while one runs or none may begin.
  SimQueued* candidate(bool in_order) const;
  void forget(const SimQueued& launch);

  std::vector<Ref<SimQueued>> queue;
  SimQueued* running = nullptr;
  std::array<TimePoint, 2> free_from{};
  std::uint64_t launches = 0;
  std::uint64_t puts = 0;
  std::vector<Nth> launch_faults;
  std::vector<Nth> put_faults;
  std::vector<Stall> stalls;
  std::vector<Slow> slows;
  Duration busy{};
  std::optional<Error> failure;
  Promise<void> failed_promise;
  Future<void> failed = failed_promise.future();

 private:
  const DeviceId id_;
  std::atomic<std::int64_t> bytes_in_use_{0};
  std::atomic<std::int64_t> peak_bytes_{0};
  std::atomic<std::uint32_t> life_{0};
};

}  // namespace millrace::devices::sim
