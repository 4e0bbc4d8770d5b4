// What a simulated device does and when: speeds, programs, recorded events. Read next:
// sim_client.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "millrace/core/async/timer_queue.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/buffer.h"

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

}  // namespace millrace::devices::sim
