// Arrays from host bytes, in place where the caller allows it and they lie well enough. Read next:
// buffer.h; devices/cpu/copy.h.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "millrace/core/exec/make_executor.h"
#include "millrace/tools/pjrt_plugin/buffer.h"
#include "millrace/tools/pjrt_plugin/error.h"
#include "millrace/tools/pjrt_plugin/event.h"

namespace millrace::pjrt_plugin {
namespace {

using devices::HostBufferSemantics;

Result<HostBufferSemantics> read_semantics(int given) {
  if (given < 0 || given > static_cast<int>(HostBufferSemantics::kMutableZeroCopy)) {
    return fail(ErrorCode::kInvalidArgument,
                "the host buffer semantics are " + std::to_string(given) + ", not 0 to 3");
  }
  return static_cast<HostBufferSemantics>(given);
}

// Bytes are used in place where XLA's client does so: from 100 KiB on, aligned to 64, as NumPy's
// rarely are. JAX promises for all that they stay as they are; but a program may write to x once
// jnp.array(x) has returned, whose copy is a launch that may still wait. And to release few bytes
// later would wake the thread of callbacks, which costs more than the copy.
HostBufferSemantics how_to_put(const abi::ClientBufferFromHostBufferArgs& a,
                               HostBufferSemantics semantics, const devices::Shape& shape) {
  constexpr std::size_t kFewBytes = 100 << 10;
  constexpr std::uintptr_t kAlignment = 64;
  const bool in_place =
      shape.size_bytes() > kFewBytes && reinterpret_cast<std::uintptr_t>(a.data) % kAlignment == 0;
  return semantics == HostBufferSemantics::kImmutableZeroCopy && !in_place
             ? HostBufferSemantics::kImmutableOnlyDuringCall
             : semantics;
}

Result<devices::PutResult> put_narrow(const ClientBody& body, const devices::HostView& view,
                                      devices::DeviceId device) {
  MILLRACE_TRY_STATUS(devices::check(view));
  MILLRACE_TRY(devices::Client::PutMemory memory, body.cpu().put_memory(device)(view.shape));
  const std::span<std::byte> bytes = memory.array.mutable_bytes();
  devices::copy_dense(view, bytes.data());
  set_spare_bits(view.shape.dtype(), bytes);
  return body.cpu().put({.data = bytes.data(), .shape = view.shape, .owner = memory.array.owner()},
                        memory.semantics, device, -1);
}

Status put(const ClientBody& body, abi::ClientBufferFromHostBufferArgs& a) {
  MILLRACE_TRY(const devices::Shape shape, read_shape(a.type, a.dims, a.num_dims));
  MILLRACE_TRY(const HostBufferSemantics semantics, read_semantics(a.host_buffer_semantics));
  MILLRACE_TRY(abi::Memory* const memory, target_memory(body, a.memory, a.device));
  MILLRACE_TRY_STATUS(check_row_major(a.device_layout, shape));
  if (a.num_byte_strides != 0 && a.byte_strides == nullptr)
    return fail(ErrorCode::kInvalidArgument, "the strides of an array are null");
  // Strides of a scalar are none, however they come.
  const std::size_t strides = shape.rank() == 0 ? 0 : a.num_byte_strides;
  const devices::HostView view{
      .data = a.data, .shape = shape, .byte_strides = {a.byte_strides, strides}};
  MILLRACE_TRY(devices::PutResult put, has_spare_bits(shape.dtype())
                                           ? put_narrow(body, view, memory->device->id())
                                           : body.cpu().put(view, how_to_put(a, semantics, shape),
                                                            memory->device->id(), -1));
  if (!put.source_released.valid()) put.source_released = make_ready();
  std::unique_ptr<abi::Buffer> buffer(
      make_buffer(memory->device->body, std::move(put.buffer), memory));
  a.done_with_host_buffer = make_event(std::move(put.source_released));
  a.buffer = buffer.release();
  return {};
}

// Calls back when the last user of the bytes has ended: here, where a caller has ended it, on the
// thread of callbacks where that is a thread of ours.
struct ViewEnd {
  void (*callback)(void* pointer, void* user_arg);
  void* pointer;
  void* user_arg;
  void operator()(const void* /*bytes*/) const {
    if (callback == nullptr) return;
    if (current_pool() == nullptr) return callback(pointer, user_arg);
    post(callbacks(), [end = *this] { end.callback(end.pointer, end.user_arg); });
  }
};

Status view(const ClientBody& body, abi::ClientCreateViewOfDeviceBufferArgs& a) {
  MILLRACE_TRY(const devices::Shape shape, read_shape(a.type, a.dims, a.num_dims));
  MILLRACE_TRY(abi::Memory* const memory, target_memory(body, a.memory, a.device));
  MILLRACE_TRY(const std::vector<std::int64_t> strides, strides_of(a.layout, shape));
  const devices::HostView bytes{
      .data = a.device_buffer_ptr, .shape = shape, .byte_strides = strides};
  MILLRACE_TRY_STATUS(devices::check(bytes));
  devices::HostView owned = bytes;
  // From here on the callback comes, whatever else fails.
  owned.owner =
      devices::Owner(a.device_buffer_ptr,
                     ViewEnd{a.on_delete_callback, a.device_buffer_ptr, a.on_delete_callback_arg});
  // Bytes that lie badly, or in another order, are copied: at an error here JAX would try what its
  // client cannot do.
  const devices::DeviceId id = memory->device->id();
  MILLRACE_TRY(devices::PutResult put,
               has_spare_bits(shape.dtype())
                   ? put_narrow(body, owned, id)
                   : body.cpu().put(owned, HostBufferSemantics::kMutableZeroCopy, id, -1));
  if (put.source_released.valid()) put.source_released.ignore();
  a.buffer = make_buffer(memory->device->body, std::move(put.buffer), memory);
  return {};
}

Status make_uninitialised(const ClientBody& body, abi::ClientCreateUninitializedBufferArgs& a) {
  MILLRACE_TRY(const devices::Shape shape, read_shape(a.type, a.dims, a.num_dims));
  MILLRACE_TRY(abi::Memory* const memory, target_memory(body, a.memory, a.device));
  MILLRACE_TRY_STATUS(check_row_major(a.layout, shape));
  const devices::DeviceId device = memory->device->id();
  MILLRACE_TRY(devices::Client::PutMemory bytes, body.cpu().put_memory(device)(shape));
  const devices::HostView view{
      .data = bytes.array.bytes().data(), .shape = shape, .owner = bytes.array.owner()};
  MILLRACE_TRY(devices::PutResult put, body.cpu().put(view, bytes.semantics, device, -1));
  a.buffer = make_buffer(memory->device->body, std::move(put.buffer), memory);
  return {};
}

}  // namespace

bool has_spare_bits(devices::DType type) {
  return type != devices::DType::kI1 && devices::bit_width(type) < 8;
}

void set_spare_bits(devices::DType type, std::span<std::byte> bytes) {
  const int spare = 8 - devices::bit_width(type);
  const bool is_signed = devices::is_signed_integer(type);
  for (std::byte& byte : bytes) {
    const auto up = static_cast<std::uint8_t>(std::to_integer<unsigned>(byte) << spare);
    byte = is_signed ? static_cast<std::byte>(static_cast<std::int8_t>(up) >> spare)
                     : static_cast<std::byte>(up >> spare);
  }
}

void add_puts(abi::Api& api) {
  add<&abi::ClientBufferFromHostBufferArgs::buffer, "buffer">(
      api, [](abi::ClientBufferFromHostBufferArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        const Status status = put(*client.body, a);
        if (!status) return std::unexpected(status.error().with_context("cannot put an array"));
        return {};
      });
  add<&abi::ClientCreateViewOfDeviceBufferArgs::buffer, "buffer">(
      api, [](abi::ClientCreateViewOfDeviceBufferArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        return view(*client.body, a);
      });
  add<&abi::ClientCreateUninitializedBufferArgs::buffer, "buffer">(
      api, [](abi::ClientCreateUninitializedBufferArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        return make_uninitialised(*client.body, a);
      });
}

}  // namespace millrace::pjrt_plugin
