// Device: the handle through which everybody uses a device. Every call is a message to the device's actor
// (device_actor.h), which alone orders launches on it and holds its limits. Read next: device_actor.h.
#pragma once

#include <span>
#include <string>

#include "millrace/core/call_options.h"
#include "millrace/core/future.h"
#include "millrace/devices/client.h"

namespace millrace::devices {

class DeviceActorHandle;  // device_actor.h

// How much work may be inside a device at once; more waits in its actor's queue, in order.
struct DeviceLimits {
  int launches = 8;                            // launched, not done
  std::size_t bytes = std::size_t{1} << 30;    // outputs and temporaries of those, and puts in transfer
};

struct DeviceStats {
  std::uint64_t launches = 0;
  std::uint64_t puts = 0;
  int launches_in_flight = 0;
  std::size_t bytes_in_flight = 0;
  std::size_t peak_bytes_in_flight = 0;
  std::size_t queued = 0;
  Duration busy{};   // time during which at least one launch was in flight with its inputs ready
};

struct PutOptions {
  HostBufferSemantics semantics = HostBufferSemantics::kImmutableUntilTransferCompletes;
  int memory = -1;
  CallOptions call;
};

struct ExecuteOptions {
  std::span<const int> non_donatable;  // copied by the call
  CallOptions call;
};

// Value handle. Thread-safety: thread-safe. Calls complete with kUnavailable once the device is closed or has
// failed (the reason is the error's cause), kCancelled / kDeadlineExceeded by their CallOptions while they wait
// in the queue; what the device has begun runs on.
class Device {
 public:
  Device() = default;
  explicit Device(Ref<DeviceActorHandle> actor);
  ~Device();
  Device(const Device&);
  Device& operator=(const Device&);

  DeviceId id() const;
  const DeviceInfo& info() const;
  Client& client() const;

  // Host to device. Completes when the handle exists; buffer.ready() when the bytes do. view.owner is kept.
  Future<PutResult> put_tracked(HostView view, PutOptions options = {}) const;
  Future<Buffer> put(HostView view, PutOptions options = {}) const;
  // Runs a single-device program. Completes when the outputs exist as handles. Donated inputs are removed.
  Future<Buffers> execute(const Executable& executable, std::span<const Buffer> arguments,
                          const ExecuteOptions& options = {}) const;
  // Device to host: waits for the bytes.
  Future<HostArray> fetch(const Buffer& buffer, CallOptions options = {}) const;
  // Copies a buffer of any device of any client to this device.
  Future<Buffer> copy_from(const Buffer& source, CallOptions options = {}) const;

  DeviceStats stats() const;
  const Ref<DeviceActorHandle>& actor() const { return actor_; }

 private:
  Ref<DeviceActorHandle> actor_;
};

}  // namespace millrace::devices
