#include "millrace/devices/stablehlo/sharding/shards.h"

#include <algorithm>

namespace millrace::devices::stablehlo::sharding {
namespace {

std::int64_t part_size(std::int64_t dim, std::int64_t parts) { return (dim + parts - 1) / parts; }

// Whether a part counts along this axis; axes == nullptr: along all.
bool counts(const Mesh& mesh, const AxisRef& axis, const std::span<const std::string>* axes) {
  return axes == nullptr ||
         std::ranges::find(*axes, mesh.axes[static_cast<std::size_t>(axis.axis)].name) !=
             axes->end();
}

Dims local(const Sharding& sharding, std::span<const std::int64_t> shape,
           const std::span<const std::string>* axes) {
  Dims out(shape.begin(), shape.end());
  for (std::size_t d = 0; d < std::min(out.size(), sharding.dims.size()); ++d) {
    std::int64_t parts = 1;
    for (const AxisRef& axis : sharding.dims[d].axes) {
      if (counts(*sharding.mesh, axis, axes)) parts *= axis.size;
    }
    out[d] = part_size(out[d], parts);
  }
  return out;
}

Shard shard(const Sharding& sharding, std::span<const std::int64_t> shape, std::int64_t device,
            const std::span<const std::string>* axes) {
  const Mesh& mesh = *sharding.mesh;
  Shard out{Dims(shape.size(), 0), Dims(shape.begin(), shape.end())};
  const auto place = mesh.place_of(device);
  if (!place || mesh.axes.empty()) return out;
  const Dims at = mesh.coordinates(*place);
  for (std::size_t d = 0; d < std::min(shape.size(), sharding.dims.size()); ++d) {
    std::int64_t parts = 1, index = 0;
    for (const AxisRef& axis : sharding.dims[d].axes) {
      if (!counts(mesh, axis, axes)) continue;
      const auto a = static_cast<std::size_t>(axis.axis);
      const std::int64_t rest = mesh.axes[a].size / axis.end();
      index = index * axis.size + at[a] / rest % axis.size;
      parts *= axis.size;
    }
    const std::int64_t size = part_size(shape[d], parts);
    out.offsets[d] = std::min(index * size, shape[d]);
    out.sizes[d] = std::min(size, shape[d] - out.offsets[d]);
  }
  return out;
}

}  // namespace

Dims local_shape(const Sharding& sharding, std::span<const std::int64_t> shape) {
  return local(sharding, shape, nullptr);
}
Dims local_shape(const Sharding& sharding, std::span<const std::int64_t> shape,
                 std::span<const std::string> axes) {
  return local(sharding, shape, &axes);
}

Shard shard_of(const Sharding& sharding, std::span<const std::int64_t> shape, std::int64_t device) {
  return shard(sharding, shape, device, nullptr);
}
Shard shard_of(const Sharding& sharding, std::span<const std::int64_t> shape, std::int64_t device,
               std::span<const std::string> axes) {
  return shard(sharding, shape, device, &axes);
}

bool divides(const Sharding& sharding, std::span<const std::int64_t> shape) {
  for (std::size_t d = 0; d < std::min(shape.size(), sharding.dims.size()); ++d) {
    if (shape[d] % sharding.dims[d].parts() != 0) return false;
  }
  return true;
}

}  // namespace millrace::devices::stablehlo::sharding
