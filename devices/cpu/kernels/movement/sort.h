// sort: of several arrays along one dimension, by the values that a comparator takes.
#pragma once

#include <cstddef>
#include <span>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/cpu/kernels/region.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

// Sorts all operands, of one shape, along `dimension` by the region, which takes (a0, b0, a1, b1,
// ...) and says whether a comes first. Always stable. scratch: sort_scratch_bytes, 64-byte aligned.
std::size_t sort_scratch_bytes(const Region& region, const Shape& shape, int dimension);
void sort(const Region& region, const Shape& shape, int dimension, std::span<const DType> types,
          std::span<const void* const> operands, std::span<void* const> outputs, std::byte* scratch,
          Parallel& parallel);

}  // namespace millrace::devices::cpu
