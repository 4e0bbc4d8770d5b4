#include "millrace/devices/device.h"

#include <string>
#include <utility>

#include "millrace/devices/call_operation.h"
#include "millrace/devices/device_actor.h"
#include "millrace/devices/launch_operation.h"
#include "millrace/devices/transfer_operation.h"

namespace millrace::devices {
namespace {

// The first thing that is wrong with a call before it becomes an operation.
Status check_call(const Device& device, const CallOptions& options, std::string_view what) {
  if (!device) {
    return fail(ErrorCode::kInvalidArgument, std::string(what) + " was called on an empty Device");
  }
  if (options.stop.stop_requested()) {
    return fail(ErrorCode::kCancelled, std::string(what) + " was stopped before it began");
  }
  return device.actor()->check_process();
}

Status check_arguments(const Executable& executable, std::span<const Argument> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].future().valid() || arguments[i].buffer()) continue;
    return fail(ErrorCode::kInvalidArgument, "argument " + std::to_string(i) + " of " +
                                                 executable.name() + " is an empty Buffer");
  }
  return {};
}

Status check_arguments(const Executable& executable, std::span<const Buffer> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i]) continue;
    return fail(ErrorCode::kInvalidArgument, "argument " + std::to_string(i) + " of " +
                                                 executable.name() + " is an empty Buffer");
  }
  return {};
}

template <class A>
Future<Buffers> execute_checked(const Device& device, const Executable& executable,
                                std::span<const A> arguments, const ExecuteOptions& options) {
  if (!executable)
    return fail(ErrorCode::kInvalidArgument, "execute was given an empty Executable");
  if (Status ok = check_call(device, options.call, "execute"); !ok) return ok.error();
  if (Status ok = check_arguments(executable, arguments); !ok) return ok.error();
  return LaunchOperation::submit(device, executable, arguments, options);
}

Status check_source(const Argument& source, std::string_view what) {
  if (source.future().valid() || source.buffer()) return {};
  return fail(ErrorCode::kInvalidArgument, std::string(what) + " was given an empty Buffer");
}

Status check_put(const Device& device, const HostView& view, const PutOptions& options) {
  MILLRACE_TRY_STATUS(check_call(device, options.call, "put"));
  return options.layout ? options.layout->check(view.shape.rank()) : Status();
}

Status check_spanning(std::span<const Device> devices, const Executable& executable,
                      std::span<const std::span<const Argument>> arguments,
                      const ExecuteOptions& options) {
  if (!executable)
    return fail(ErrorCode::kInvalidArgument, "launch_spanning was given an empty Executable");
  const std::string what =
      "the launch of " + executable.name() + " on " + std::to_string(devices.size()) + " devices";
  if (devices.empty() || devices.size() != arguments.size()) {
    return fail(ErrorCode::kInvalidArgument,
                what + " has arguments for " + std::to_string(arguments.size()));
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (Status ok = check_call(devices[i], options.call, "launch_spanning"); !ok) return ok;
    if (Status ok = check_arguments(executable, arguments[i]); !ok) return ok;
    if (&devices[i].client() != &devices[0].client()) {
      return fail(ErrorCode::kInvalidArgument, what + " spans two clients: they share no queue");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (devices[j].id() != devices[i].id()) continue;
      return fail(ErrorCode::kInvalidArgument,
                  what + " names device " + std::to_string(index(devices[i].id())) + " twice");
    }
  }
  return {};
}

}  // namespace

Device::Device(Ref<DeviceActor> actor) : actor_(std::move(actor)) {}
Device::~Device() = default;
Device::Device(const Device&) = default;
Device& Device::operator=(const Device&) = default;

DeviceId Device::id() const { return actor_->id(); }
const DeviceInfo& Device::info() const { return actor_->info(); }
Client& Device::client() const { return actor_->client(); }

Future<PutResult> Device::put_tracked(HostView view, const PutOptions& options) const {
  if (Status ok = check_put(*this, view, options); !ok) return ok.error();
  return PutOperation::submit_tracked(*this, std::move(view), options);
}

