#include "millrace/devices/client.h"

#include <cstring>
#include <exception>
#include <new>

namespace millrace::devices {
namespace {

std::unexpected<Error> not_offered(const std::string& what, std::string_view backend) {
  return fail(ErrorCode::kUnimplemented,
              what + ": the backend '" + std::string(backend) + "' does not offer that");
}

// Copies dimensions [axis, rank); those from dense_from on are one dense block of dense_bytes.
struct Copier {
  const HostView& view;
  int dense_from;
  std::size_t dense_bytes;

  std::byte* copy(const std::byte* from, std::byte* to, int axis) const {
    if (axis == dense_from) {
      std::memcpy(to, from, dense_bytes);
      return to + dense_bytes;
    }
    const auto a = static_cast<std::size_t>(axis);
    if (axis + 1 == view.shape.rank()) return copy_row(from, to, view.byte_strides[a]);
    for (std::int64_t i = 0; i < view.shape.dim(axis); ++i) {
      to = copy(from + i * view.byte_strides[a], to, axis + 1);
    }
    return to;
  }

  template <class T>
  std::byte* copy_elements(const std::byte* from, std::byte* to, std::int64_t stride) const {
    const std::int64_t n = view.shape.dim(view.shape.rank() - 1);
    for (std::int64_t i = 0; i < n; ++i)
      std::memcpy(to + i * sizeof(T), from + i * stride, sizeof(T));
    return to + n * sizeof(T);
  }

  // The last dimension, its elements apart: a fixed width lets the compiler make a move of each
  // memcpy.
  std::byte* copy_row(const std::byte* from, std::byte* to, std::int64_t stride) const {
    struct Wide {
      std::byte bytes[16];
    };
    switch (byte_width(view.shape.dtype())) {
      case 1:
        return copy_elements<std::uint8_t>(from, to, stride);
      case 2:
        return copy_elements<std::uint16_t>(from, to, stride);
      case 4:
        return copy_elements<std::uint32_t>(from, to, stride);
      case 8:
        return copy_elements<std::uint64_t>(from, to, stride);
      default:
        return copy_elements<Wide>(from, to, stride);
    }
  }
};

// The first axis from which on everything is dense, and how many bytes that is.
Copier plan(const HostView& view) {
  int axis = view.shape.rank();
  auto bytes = static_cast<std::int64_t>(byte_width(view.shape.dtype()));
  while (axis > 0) {
    const bool matters = view.shape.dim(axis - 1) != 1 && !view.byte_strides.empty();
    if (matters && view.byte_strides[static_cast<std::size_t>(axis - 1)] != bytes) break;
    --axis;
    bytes *= view.shape.dim(axis);
  }
  return {view, axis, static_cast<std::size_t>(bytes)};
}

}  // namespace

Status check(const HostView& view) {
  const auto refuse = [&view](const std::string& why) {
    return fail(ErrorCode::kInvalidArgument, "a put of " + view.shape.to_string() + why);
  };
  if (byte_width(view.shape.dtype()) == 0) return refuse(": this element type has no bytes");
  if (view.data == nullptr && view.shape.elements() > 0) {
    return refuse(" has no data (a null pointer)");
  }
  const auto rank = static_cast<std::size_t>(view.shape.rank());
  if (!view.byte_strides.empty() && view.byte_strides.size() != rank) {
    return refuse(" has " + std::to_string(view.byte_strides.size()) + " strides for " +
                  std::to_string(rank) + " dimensions");
  }
  return {};
}

bool is_dense(const HostView& view) {
  return view.byte_strides.empty() || view.shape.elements() == 0 || plan(view).dense_from == 0;
}

void copy_dense(const HostView& view, std::byte* destination) {
  if (view.shape.elements() == 0) return;
  plan(view).copy(static_cast<const std::byte*>(view.data), destination, 0);
}

std::size_t ExecutableBody::launch_bytes() const {
  // relaxed: every thread computes the same number from immutable shapes.
  const std::size_t known = launch_bytes_.load(std::memory_order_relaxed);
  if (known != 0) return known - 1;
  auto bytes = static_cast<std::size_t>(temporary_bytes());
  bool complete = true;
  for (const Shape& shape : output_shapes()) {
    if (!is_complete(shape))
      complete = false;
    else
      bytes += shape.size_bytes();
  }
  // Where outputs are known at a launch only, temporary_bytes() has them, and it changes.
  if (complete) launch_bytes_.store(bytes + 1, std::memory_order_relaxed);
  return bytes;
}

Result<Attributes> ExecutableBody::cost_analysis() const {
  return fail(ErrorCode::kUnimplemented, "what '" + name() + "' costs is not estimated here");
}

const Attributes& Client::attributes() const {
  static const Attributes none;
  return none;
}

Result<Executable> Client::load_compiled(std::string_view serialized, const Program& /*program*/,
                                         const CompileOptions& /*options*/) {
  return load(serialized);
}

Client::PutMemorySource Client::put_memory(DeviceId /*device*/) {
  return [](const Shape& shape) -> Result<PutMemory> {
    try {
      return PutMemory{HostArray::make_unwritten(shape),
                       HostBufferSemantics::kImmutableUntilTransferCompletes};
    } catch (const std::bad_alloc&) {
      return std::unexpected(detail::exception_to_error(std::current_exception())
                                 .with_context("the copy of a " + shape.to_string() +
                                               " that a put without an owner makes"));
    }
  };
}

Result<PutResult> Client::put_in(const HostView& view, HostBufferSemantics semantics,
                                 DeviceId device, int memory, const DeviceLayout& layout) {
  if (layout == DeviceLayout::row_major(view.shape.rank()))
    return put(view, semantics, device, memory);
  return not_offered("putting a " + view.shape.to_string() + " in the layout " + layout.to_text(),
                     platform_name());
}

Result<DeviceLayout> Client::default_layout(const Shape& shape, DeviceId /*device*/) const {
  return DeviceLayout::row_major(shape.rank());
}

// An override takes the owner over.
Result<Owner> Client::map_host_memory(
    std::span<std::byte> bytes, Owner /*owner*/) {  // NOLINT(performance-unnecessary-value-param)
  return not_offered("mapping " + std::to_string(bytes.size()) + " bytes of the host",
                     platform_name());
}

Status Client::kill(DeviceId device, const Error& /*cause*/) {
  return fail(ErrorCode::kUnimplemented, name_of(device) +
                                             " was not declared failed: the backend '" +
                                             std::string(platform_name()) + "' cannot do that");
}

Status Client::restart(DeviceId device) {
  return fail(ErrorCode::kUnimplemented, name_of(device) + " was not restarted: the backend '" +
                                             std::string(platform_name()) +
                                             "' cannot do that; restart the process");
}

}  // namespace millrace::devices
