// Reductions by any body, of several operands at once (argmax): reduce, and reduce_window over
// windows with strides, dilations and padding. Vectorised over the results; where they are few,
// over segments of the reduced elements, too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/cpu/kernels/base/dim_vector.h"
#include "millrace/devices/cpu/kernels/region.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

// One entry per dimension of the operand.
struct Window {
  std::vector<std::int64_t> size, strides, base_dilations, window_dilations, pad_low, pad_high;

  int rank() const { return static_cast<int>(size.size()); }
  // The extent of dimension d of the result, for an operand of extent n.
  std::int64_t output_extent(int d, std::int64_t n) const;
  DimVector output_dims(std::span<const std::int64_t> dims) const;
  // So many leading dimensions of the result are the operand's: a window is one element there.
  int whole_dims() const;
  // Window position `at` (an index into the window) of result index `out` falls on this operand
  // index, or -1 for padding and the holes of a base dilation.
  std::int64_t operand_index(int d, std::int64_t out, std::int64_t at, std::int64_t extent) const {
    const auto s = static_cast<std::size_t>(d);
    const std::int64_t padded = out * strides[s] + at * window_dilations[s] - pad_low[s];
    if (padded < 0 || padded % base_dilations[s] != 0) return -1;
    const std::int64_t index = padded / base_dilations[s];
    return index < extent ? index : -1;
  }
};

// operands: dense, all of the dimensions `dims`; inits: scalars; outputs: dense, the dimensions
// without the reduced ones. The region takes (accumulators..., elements...). scratch:
// reduce_region_scratch_bytes, 64-byte aligned.
std::size_t reduce_region_scratch_bytes(std::span<const std::int64_t> dims,
                                        std::span<const std::int64_t> reduced,
                                        std::span<const DType> types);
void reduce_region(const Region& region, std::span<const std::int64_t> dims,
                   std::span<const std::int64_t> reduced, std::span<const DType> types,
                   std::span<const void* const> operands, std::span<const void* const> inits,
                   std::span<void* const> outputs, std::byte* scratch, Parallel& parallel);

// The region is not applied to padding and the holes of a base dilation
// (kernels/reduce/reduce_definition.cc): a window of nothing else is the initial value.
void reduce_window_region(const Region& region, std::span<const std::int64_t> dims,
                          const Window& window, std::span<const DType> types,
                          std::span<const void* const> operands, std::span<const void* const> inits,
                          std::span<void* const> outputs, Parallel& parallel);

// Picks in each window of the operand (by select: true keeps the first argument) the element that
// takes the source's element, by scatter(value so far, source). output starts as init.
void select_and_scatter_region(const Region& select, const Region& scatter,
                               std::span<const std::int64_t> dims, const Window& window, DType type,
                               const void* operand, const void* source, const void* init,
                               void* output, Parallel& parallel);

}  // namespace millrace::devices::cpu
