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

}  // namespace millrace::devices
