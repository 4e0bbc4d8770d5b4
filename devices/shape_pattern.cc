#include "millrace/devices/shape_pattern.h"

#include <algorithm>

namespace millrace::devices {

bool is_complete(const Shape& shape) {
  return std::ranges::find(shape.dims(), kUnknownDimension) == shape.dims().end();
}

bool are_complete(std::span<const Shape> shapes) {
  return std::ranges::all_of(shapes, is_complete);
}

bool admits(const Shape& pattern, const Shape& shape) {
  return pattern.dtype() == shape.dtype() &&
         std::ranges::equal(pattern.dims(), shape.dims(), [](std::int64_t p, std::int64_t d) {
           return p == d || p == kUnknownDimension;
         });
}

std::string misfit(const Shape& pattern, const Shape& shape) {
  std::string text = "should be " + pattern.to_string();
  if (pattern.dtype() != shape.dtype() || is_complete(pattern)) return text;
  if (pattern.rank() != shape.rank()) {
    return text + ": it has " + std::to_string(shape.rank()) +
           (shape.rank() == 1 ? " dimension, not " : " dimensions, not ") +
           std::to_string(pattern.rank());
  }
  for (int d = 0; d < pattern.rank(); ++d) {
    if (pattern.dim(d) == kUnknownDimension || pattern.dim(d) == shape.dim(d)) continue;
    return text + ": dimension " + std::to_string(d) + " is " + std::to_string(shape.dim(d)) +
           ", not " + std::to_string(pattern.dim(d));
  }
  return text;
}

}  // namespace millrace::devices
