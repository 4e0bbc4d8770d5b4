// Walking strided views: gathering a run of a view into a tile, and copying one view to another.
// Strides are in elements, may be zero (broadcast) or negative (reverse). Element types matter only
// by their width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/cpu/kernels/base/dim_vector.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

// to[0..n) = elements [start, start + n), counted row-major, of the view from[sum of i_k *
// strides_k].
void load_strided(void* to, const void* from, int width, std::span<const std::int64_t> dims,
                  std::span<const std::int64_t> strides, std::int64_t start, int n);

// The same for the numbers offset + sum of i_k * steps_k, as elements of `type`.
void fill_iota(void* to, DType type, std::span<const std::int64_t> dims,
               std::span<const std::int64_t> steps, std::int64_t offset, std::int64_t start, int n);

// A copy between two views of the same dimensions. Cheap to make, without allocation.
// Thread-safety: immutable.
class StridedCopy {
 public:
  StridedCopy(std::span<const std::int64_t> dims, std::span<const std::int64_t> from_strides,
              std::span<const std::int64_t> to_strides, int width);
  void run(const void* from, void* to, Parallel& parallel) const;
  // On this thread only.
  void run(const void* from, void* to) const;

 private:
  void run_range(const std::byte* from, std::byte* to, std::int64_t begin, std::int64_t end) const;

  DimVector dims_;  // coalesced; the last two are copied as a block
  DimVector from_;
  DimVector to_;
  std::int64_t outer_ = 1;  // blocks
  std::int64_t elements_ = 1;
  int width_ = 1;
  bool dense_ = false;  // one run of bytes
};

}  // namespace millrace::devices::cpu
