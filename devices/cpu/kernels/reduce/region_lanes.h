// Lanes of a reduction by any body: one batch of results side by side, and the step that folds one
// element into each. Internal to region_*.cc.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/cpu/kernels/base/split.h"
#include "millrace/devices/cpu/kernels/region.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

inline constexpr std::size_t kLaneBytes = kRegionBatch * 8;

// Accumulators and elements of one batch of results.
struct Lanes {
  alignas(64) std::byte acc[kMaxOperands][kLaneBytes];
  alignas(64) std::byte element[kMaxOperands][kLaneBytes];
};

// Splits units of work into parts; body(unit, frame, lanes).
template <class F>
void each_unit(const Region& region, std::int64_t units, std::int64_t cost, Parallel& parallel,
               F body) {
  constexpr std::int64_t kPartCost = 16 << 10, kMostParts = 32;
  split(units, cost / kPartCost, kMostParts, parallel, [&](std::int64_t begin, std::int64_t end) {
    RegionFrame frame(region);
    Lanes lanes;
    for (std::int64_t u = begin; u < end; ++u) body(u, frame, lanes);
  });
}

inline std::int64_t batches_of(std::int64_t results) {
  return (results + kRegionBatch - 1) / kRegionBatch;
}

// Splits the results into batches; body(first result, count, frame, lanes).
template <class F>
void each_batch(const Region& region, std::int64_t results, std::int64_t cost, Parallel& parallel,
                F body) {
  each_unit(region, batches_of(results), cost, parallel,
            [&](std::int64_t batch, RegionFrame& frame, Lanes& lanes) {
              const std::int64_t first = batch * kRegionBatch;
              body(first, static_cast<int>(std::min<std::int64_t>(kRegionBatch, results - first)),
                   frame, lanes);
            });
}

using LaneSet = std::uint64_t;  // a bit for each lane
static_assert(kRegionBatch == 64);

// count > 0
inline LaneSet lanes_from(std::int64_t first, std::int64_t count) {
  return ~LaneSet{0} >> (kRegionBatch - count) << first;
}

inline void copy_element(std::byte* to, const std::byte* from, std::size_t width) {
  if (width == 4)
    std::memcpy(to, from, 4);  // no call
  else
    std::memcpy(to, from, width);
}

// to[i] = from[i] in these lanes, of `width` bytes each.
inline void take(std::byte* to, const std::byte* from, std::size_t width, LaneSet where) {
  const auto first = static_cast<std::size_t>(std::countr_zero(where));
  const int count = std::countr_one(where >> first);
  if (count == std::popcount(where)) {
    std::memcpy(to + first * width, from + first * width, static_cast<std::size_t>(count) * width);
    return;
  }
  for (; where != 0; where &= where - 1) {
    const std::size_t at = static_cast<std::size_t>(std::countr_zero(where)) * width;
    copy_element(to + at, from + at, width);
  }
}

// acc = region(acc, element) in these of the n lanes, of which there is one.
inline void step(RegionFrame& frame, Lanes& lanes, std::span<const DType> types, int n,
                 LaneSet where) {
  const int k = static_cast<int>(types.size());
  for (int i = 0; i < k; ++i) {
    frame.set_argument(i, lanes.acc[i]);
    frame.set_argument(k + i, lanes.element[i]);
  }
  frame.run(n);
  const auto bytes_of = [&](int i) {
    return static_cast<std::size_t>(n) * byte_width(types[static_cast<std::size_t>(i)]);
  };
  bool apart = where == lanes_from(0, n);
  for (int i = 0; i < k; ++i) {
    for (int j = 0; j < k; ++j) apart = apart && frame.result(i) != lanes.acc[j];
  }
  if (apart) {
    for (int i = 0; i < k; ++i) std::memcpy(lanes.acc[i], frame.result(i), bytes_of(i));
    return;
  }
  // All results first: one may be an accumulator itself.
  alignas(64) std::byte results[kMaxOperands][kLaneBytes];
  for (int i = 0; i < k; ++i) std::memcpy(results[i], frame.result(i), bytes_of(i));
  for (int i = 0; i < k; ++i)
    take(lanes.acc[i], results[i], byte_width(types[static_cast<std::size_t>(i)]), where);
}

}  // namespace millrace::devices::cpu
