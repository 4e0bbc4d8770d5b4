// How long a slice is whose place depends on data: the difference of two vectors of indices that
// are computed from each other.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "millrace/devices/cpu/ir/module.h"
#include "millrace/devices/cpu/refine/known.h"

namespace millrace::devices::cpu::refine {

// limit - start, element by element; ir::kDynamic where it is not known. Empty if the vectors are
// none of the same length. Both are values of a refined module.
std::vector<std::int64_t> slice_sizes(const ir::Value* start, const ir::Value* limit,
                                      const std::unordered_map<const ir::Value*, KnownRef>& known);

}  // namespace millrace::devices::cpu::refine
