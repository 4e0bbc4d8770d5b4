#include "millrace/devices/client.h"

namespace millrace::devices {

std::size_t ExecutableBody::launch_bytes() const {
  // relaxed: every thread computes the same number from immutable shapes.
  const std::size_t known = launch_bytes_.load(std::memory_order_relaxed);
  if (known != 0) return known - 1;
  auto bytes = static_cast<std::size_t>(temporary_bytes());
  for (const Shape& shape : output_shapes()) bytes += shape.size_bytes();
  launch_bytes_.store(bytes + 1, std::memory_order_relaxed);
  return bytes;
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
