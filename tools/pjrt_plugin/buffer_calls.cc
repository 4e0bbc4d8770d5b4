// What callers ask of a buffer. Read next: buffer.h.
#include <algorithm>
#include <string>

#include "millrace/tools/pjrt_plugin/buffer.h"
#include "millrace/tools/pjrt_plugin/error.h"
#include "millrace/tools/pjrt_plugin/event.h"

namespace millrace::pjrt_plugin {
namespace {

std::unexpected<Error> deleted_error(const abi::Buffer& buffer, std::string_view what) {
  return fail(ErrorCode::kFailedPrecondition, std::string(what) + " of " +
                                                  buffer.array.shape().to_string() +
                                                  ", which was deleted or donated before");
}

void add_facts(abi::Api& api) {
  add<&abi::BufferElementTypeArgs::type, "type">(api, [](abi::BufferElementTypeArgs& a) -> Status {
    MILLRACE_GIVEN(buffer, buffer);
    a.type = buffer.type();
    return {};
  });
  add<&abi::BufferDimensionsArgs::num_dims, "num_dims">(
      api, [](abi::BufferDimensionsArgs& a) -> Status {
        MILLRACE_GIVEN(buffer, buffer);
        a.dims = buffer.array.shape().dims().data();
        a.num_dims = buffer.token.valid() ? 0 : buffer.array.shape().dims().size();
        return {};
      });
  add<&abi::BufferUnpaddedDimensionsArgs::num_dims, "num_dims">(
      api, [](abi::BufferUnpaddedDimensionsArgs& a) -> Status {
        MILLRACE_GIVEN(buffer, buffer);
        a.dims = buffer.array.shape().dims().data();
        a.num_dims = buffer.token.valid() ? 0 : buffer.array.shape().dims().size();
        return {};
      });
  add<&abi::BufferDynamicDimensionIndicesArgs::num_indices, "num_dynamic_dims">(
      api, [](abi::BufferDynamicDimensionIndicesArgs& a) -> Status {
        MILLRACE_GIVEN(buffer, buffer);
        a.indices = nullptr;
        a.num_indices = 0;
        return {};
      });
  add<&abi::BufferGetMemoryLayoutArgs::layout, "layout">(
      api, [](abi::BufferGetMemoryLayoutArgs& a) -> Status {
        MILLRACE_GIVEN(buffer, buffer);
        a.layout = *devices::pjrt::WrittenLayout::row_major(buffer.array.shape().rank());
        return {};
      });
  add<&abi::BufferOnDeviceSizeInBytesArgs::on_device_size_in_bytes, "on_device_size_in_bytes">(
      api, [](abi::BufferOnDeviceSizeInBytesArgs& a) -> Status {
        MILLRACE_GIVEN(buffer, buffer);
        a.on_device_size_in_bytes = buffer.array.size_bytes();
        return {};
      });
  add<&abi::BufferDeviceArgs::device, "device">(api, [](abi::BufferDeviceArgs& a) -> Status {
    MILLRACE_GIVEN(buffer, buffer);
    a.device = buffer.memory->device;
    return {};
  });
  add<&abi::BufferMemoryArgs::memory, "memory">(api, [](abi::BufferMemoryArgs& a) -> Status {
    MILLRACE_GIVEN(buffer, buffer);
    a.memory = buffer.memory;
    return {};
  });
  add<&abi::BufferIsOnCpuArgs::is_on_cpu, "is_on_cpu">(api,
                                                       [](abi::BufferIsOnCpuArgs& a) -> Status {
                                                         MILLRACE_GIVEN(buffer, buffer);
                                                         a.is_on_cpu = true;
                                                         return {};
                                                       });
}

}  // namespace

Result<abi::Buffer*> make_token(ClientBody& body, abi::Memory* memory, Future<void> done) {
  static constexpr std::byte kNothing{};
  const devices::HostView empty{.data = &kNothing,
                                .shape = devices::Shape(devices::DType::kI1, {0})};
  MILLRACE_TRY(devices::PutResult put,
               body.cpu().put(empty, devices::HostBufferSemantics::kImmutableOnlyDuringCall,
                              memory->device->id(), -1));
  return new abi::Buffer(Ref<ClientBody>::share(&body), std::move(put.buffer), memory,
                         std::move(done));
}

Result<devices::Shape> read_shape(abi::BufferType type, const std::int64_t* dims,
                                  std::size_t num_dims) {
  const devices::DType dtype = devices::pjrt::from_buffer_type(type);
  if (dtype == devices::DType::kInvalid || dtype == devices::DType::kToken) {
    return fail(ErrorCode::kUnimplemented, "arrays of PJRT's element type " +
                                               std::to_string(static_cast<int>(type)) +
                                               " are not there");
  }
  if (num_dims > static_cast<std::size_t>(devices::kMaxRank)) {
    return fail(ErrorCode::kUnimplemented,
                "an array of " + std::to_string(num_dims) + " dimensions has more than the " +
                    std::to_string(devices::kMaxRank) + " that there may be");
  }
  if (num_dims != 0 && dims == nullptr)
    return fail(ErrorCode::kInvalidArgument, "the dimensions of an array are null");
  const std::span<const std::int64_t> given(dims, num_dims);
  std::int64_t elements = 1;
  bool is_empty = false, is_possible = true;
  for (const std::int64_t d : given) {
    if (d < 0) return fail(ErrorCode::kInvalidArgument, "a dimension is " + std::to_string(d));
    is_empty = is_empty || d == 0;
    is_possible =
        is_possible && !__builtin_mul_overflow(elements, std::max<std::int64_t>(d, 1), &elements);
  }
  std::int64_t bytes = 0;
  const auto width = static_cast<std::int64_t>(devices::byte_width(dtype));
  if (!is_empty && (!is_possible || __builtin_mul_overflow(elements, width, &bytes)))
    return fail(ErrorCode::kInvalidArgument, "an array has more than 2^63 bytes");
  return devices::Shape(dtype, given);
}

namespace {

std::unexpected<Error> no_layout(const devices::Shape& shape, const std::string& wanted) {
  return fail(ErrorCode::kUnimplemented, shape.to_string() + " cannot be in the layout " + wanted +
                                             ": the backend 'cpu' keeps arrays row-major");
}

Result<devices::DeviceLayout> read_layout(const abi::MemoryLayout* layout,
                                          const devices::Shape& shape) {
  devices::DeviceLayout given = devices::DeviceLayout::row_major(shape.rank());
  if (layout == nullptr) return given;
  if (layout->type != abi::LayoutType::kTiled) return no_layout(shape, "by strides");
  const abi::TiledLayout& tiled = layout->tiled;
  given.minor_to_major.clear();
  if (tiled.minor_to_major != nullptr) {
    given.minor_to_major.assign(tiled.minor_to_major,
                                tiled.minor_to_major + tiled.minor_to_major_size);
  }
  MILLRACE_TRY_STATUS(given.check(shape.rank()));
  if (tiled.num_tiles != 0) return no_layout(shape, given.to_text() + " with tiles");
  return given;
}

}  // namespace

Status check_row_major(const abi::MemoryLayout* layout, const devices::Shape& shape) {
  MILLRACE_TRY(const devices::DeviceLayout given, read_layout(layout, shape));
  if (given == devices::DeviceLayout::row_major(shape.rank())) return {};
  return no_layout(shape, given.to_text());
}

Result<std::vector<std::int64_t>> strides_of(const abi::MemoryLayout* layout,
                                             const devices::Shape& shape) {
  MILLRACE_TRY(const devices::DeviceLayout given, read_layout(layout, shape));
  if (given == devices::DeviceLayout::row_major(shape.rank()) || shape.elements() == 0)
    return std::vector<std::int64_t>();
  std::vector<std::int64_t> strides(given.minor_to_major.size());
  auto stride = static_cast<std::int64_t>(devices::byte_width(shape.dtype()));
  for (const std::int64_t d : given.minor_to_major) {
    strides[static_cast<std::size_t>(d)] = stride;
    stride *= shape.dim(static_cast<int>(d));
  }
  return strides;
}

Result<abi::Memory*> target_memory(const ClientBody& body, abi::Memory* memory,
                                   abi::Device* device) {
  if (memory == nullptr) {
    if (device == nullptr || !device->is_live())
      return fail(ErrorCode::kInvalidArgument,
                  "a place for an array is wanted: a memory or a device");
    memory = device->memory_list[0];
  }
  if (!memory->is_live())
    return fail(ErrorCode::kInvalidArgument, "the memory for an array is none of this plugin's");
  MILLRACE_TRY_STATUS(body.check(*memory));
  return memory;
}

void add_buffers(abi::Api& api) {
  add_facts(api);
  add<&abi::BufferDestroyArgs::buffer, "buffer">(api, [](abi::BufferDestroyArgs& a) -> Status {
    MILLRACE_GIVEN(buffer, buffer);
    delete &buffer;
    return {};
  });
  add<&abi::BufferDeleteArgs::buffer, "buffer">(api, [](abi::BufferDeleteArgs& a) -> Status {
    MILLRACE_GIVEN(buffer, buffer);
    buffer.array.remove();
    return {};
  });
  add<&abi::BufferIsDeletedArgs::is_deleted, "is_deleted">(
      api, [](abi::BufferIsDeletedArgs& a) -> Status {
        MILLRACE_GIVEN(buffer, buffer);
        a.is_deleted = buffer.array.removed();
        return {};
      });
  add<&abi::BufferReadyEventArgs::event, "event">(api, [](abi::BufferReadyEventArgs& a) -> Status {
    MILLRACE_GIVEN(buffer, buffer);
    Future<void> ready = buffer.token.valid() ? buffer.token : buffer.array.ready();
    ready.ignore();
    if (ready.ready() && buffer.array.removed()) return deleted_error(buffer, "the ready event");
    a.event = make_event(std::move(ready));
    return {};
  });
}

}  // namespace millrace::pjrt_plugin
