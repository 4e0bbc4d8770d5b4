// Bytes out of arrays: to the host, and to other devices and memories. Read next: buffer.h.
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/exec/make_executor.h"
#include "millrace/tools/pjrt_plugin/buffer.h"
#include "millrace/tools/pjrt_plugin/error.h"
#include "millrace/tools/pjrt_plugin/event.h"

namespace millrace::pjrt_plugin {
namespace {

// The order in which the caller wants the elements, major dimension first; empty: row-major.
Result<std::vector<std::int64_t>> host_order(const abi::MemoryLayout* layout,
                                             const devices::Shape& shape) {
  if (check_row_major(layout, shape)) return std::vector<std::int64_t>();
  const abi::TiledLayout& tiled = layout->tiled;
  const auto rank = static_cast<std::size_t>(shape.rank());
  if (layout->type != abi::LayoutType::kTiled || tiled.num_tiles != 0 ||
      tiled.minor_to_major_size != rank || tiled.minor_to_major == nullptr) {
    return fail(ErrorCode::kUnimplemented,
                "the host layout for " + shape.to_string() +
                    " has tiles or strides: an order of its dimensions is possible");
  }
  std::vector<std::int64_t> order(tiled.minor_to_major, tiled.minor_to_major + rank);
  MILLRACE_TRY_STATUS(devices::DeviceLayout{.minor_to_major = order}.check(shape.rank()));
  return std::vector<std::int64_t>(order.rbegin(), order.rend());
}

// Writes the elements of row-major bytes in that order of dimensions, densely.
void copy_in_order(const std::byte* from, const devices::Shape& shape,
                   std::span<const std::int64_t> order, std::byte* to) {
  std::vector<std::int64_t> strides(order.size()), dims(order.size()), in_order(order.size());
  std::int64_t stride = static_cast<std::int64_t>(devices::byte_width(shape.dtype()));
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape.dim(static_cast<int>(i));
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    dims[i] = shape.dim(static_cast<int>(order[i]));
    in_order[i] = strides[static_cast<std::size_t>(order[i])];
  }
  devices::copy_dense({.data = from,
                       .shape = devices::Shape(shape.dtype(), std::span<const std::int64_t>(dims)),
                       .byte_strides = in_order},
                      to);
}

Status fetch(abi::Buffer& buffer, abi::BufferToHostBufferArgs& a) {
  const devices::Shape& shape = buffer.array.shape();
  const std::size_t size = shape.size_bytes();
  if (a.dst == nullptr) {  // the size is asked for
    a.dst_size = size;
    return {};
  }
  if (a.dst_size < size) {
    return fail(ErrorCode::kInvalidArgument, shape.to_string() + " has " + std::to_string(size) +
                                                 " bytes, the host has room for " +
                                                 std::to_string(a.dst_size));
  }
  MILLRACE_TRY(std::vector<std::int64_t> order, host_order(a.host_layout, shape));
  auto* const to = static_cast<std::byte*>(a.dst);
  if (order.empty()) {
    a.event = make_event(buffer.array.body()->copy_to_host({to, size}, nullptr));
    return {};
  }
  // The copy is made where callbacks run: it is rare, and needs the whole array.
  a.event = make_event(buffer.array.ready().then(
      callbacks(),
      [array = buffer.array, order = std::move(order), to](Result<void> ready) -> Status {
        MILLRACE_TRY_STATUS(ready);
        MILLRACE_TRY(const devices::HostAccess access, array.host_access());
        copy_in_order(access.bytes.data(), array.shape(), order, to);
        return {};
      }));
  return {};
}

// Some of the bytes of an array.
struct Piece {
  devices::Buffer array;
  std::size_t offset, size;
};

Result<Piece> piece_of(const abi::Buffer& buffer, std::int64_t offset, std::int64_t size) {
  const auto all = static_cast<std::int64_t>(buffer.array.size_bytes());
  if (offset < 0 || size < 0 || offset > all || size > all - offset) {
    return fail(ErrorCode::kInvalidArgument, "bytes " + std::to_string(offset) + " and " +
                                                 std::to_string(size) + " more are not in " +
                                                 buffer.array.shape().to_string());
  }
  return Piece{buffer.array, static_cast<std::size_t>(offset), static_cast<std::size_t>(size)};
}

// Once the array is there.
Future<void> copy_raw(const Piece& from, void* to) {
  if (to == nullptr && from.size != 0)
    return fail(ErrorCode::kInvalidArgument, "the destination of a copy is null");
  return from.array.ready().then(
      inline_executor(), [from, to](const Result<void>& ready) -> Status {
        MILLRACE_TRY_STATUS(ready);
        MILLRACE_TRY(const devices::HostAccess access, from.array.host_access());
        if (from.size != 0) std::memcpy(to, access.bytes.data() + from.offset, from.size);
        return {};
      });
}

Status fetch_raw(const abi::Buffer& buffer, abi::BufferCopyRawToHostArgs& a) {
  MILLRACE_TRY(const Piece piece, piece_of(buffer, a.offset, a.transfer_size));
  if (a.dst == nullptr && a.transfer_size != 0)
    return fail(ErrorCode::kInvalidArgument, "the destination of a copy is null");
  a.event = make_event(copy_raw(piece, a.dst));
  return {};
}

// A copy whose destination its caller has yet to name.
struct LateCopy final : Handle<LateCopy> {
  explicit LateCopy(Piece from) : piece(std::move(from)) {}
  const Piece piece;
  Promise<void> done;
};

void begin_copy(abi::DestinationReady* given) {
  if (given == nullptr || given->struct_size < sizeof(abi::DestinationReady)) return;
  auto* const copy = static_cast<LateCopy*>(given->data);
  if (copy == nullptr || !copy->is_live()) return;
  const std::unique_ptr<LateCopy> ended(copy);
  Promise<void> done = std::move(copy->done);
  if (given->error_code != 0) {
    return done.set_error(
        from_caller(given->error_code, given->error_message, given->error_message_size));
  }
  copy_raw(copy->piece, given->destination)
      .then(inline_executor(),
            [done = std::move(done)](const Result<void>& copied) mutable { done.set(copied); })
      .ignore();
}

Status fetch_raw_later(const abi::Buffer& buffer, abi::BufferCopyRawToHostFutureArgs& a) {
  MILLRACE_TRY(Piece piece, piece_of(buffer, a.offset, a.transfer_size));
  auto copy = std::make_unique<LateCopy>(std::move(piece));
  a.event = make_event(copy->done.future());
  a.data = copy.release();
  a.ready = &begin_copy;
  return {};
}

// A copy of its own, also where it is there already.
Result<abi::Buffer*> copy(abi::Buffer& buffer, abi::Memory* given, abi::Device* device) {
  MILLRACE_TRY(abi::Memory* const memory, target_memory(*buffer.body, given, device));
  MILLRACE_TRY(devices::Buffer made,
               buffer.body->cpu().copy(buffer.array, memory->device->id(), -1));
  return make_buffer(*buffer.body, std::move(made), memory, buffer.late);
}

}  // namespace

