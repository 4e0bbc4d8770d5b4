// Device: the handle through which everybody uses a device. Every call is a message to the device's
// actor (device_actor.h), which alone orders launches on it and holds its limits. Read next:
// device_actor.h.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "millrace/core/call_options.h"
#include "millrace/core/future.h"
#include "millrace/devices/client.h"
#include "millrace/devices/launch_order.h"

namespace millrace::devices {

class DeviceActor;  // device_actor.h

// How much work may be inside a device at once; more waits in its actor's queue, in order.
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
  std::size_t abandoned_bytes = 0;  // held by what goes on although its caller was cancelled
  // Time that the device spent running programs; where the backend does not measure it, time during
  // which at least one launch was in flight.
  Duration busy{};
};

struct PutOptions {
  // kImmutableOnlyDuringCall here means: until the future of the put completes.
  HostBufferSemantics semantics = HostBufferSemantics::kImmutableUntilTransferCompletes;
  int memory = -1;
  CallOptions call;
  // How the device shall keep it; none: in its default layout.
  std::optional<DeviceLayout> layout = {};
};

struct ExecuteOptions {
  std::span<const int> non_donatable;  // copied by the call
  CallOptions call;
  std::uint64_t flow = 0;  // the batch that this is done for, in traces (TraceEvent::flow)
};

// An input: a buffer, or one whose handle is not there yet. Value type.
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

// Value handle. Thread-safety: thread-safe. Calls complete with kUnavailable once the device is
// closed or has failed (the reason is the error's cause), kCancelled / kDeadlineExceeded by their
// CallOptions while they wait in the queue; what the device has begun runs on. An argument that is
// an error skips the call and is its result.
class Device {
 public:
  Device() = default;
  explicit Device(Ref<DeviceActor> actor);
  ~Device();
  Device(const Device&);
  Device& operator=(const Device&);

  explicit operator bool() const { return static_cast<bool>(actor_); }
  DeviceId id() const;
  const DeviceInfo& info() const;
  Client& client() const;

  // Host to device. Completes when the handle exists; buffer.ready() when the bytes do. view.owner
  // is kept; without one, the bytes may go when source_released has a value, or when the put fails;
  // but where the device fails or is closed before that, never: it may still read them.
  Future<PutResult> put_tracked(HostView view, const PutOptions& options = {}) const;
  Future<Buffer> put(HostView view, const PutOptions& options = {}) const;
  // Runs a single-device program. Completes when the outputs exist as handles. Donated inputs are
  // removed.
  Future<Buffers> execute(const Executable& executable, std::span<const Buffer> arguments,
                          const ExecuteOptions& options = {}) const;
  Future<Buffers> execute(const Executable& executable, std::span<const Argument> arguments,
                          const ExecuteOptions& options = {}) const;
  Future<Buffers> execute(const Executable& executable, std::initializer_list<Argument> arguments,
                          const ExecuteOptions& options = {}) const {
    return execute(executable, std::span<const Argument>(arguments.begin(), arguments.size()),
                   options);
  }
  // Device to host: waits for the bytes. Not counted by the limits, not held up by them.
  Future<HostArray> fetch(const Argument& buffer, const CallOptions& options = {}) const;
  // Copies a buffer of any device of any client to this device.
  Future<Buffer> copy_from(const Argument& source, const CallOptions& options = {}) const;

  // Lets the client's devices read and write these host bytes by themselves, for faster copies,
  // until the last copy of the handle goes or the runtime closes. owner keeps the bytes until the
  // device has let go of them; without one they must stay until then. kAlreadyExists where
  // some of them are mapped, kUnimplemented where the backend does not offer it.
  Future<Owner> map_host_memory(std::span<std::byte> bytes, Owner owner = nullptr,
                                const CallOptions& options = {}) const;
  // In which order the device keeps the elements of a buffer of it, and those of an array that is
  // put without a layout. kUnimplemented where the backend does not tell.
  Future<DeviceLayout> layout_of(const Argument& buffer, const CallOptions& options = {}) const;
  Future<DeviceLayout> default_layout(const Shape& shape, const CallOptions& options = {}) const;

  // Refuses new calls, fails those in the queue with kUnavailable, completes when nothing is in
  // flight.
  Future<void> close() const;
  // Completes with the reason if the device fails, with a value when it closes. After a restart,
  // ask again.
  Future<void> failed() const;
  // Declares it failed: what it has not done ends with the cause, later calls give kUnavailable.
  // For whoever knows better than the backend, and for tests. kUnimplemented where the backend
  // cannot.
  Status kill(const Error& cause) const;
  // A device that has failed becomes a new one behind the same handles, once everything that was in
  // flight has ended: empty, what was on it is lost. kFailedPrecondition if it has not failed,
  // kUnimplemented where the backend cannot, kUnavailable once closed.
  Future<void> restart() const;
  DeviceStats stats() const;
  const Ref<DeviceActor>& actor() const { return actor_; }

 private:
  Ref<DeviceActor> actor_;
};

// Runs a program that spans devices of one client as one entry in all their queues; arguments[d]
// are the inputs of devices[d]. Completes with the outputs of all devices, one device after the
// other, as handles. Launches that span devices run in the order of their submission on every
// device; single-device work may overtake one that still waits for its inputs.
Future<Buffers> launch_spanning(std::span<const Device> devices, const Executable& executable,
                                std::span<const std::span<const Argument>> arguments,
                                LaunchOrder order = {}, const ExecuteOptions& options = {});

}  // namespace millrace::devices
