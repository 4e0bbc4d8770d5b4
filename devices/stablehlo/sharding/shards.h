// What each device holds of an array that lies by a sharding. A dimension that its parts do not
// divide is cut into equal parts of which the last are smaller or empty, as XLA has it; an array in
// a device's memory has the full size of a part (local_shape), the numbers beyond are padding.
// Read next: sharding.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "millrace/devices/stablehlo/sharding/sharding.h"

namespace millrace::devices::stablehlo::sharding {

using Dims = std::vector<std::int64_t>;

// The part of one device. A size may be 0: then nothing of the array is in it.
struct Shard {
  Dims offsets;
  Dims sizes;
  bool operator==(const Shard&) const = default;
};

// The dimensions of a part, padding included; static dimensions that are not negative.
Dims local_shape(const Sharding& sharding, std::span<const std::int64_t> shape);
// The same by the named axes alone, as the body of a manual computation over them has it.
Dims local_shape(const Sharding& sharding, std::span<const std::int64_t> shape,
                 std::span<const std::string> axes);

// Device: a number of the mesh's device_ids. One that is not in the mesh holds everything, as each
// does where the mesh is maximal or a placeholder.
Shard shard_of(const Sharding& sharding, std::span<const std::int64_t> shape, std::int64_t device);
// By the named axes alone.
Shard shard_of(const Sharding& sharding, std::span<const std::int64_t> shape, std::int64_t device,
               std::span<const std::string> axes);

// Whether each part has the full size: no dimension needs padding.
bool divides(const Sharding& sharding, std::span<const std::int64_t> shape);

}  // namespace millrace::devices::stablehlo::sharding
