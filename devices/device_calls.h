// The parameters of a device's calls, its limits and its counts. Read next: device.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/braced.h"
#include "millrace/core/base/clock.h"
#include "millrace/devices/buffer.h"
#include "millrace/devices/device_layout.h"

namespace millrace::devices {

// How much work may be inside a device at once; more waits in its actor's queue, in order. The
// copies of puts without an owner wait beside it, uncounted.
struct DeviceLimits {
  int launches = 8;  // launched, not done
  std::size_t bytes = std::size_t{1}
                      << 30;  // outputs and temporaries of those, and puts in transfer
};

struct DeviceStats {
  std::uint64_t launches = 0;
  std::uint64_t puts = 0;
  std::uint64_t copies = 0;
  std::uint64_t fetches = 0;
  int launches_in_flight = 0;
  std::size_t bytes_in_flight = 0;
  std::size_t peak_bytes_in_flight = 0;
  std::size_t queued = 0;           // not yet handed to the device
  std::size_t abandoned_bytes = 0;  // held by work that runs on although its caller was cancelled
  // Time that the device spent running programs; where the backend does not measure it, time during
  // which at least one launch was in flight.
  Duration busy{};
};

struct PutOptions {
  int memory = -1;
  CallOptions call = {};
  // How the device shall keep it; none: in its default layout.
  Braced<std::optional<DeviceLayout>> layout = {};
};

struct ExecuteOptions {
  std::span<const int> non_donatable = {};  // copied by the call
  CallOptions call = {};
  std::uint64_t flow = 0;  // the batch that this is done for, in traces (TraceEvent::flow)
  // The caller does nothing else before the outputs are written: the CPU device may run a program
  // of less than 0.5 ms on the thread that launches it, in place of waking another.
  bool awaited = false;
};

// An input: a buffer, or the future of one. Value type.
class Argument {
 public:
  Argument() = default;
  Argument(Buffer buffer) : buffer_(std::move(buffer)) {}          // NOLINT
  Argument(Future<Buffer> future) : future_(std::move(future)) {}  // NOLINT
  const Buffer& buffer() const { return buffer_; }
  const Future<Buffer>& future() const { return future_; }  // invalid: buffer() is it

 private:
  Buffer buffer_;
  Future<Buffer> future_;
};

}  // namespace millrace::devices
