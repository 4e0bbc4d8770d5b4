#include "millrace/devices/device.h"

#include <functional>
#include <string>

#include "millrace/devices/launch_operation.h"
#include "millrace/devices/transfer_operation.h"

namespace millrace::devices {
namespace {

std::unexpected<Error> empty_error(std::string_view what) {
  return fail(ErrorCode::kInvalidArgument, std::string(what) + " was called on an empty Device");
}

// The first thing that is wrong with a call before it becomes an operation.
Status check_call(const Device& device, const CallOptions& options, std::string_view what) {
  if (!device) return empty_error(what);
  MILLRACE_TRY_STATUS(check_in_time(options, device.body()->clock(), what));
  return device.body()->check_there();
}

bool is_empty(const Buffer& buffer) { return !buffer; }
bool is_empty(const Argument& argument) { return !argument.future().valid() && !argument.buffer(); }

template <class A>
Status check_arguments(const Executable& executable, std::span<const A> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_empty(arguments[i])) continue;
    return fail(ErrorCode::kInvalidArgument, "argument " + std::to_string(i) + " of " +
                                                 executable.name() + " is an empty Buffer");
  }
  return {};
}

Status check_executable(const Device& device, const Executable& executable, std::string_view what) {
  if (!executable) {
    return fail(ErrorCode::kInvalidArgument, std::string(what) + " was given an empty Executable");
  }
  if (&executable.body()->client() == &device.client()) return {};
  return fail(ErrorCode::kInvalidArgument, std::string(what) + " on " + name_of(device.id()) +
                                               " was given the executable " + executable.name() +
                                               " of another client: compile it with that of the "
                                               "device");
}

template <class A>
Future<Buffers> execute_checked(const Device& device, const Executable& executable,
                                std::span<const A> arguments, const ExecuteOptions& options) {
  Status ok = check_call(device, options.call, "execute");
  if (ok) ok = check_executable(device, executable, "execute");
  if (ok) ok = check_arguments(executable, arguments);
  if (!ok) return LaunchOperation::refuse(executable, ok.error());
  return LaunchOperation::submit(*device.body(), executable, arguments, options);
}

Status check_source(const Argument& source, std::string_view what) {
  if (!is_empty(source)) return {};
  return fail(ErrorCode::kInvalidArgument, std::string(what) + " was given an empty Buffer");
}

Status check_put(const Device& device, const HostView& view, const PutOptions& options) {
  MILLRACE_TRY_STATUS(check_call(device, options.call, "put"));
  return options.layout ? options.layout->check(view.shape.rank()) : Status();
}

// Bytes without an owner become a copy that the device takes over.
Result<HostBufferSemantics> own_bytes(HostView& view, const Device& device) {
  if (view.owner != nullptr) return HostBufferSemantics::kImmutableZeroCopy;
  MILLRACE_TRY_STATUS(check(view));
  MILLRACE_TRY(Client::PutMemory memory, device.body()->put_memory(view.shape));
  copy_dense(view, memory.array.mutable_bytes().data());
  view.data = memory.array.bytes().data();
  view.byte_strides = {};
  view.owner = memory.array.owner();
  return memory.semantics;
}

Status check_spanning(std::span<const Device> devices, const Executable& executable,
                      std::span<const std::span<const Argument>> arguments,
                      const ExecuteOptions& options) {
  if (!executable) {
    return fail(ErrorCode::kInvalidArgument, "launch_spanning was given an empty Executable");
  }
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
                  what + " names " + name_of(devices[i].id()) + " twice");
    }
  }
  return check_executable(devices[0], executable, "launch_spanning");
}

// A call of the client that neither launches nor moves bytes, on the device's thread like all
// others: mapping host memory, asking for a layout. Over when the call has returned. Waits for its
// argument, if it has one, and for nothing else.
template <class T>
class CallOperation final : public ResultOperation<T> {
 public:
  // about: of an empty Buffer, if there is none.
  using Call = std::move_only_function<Result<T>(Client& client, const Buffer& about)>;

  // what: for errors, "mapping 64 bytes of the host".
  static Future<T> submit(DeviceBody& device, std::string what, const Argument& about, Call call,
                          const CallOptions& options) {
    auto* operation = new CallOperation(std::move(what), std::move(call));
    return operation->submitted(device, about, operation->about_, options);
  }

  Operation::Kind kind() const override { return Operation::Kind::kCall; }
  std::size_t bytes() const override { return 0; }
  std::string describe() const override {
    return what_ + " on " + name_of(this->seat_.device->id());
  }

 protected:
  bool call_client(Seat& seat) override {
    this->result_->try_set(call_(seat.device->client(), about_));
    about_ = {};
    return true;
  }
  bool abandonable() const override { return true; }

 private:
  CallOperation(std::string what, Call call) : what_(std::move(what)), call_(std::move(call)) {}

