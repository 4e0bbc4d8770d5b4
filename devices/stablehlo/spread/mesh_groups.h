// Groups of processes that are said by axes of a mesh instead of listed:
// #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>.
// Read next: groups.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/sharding/read_sharding.h"

namespace millrace::devices::stablehlo::spread {

// One group for each place along the other axes, in the order of the axes that are named, the last
// of them fastest. meshes: those that have names.
Result<std::vector<std::vector<std::int64_t>>> groups_of_axes(std::string_view text,
                                                              const sharding::Meshes& meshes);

}  // namespace millrace::devices::stablehlo::spread