Future<Buffer> Device::put(HostView view, const PutOptions& options) const {
  if (Status ok = check_put(*this, view, options); !ok) return ok.error();
  return PutOperation::submit(*this, std::move(view), options);
}

Future<Buffers> Device::execute(const Executable& executable, std::span<const Buffer> arguments,
                                const ExecuteOptions& options) const {
  return execute_checked(*this, executable, arguments, options);
}

Future<Buffers> Device::execute(const Executable& executable, std::span<const Argument> arguments,
                                const ExecuteOptions& options) const {
  return execute_checked(*this, executable, arguments, options);
}

Future<HostArray> Device::fetch(const Argument& buffer, const CallOptions& options) const {
  if (Status ok = check_call(*this, options, "fetch"); !ok) return ok.error();
  if (Status ok = check_source(buffer, "fetch"); !ok) return ok.error();
  return FetchOperation::submit(*this, buffer, options);
}

Future<Buffer> Device::copy_from(const Argument& source, const CallOptions& options) const {
  if (Status ok = check_call(*this, options, "copy_from"); !ok) return ok.error();
  if (Status ok = check_source(source, "copy_from"); !ok) return ok.error();
  return CopyOperation::submit(*this, source, options);
}

Future<Owner> Device::map_host_memory(std::span<std::byte> bytes, Owner owner,
                                      const CallOptions& options) const {
  if (Status ok = check_call(*this, options, "map_host_memory"); !ok) return ok.error();
  if (bytes.empty()) {
    return fail(ErrorCode::kInvalidArgument, "map_host_memory was given no bytes");
  }
  return CallOperation<Owner>::submit(
      *this, "mapping " + std::to_string(bytes.size()) + " bytes of the host", {},
      [bytes, owner = std::move(owner)](Client& client, const Buffer& /*none*/) mutable {
        return client.map_host_memory(bytes, std::move(owner));
      },
      options);
}

Future<DeviceLayout> Device::layout_of(const Argument& buffer, const CallOptions& options) const {
  if (Status ok = check_call(*this, options, "layout_of"); !ok) return ok.error();
  if (Status ok = check_source(buffer, "layout_of"); !ok) return ok.error();
  return CallOperation<DeviceLayout>::submit(
      *this, "asking for the layout of a buffer", buffer,
      [](Client& client, const Buffer& asked) -> Result<DeviceLayout> {
        if (&asked.body()->client() == &client) return asked.body()->layout();
        return fail(ErrorCode::kInvalidArgument,
                    "layout_of was given a buffer of another client: ask a device of that one");
      },
      options);
}

Future<DeviceLayout> Device::default_layout(const Shape& shape, const CallOptions& options) const {
  if (Status ok = check_call(*this, options, "default_layout"); !ok) return ok.error();
  return CallOperation<DeviceLayout>::submit(
      *this, "asking for the layout of a " + shape.to_string(), {},
      [shape, device = id()](const Client& client, const Buffer& /*none*/) {
        return client.default_layout(shape, device);
      },
      options);
}

Future<void> Device::close() const { return actor_ ? actor_->close() : make_ready(); }
Future<void> Device::failed() const { return actor_->failed(); }
Status Device::kill(const Error& cause) const { return client().kill(id(), cause); }
Future<void> Device::restart() const { return actor_->restart(); }
DeviceStats Device::stats() const { return actor_->stats(); }

Future<Buffers> launch_spanning(std::span<const Device> devices, const Executable& executable,
                                std::span<const std::span<const Argument>> arguments,
                                LaunchOrder order, const ExecuteOptions& options) {
  if (Status ok = check_spanning(devices, executable, arguments, options); !ok) return ok.error();
  if (devices.size() == 1)
    return LaunchOperation::submit(devices[0], executable, arguments[0], options);
  return LaunchOperation::submit_spanning(devices, executable, arguments, order, options);
}

}  // namespace millrace::devices
