// SimCore: what the buffers and launches of simulated devices share with their client. SimDevice:
// when things happen. Internal to sim_client.h, but for what users say: SimProgram, SimOptions and
// SimEvent.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/async/scope.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/client.h"

namespace millrace::devices::sim {

// One device's part of an execution, for SimProgram::compute. Dense, row-major bytes.
struct SimCall {
  DeviceId device{};
  std::span<const std::span<const std::byte>> inputs = {};
  std::span<const std::span<std::byte>> outputs = {};  // zeroed
};

// A program by name: Program::from_text("sim:NAME") compiles to it.
struct SimProgram {
  std::string name = {};
  std::vector<Shape> inputs = {};
  std::vector<Shape> outputs = {};
  std::vector<int> donated = {};  // indices of inputs
  Duration duration{};
  std::vector<Duration> written_at = {};  // per output, after the begin; empty: all at the end
  int devices = 1;                        // per launch; they begin together
  std::int64_t temporary_bytes = 0;
  // The mathematics, exact as the test wants it; called once per execution, one SimCall per device,
  // when it begins. Empty: outputs are zeros. An error fails all outputs.
  std::function<Status(std::span<const SimCall>)> compute = {};
};

struct SimOptions {
  TimerQueue* timers = nullptr;  // time passes by its clock
  int devices = 1;
  Duration transfer_latency{};           // of each put, fetch and copy
  double transfer_bytes_per_second = 0;  // per device and direction; 0: no limit
  std::int64_t memory_bytes = 0;         // per device; 0: no limit
  // True: programs begin in the order of their launches, as in a stream of a GPU. False: in the
  // order in which their inputs are ready, as on the CPU device.
  bool in_order = false;
  bool zero_copy = false;    // puts may use host bytes in place, where their semantics allow it
  bool host_access = false;  // host_access() works
  bool keep_bytes = true;    // false: buffers have no contents, for runs with thousands of devices
  bool record_events = true;
  TraceRecorder* trace = nullptr;  // launches, on lanes "device N", as the CPU device has them
  bool check_scope = true;         // calls from outside the device's actor are violations
};

struct SimEvent {
  enum class Kind : std::uint8_t {
    kPutBegin,
    kPutEnd,
    kCopyBegin,
    kCopyEnd,
    kFetchBegin,
    kFetchEnd,
    kLaunchBegin,
    kOutputWritten,
    kLaunchEnd,
    kDeviceFailed,
    kDeviceRestarted,
  };
  Kind kind{};
  DeviceId device{};
  TimePoint at{};
  std::string name = {};     // of the program; empty for transfers
  std::uint64_t number = 0;  // of the launch or transfer, in the order of calls
  int output = -1;
};

// A launch in the queues of its devices.
class SimQueued : public RefCounted {
 public:
  bool inputs_ready() const { return inputs_ready_; }  // under the client's mutex
  virtual void finish(const Status& status) = 0;

 protected:
  bool inputs_ready_ = false;
};

// When things happen on one simulated device: one program at a time, one transfer at a time in each
// direction, stalls, slowness, failure. Owned by its client. Thread-safety: memory counters are
// thread-safe, the rest is guarded by the client's mutex.
class SimDevice {
 public:
  enum class Direction : std::uint8_t { kIn, kOut };

  // limit: bytes of memory; 0: none.
  SimDevice(DeviceId id, std::int64_t limit) : id_(id), limit_(limit) {}

  DeviceId id() const { return id_; }

  void add_memory(std::int64_t bytes);
  bool has_room(std::size_t bytes) const {
    return limit_ == 0 || bytes_in_use_.load() + static_cast<std::int64_t>(bytes) <= limit_;
  }
  MemoryStats memory() const;
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
  void erase(const SimQueued& launch);

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
  const std::int64_t limit_;
  std::atomic<std::int64_t> bytes_in_use_{0};
  std::atomic<std::int64_t> peak_bytes_{0};
  std::atomic<std::uint32_t> life_{0};
};

// kResourceExhausted: the device has no room for `what`.
std::unexpected<Error> no_room(const SimDevice& device, const std::string& what);

// Thread-safety: thread-safe.
class SimCore : public Client {
 public:
  Result<SimDevice*> find(DeviceId device) const;
  // A violation, unless the actor of one of the devices has allowed the call.
  void check_scope(std::span<const DeviceId> devices, std::string_view call) const;
  void note(SimEvent event);
  TimePoint now() const { return options.timers->clock().now(); }

  const SimOptions options;
  std::atomic<std::int64_t> buffers{0};  // that live
  std::atomic<std::uint64_t> removed_uses{0};
  std::atomic<std::uint64_t> next_number{1};
  // For all devices: what a launch that spans some of them does is one step.
  mutable Mutex mutex;
  Scope scope{"the simulated client"};  // held by what is in flight

 protected:
  explicit SimCore(const SimOptions& opts);

  std::vector<std::unique_ptr<SimDevice>> devices_;
  std::function<void(const std::string&)> violation_;
  std::vector<SimEvent> events_ MILLRACE_GUARDED_BY(mutex);
};

}  // namespace millrace::devices::sim
