// Device: the handle on a device. Every call that works on it is a place in its schedule
// (device_schedule.h), whose owner, the device's actor, orders calls and holds the limits. Read
// next: device_actor.h.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/braced.h"
#include "millrace/devices/client.h"
#include "millrace/devices/device_body.h"
#include "millrace/devices/device_calls.h"

namespace millrace::devices {

// Value handle. Thread-safety: thread-safe. Calls complete with kUnavailable once the device is
// closed or has failed (the reason is the error's cause), and with kCancelled / kDeadlineExceeded
// by their CallOptions while they wait in the queue; begun work runs on. An argument that is an
// error skips the call and is its result. May be empty: then calls that give a Future or a Status
// give kInvalidArgument, and anything else is CHECKed.
// Without deadline and stop, a call of one device (put and execute, too) may wait up to 20 ms for
// calls of other threads before it queues, where DeviceActorOptions::inline_when_idle is set
// (device_pass.h). With either it never waits: for a caller that holds a lock of its own.
class Device {
 public:
  Device() = default;
  explicit Device(Ref<DeviceBody> body) : body_(std::move(body)) {}

  explicit operator bool() const { return static_cast<bool>(body_); }
  DeviceId id() const { return there().id(); }
  const DeviceInfo& info() const { return there().info(); }
  Client& client() const { return there().client(); }

  // Host to device. Completes when the handle exists; buffer.ready() when the bytes do. Without an
  // owner the bytes are copied before this returns, on the calling thread, before the device's
  // limits are asked: many large puts in a row, or one on the thread of a loop, have an owner. With
  // one they are not copied: the device keeps the owner, and the bytes must not change, until the
  // buffer is gone.
  Future<Buffer> put(HostView view, const PutOptions& options = {}) const;
  // The same of a vector, which moves in: as many elements as the dimensions say, else
  // kInvalidArgument. It takes an rvalue alone: std::move(values), or a HostView of a vector that
  // the caller keeps.
  template <class T>
  Future<Buffer> put(std::vector<T>&& values, const Dims& dims,
                     const PutOptions& options = {}) const {
    static_assert(dtype_of<T> != DType::kInvalid && !std::same_as<T, bool>,
                  "put takes vectors of the C++ types of element types (dtype_of)");
    const Shape shape(dtype_of<T>, dims);
    if (Status ok = check_elements(shape, values.size()); !ok) return ok.error();
    auto kept = std::make_shared<const std::vector<T>>(std::move(values));
    const T* const data = kept->data();
    return put({.data = data, .shape = shape, .byte_strides = {}, .owner = std::move(kept)},
               options);
  }
  // Lends the bytes: they must stay as they are until source_released has a value or this fails;
  // where the device fails or is closed before that, for ever, unless view.owner keeps them.
  // semantics: their use by the device. kImmutableOnlyDuringCall: reads until this future is done.
  Future<PutResult> put_borrowed(
      HostView view,
      HostBufferSemantics semantics = HostBufferSemantics::kImmutableUntilTransferCompletes,
      const PutOptions& options = {}) const;
  // Runs a single-device program. Completes when the outputs exist as handles. Donated inputs are
  // removed.
  Future<Buffers> execute(const Executable& executable, const ListOf<Argument>& arguments,
                          const ExecuteOptions& options = {}) const;
  // The same for a list of buffers (Buffers, a vector, a span).
  template <std::convertible_to<std::span<const Buffer>> List>
  Future<Buffers> execute(const Executable& executable, const List& arguments,
                          const ExecuteOptions& options = {}) const {
    return execute_all(executable, std::span<const Buffer>(arguments), options);
  }
  // Device to host: waits for the bytes. Not counted by the limits, not held up by them.
  Future<HostArray> fetch(const Argument& buffer, const CallOptions& options = {}) const;
  // Copies a buffer of any device of any client to this device.
  Future<Buffer> copy_from(const Argument& source, const CallOptions& options = {}) const;

  // Lets the client's devices read and write these host bytes by themselves, for faster copies,
  // until the last copy of the handle goes or the runtime closes. owner keeps the bytes until the
  // device has released them; without one they must stay until then. kAlreadyExists where some of
  // them are mapped, kUnimplemented where the backend does not offer it.
  Future<Owner> map_host_memory(std::span<std::byte> bytes, Owner owner = nullptr,
                                const CallOptions& options = {}) const;
  // In which order the device keeps the elements of a buffer of it, and those of an array that is
  // put without a layout. kUnimplemented where the backend does not report it.
  Future<DeviceLayout> layout_of(const Argument& buffer, const CallOptions& options = {}) const;
  Future<DeviceLayout> default_layout(const Shape& shape, const CallOptions& options = {}) const;

  // Refuses new calls, fails those in the queue with kUnavailable, completes when nothing is in
  // flight.
  Future<void> close() const;
  // Completes with the reason if the device fails, with a value when it closes. After a restart,
  // ask again.
  Future<void> failed() const;
  // Declares it failed: what it has not done ends with the cause, later calls give kUnavailable.
  // For callers that know better than the backend, and for tests. kUnimplemented where the backend
  // cannot.
  Status kill(const Error& cause) const;
  // A device that has failed becomes a new one behind the same handles, once everything that was in
  // flight has ended: empty, what was on it is lost. kFailedPrecondition if it has not failed,
  // kUnimplemented where the backend cannot, kUnavailable once closed.
  Future<void> restart() const;
  DeviceStats stats() const;
  const Ref<DeviceBody>& body() const { return body_; }

 private:
  DeviceBody& there() const {
    MILLRACE_CHECK(body_, "a Device that is empty was used");
    return *body_;
  }
  static Status check_elements(const Shape& shape, std::size_t values);
  Future<Buffers> execute_all(const Executable& executable, std::span<const Buffer> arguments,
                              const ExecuteOptions& options) const;

  Ref<DeviceBody> body_;
};

// Runs a program that spans devices of one client as one entry in all their queues; arguments[d]
// are the inputs of devices[d]. Completes with the outputs of all devices, one device after the
// other, as handles. Launches that span devices run in the order of their submission on every
// device; single-device work may overtake one that still waits for its inputs.
Future<Buffers> launch_spanning(std::span<const Device> devices, const Executable& executable,
                                std::span<const std::span<const Argument>> arguments,
                                LaunchOrder order = {}, const ExecuteOptions& options = {});

}  // namespace millrace::devices