void add_fetches(abi::Api& api) {
  add<&abi::BufferToHostBufferArgs::event, "event">(api,
                                                    [](abi::BufferToHostBufferArgs& a) -> Status {
                                                      MILLRACE_GIVEN(buffer, src);
                                                      return fetch(buffer, a);
                                                    });
  add<&abi::BufferCopyRawToHostArgs::event, "event">(api,
                                                     [](abi::BufferCopyRawToHostArgs& a) -> Status {
                                                       MILLRACE_GIVEN(buffer, buffer);
                                                       return fetch_raw(buffer, a);
                                                     });
  add<&abi::BufferCopyRawToHostFutureArgs::ready, "future_ready_callback">(
      api, [](abi::BufferCopyRawToHostFutureArgs& a) -> Status {
        MILLRACE_GIVEN(buffer, buffer);
        return fetch_raw_later(buffer, a);
      });
  add<&abi::BufferCopyToDeviceArgs::dst_buffer, "dst_buffer">(
      api, [](abi::BufferCopyToDeviceArgs& a) -> Status {
        MILLRACE_GIVEN(buffer, buffer);
        MILLRACE_TRY(a.dst_buffer, copy(buffer, nullptr, a.dst_device));
        return {};
      });
  add<&abi::BufferCopyToMemoryArgs::dst_buffer, "dst_buffer">(
      api, [](abi::BufferCopyToMemoryArgs& a) -> Status {
        MILLRACE_GIVEN(buffer, buffer);
        MILLRACE_TRY(a.dst_buffer, copy(buffer, a.dst_memory, nullptr));
        return {};
      });
}

}  // namespace millrace::pjrt_plugin
