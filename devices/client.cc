#include "millrace/devices/client.h"

#include <new>

#include "millrace/devices/shape_pattern.h"

namespace millrace::devices {

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
  // Where outputs are known at a launch only, temporary_bytes() tells of them, and it changes.
  if (complete) launch_bytes_.store(bytes + 1, std::memory_order_relaxed);
  return bytes;
}

namespace {
std::unexpected<Error> not_offered(const std::string& what, std::string_view backend) {
  return fail(ErrorCode::kUnimplemented,
              what + ": the backend '" + std::string(backend) + "' does not offer that");
}
}  // namespace

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
      return fail(ErrorCode::kResourceExhausted,
                  "there is no host memory for the copy of a " + shape.to_string() +
                      " that a put makes; put it with an owner, which is not copied");
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
  return fail(ErrorCode::kUnimplemented, "device " + std::to_string(index(device)) +
                                             " was not declared failed: the backend '" +
                                             std::string(platform_name()) + "' cannot do that");
}

Status Client::restart(DeviceId device) {
  return fail(ErrorCode::kUnimplemented,
              "device " + std::to_string(index(device)) + " was not restarted: the backend '" +
                  std::string(platform_name()) + "' cannot do that; restart the process");
}

}  // namespace millrace::devices