  const std::string what_;
  Call call_;
  Buffer about_;
};

}  // namespace

Status Device::check_elements(const Shape& shape, std::size_t values) {
  if (static_cast<std::uint64_t>(shape.elements()) == values) return {};
  return fail(ErrorCode::kInvalidArgument, "a put of " + shape.to_string() + " was given " +
                                               std::to_string(values) + " values, not " +
                                               std::to_string(shape.elements()));
}

Future<Buffer> Device::put(HostView view, const PutOptions& options) const {
  if (Status ok = check_put(*this, view, options); !ok) return ok.error();
  const Result<HostBufferSemantics> semantics = own_bytes(view, *this);
  if (!semantics) return semantics.error();
  return PutOperation<Buffer>::submit(*body_, std::move(view), *semantics, options);
}

Future<PutResult> Device::put_borrowed(HostView view, HostBufferSemantics semantics,
                                       const PutOptions& options) const {
  if (Status ok = check_put(*this, view, options); !ok) return ok.error();
  if (semantics == HostBufferSemantics::kPutMemory) {
    return fail(ErrorCode::kInvalidArgument,
                "put_borrowed was given kPutMemory, which is for memory that the device gave");
  }
  return PutOperation<PutResult>::submit(*body_, std::move(view), semantics, options);
}

Future<Buffers> Device::execute_all(const Executable& executable, std::span<const Buffer> arguments,
                                    const ExecuteOptions& options) const {
  return execute_checked(*this, executable, arguments, options);
}

Future<Buffers> Device::execute(const Executable& executable, const ListOf<Argument>& arguments,
                                const ExecuteOptions& options) const {
  return execute_checked(*this, executable, std::span<const Argument>(arguments), options);
}

Future<HostArray> Device::fetch(const Argument& buffer, const CallOptions& options) const {
  if (Status ok = check_call(*this, options, "fetch"); !ok) return ok.error();
  if (Status ok = check_source(buffer, "fetch"); !ok) return ok.error();
  return FetchOperation::submit(*body_, buffer, options);
}

Future<Buffer> Device::copy_from(const Argument& source, const CallOptions& options) const {
  if (Status ok = check_call(*this, options, "copy_from"); !ok) return ok.error();
  if (Status ok = check_source(source, "copy_from"); !ok) return ok.error();
  return CopyOperation::submit(*body_, source, options);
}

Future<Owner> Device::map_host_memory(std::span<std::byte> bytes, Owner owner,
                                      const CallOptions& options) const {
  if (Status ok = check_call(*this, options, "map_host_memory"); !ok) return ok.error();
  if (bytes.empty()) {
    return fail(ErrorCode::kInvalidArgument, "map_host_memory was given no bytes");
  }
  return CallOperation<Owner>::submit(
      *body_, "mapping " + std::to_string(bytes.size()) + " bytes of the host", {},
      [bytes, owner = std::move(owner)](Client& client, const Buffer& /*none*/) mutable {
        return client.map_host_memory(bytes, std::move(owner));
      },
      options);
}

Future<DeviceLayout> Device::layout_of(const Argument& buffer, const CallOptions& options) const {
  if (Status ok = check_call(*this, options, "layout_of"); !ok) return ok.error();
  if (Status ok = check_source(buffer, "layout_of"); !ok) return ok.error();
  return CallOperation<DeviceLayout>::submit(
      *body_, "asking for the layout of a buffer", buffer,
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
      *body_, "asking for the layout of a " + shape.to_string(), {},
      [shape, device = id()](const Client& client, const Buffer& /*none*/) {
        return client.default_layout(shape, device);
      },
      options);
}

Future<void> Device::close() const { return body_ ? body_->close() : make_ready(); }
Future<void> Device::failed() const {
  if (!body_) return empty_error("failed");
  return body_->failed();
}
Status Device::kill(const Error& cause) const {
  if (!body_) return empty_error("kill");
  MILLRACE_TRY_STATUS(body_->check_there());
  return client().kill(id(), cause);
}
Future<void> Device::restart() const {
  if (!body_) return empty_error("restart");
  return body_->restart();
}
DeviceStats Device::stats() const { return there().stats(); }

Future<Buffers> launch_spanning(std::span<const Device> devices, const Executable& executable,
                                std::span<const std::span<const Argument>> arguments,
                                LaunchOrder order, const ExecuteOptions& options) {
  if (Status ok = check_spanning(devices, executable, arguments, options); !ok)
    return LaunchOperation::refuse(executable, ok.error());
  if (devices.size() == 1)
    return LaunchOperation::submit(*devices[0].body(), executable, arguments[0], options);
  PooledArray<DeviceBody*> bodies(devices.size());
  for (std::size_t d = 0; d < devices.size(); ++d) bodies[d] = devices[d].body().get();
  return LaunchOperation::submit_spanning(bodies.span(), executable, arguments, order, options);
}

}  // namespace millrace::devices
