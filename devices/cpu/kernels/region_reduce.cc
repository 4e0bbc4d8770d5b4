#include "millrace/devices/cpu/kernels/region_reduce.h"

#include <algorithm>
#include <cstring>

#include "millrace/core/check.h"
#include "millrace/devices/cpu/kernels/dim_vector.h"
#include "millrace/devices/cpu/kernels/strided.h"

namespace millrace::devices::cpu {
namespace {

constexpr int kMaxOperands = 8;
constexpr std::size_t kLaneBytes = kRegionBatch * 8;

// Accumulators and elements of one batch of results.
struct Lanes {
  alignas(64) std::byte acc[kMaxOperands][kLaneBytes];
  alignas(64) std::byte element[kMaxOperands][kLaneBytes];
};

// Splits units of work into parts; body(unit, frame, lanes).
template <class F>
void each_unit(const Region& region, std::int64_t units, std::int64_t cost, Parallel& parallel,
               F body) {
  const std::int64_t parts =
      std::clamp<std::int64_t>(cost / (16 << 10), 1, std::clamp<std::int64_t>(units, 1, 32));
  const auto run = [&](int part) {
    RegionFrame frame(region);
    Lanes lanes;
    for (std::int64_t u = units * part / parts; u < units * (part + 1) / parts; ++u)
      body(u, frame, lanes);
  };
  if (parts == 1)
    run(0);
  else
    parallel.run(static_cast<int>(parts), run);
}

std::int64_t batches_of(std::int64_t results) {
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

// acc = region(acc, element), n lanes.
void step(RegionFrame& frame, Lanes& lanes, std::span<const DType> types, int n) {
  const int k = static_cast<int>(types.size());
  for (int i = 0; i < k; ++i) {
    frame.set_argument(i, lanes.acc[i]);
    frame.set_argument(k + i, lanes.element[i]);
  }
  frame.run(n);
  // All results first: one may be an accumulator itself.
  alignas(64) std::byte results[kMaxOperands][kLaneBytes];
  for (int i = 0; i < k; ++i) {
    std::memcpy(results[i], frame.result(i),
                static_cast<std::size_t>(n) * byte_width(types[static_cast<std::size_t>(i)]));
  }
  for (int i = 0; i < k; ++i) {
    std::memcpy(lanes.acc[i], results[i],
                static_cast<std::size_t>(n) * byte_width(types[static_cast<std::size_t>(i)]));
  }
}

}  // namespace

std::int64_t Window::output_extent(int d, std::int64_t n) const {
  const auto s = static_cast<std::size_t>(d);
  const std::int64_t dilated = n == 0 ? 0 : (n - 1) * base_dilations[s] + 1;
  const std::int64_t padded = dilated + pad_low[s] + pad_high[s];
  const std::int64_t span = size[s] == 0 ? 0 : (size[s] - 1) * window_dilations[s] + 1;
  return padded == 0 || span > padded ? 0 : (padded - span) / strides[s] + 1;
}

void reduce_region(const Region& region, std::span<const std::int64_t> dims,
                   std::span<const std::int64_t> reduced, std::span<const DType> types,
                   std::span<const void* const> operands, std::span<const void* const> inits,
                   std::span<void* const> outputs, Parallel& parallel) {
  MILLRACE_CHECK(types.size() <= kMaxOperands, "too many operands of one reduction");
  const DimVector strides = dense_strides(dims);
  DimVector kept_dims, kept_strides, folded_dims, folded_strides;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const bool fold =
        std::find(reduced.begin(), reduced.end(), static_cast<std::int64_t>(d)) != reduced.end();
    (fold ? folded_dims : kept_dims).push_back(dims[d]);
    (fold ? folded_strides : kept_strides).push_back(strides[d]);
  }
  const std::int64_t results = product(kept_dims), folded = product(folded_dims);
  each_batch(region, results, results * folded, parallel,
             [&](std::int64_t first, int n, RegionFrame& frame, Lanes& lanes) {
               for (std::size_t i = 0; i < types.size(); ++i)
                 fill_splat(lanes.acc[i], inits[i], byte_width(types[i]), n);
               for (std::int64_t r = 0; r < folded; ++r) {
                 std::int64_t rest = r, offset = 0;
                 for (std::size_t d = folded_dims.size(); d-- > 0;) {
                   offset += rest % folded_dims[d] * folded_strides[d];
                   rest /= folded_dims[d];
                 }
                 for (std::size_t i = 0; i < types.size(); ++i) {
                   const auto width = static_cast<std::int64_t>(byte_width(types[i]));
                   load_strided(lanes.element[i],
                                static_cast<const std::byte*>(operands[i]) + offset * width,
                                static_cast<int>(width), kept_dims, kept_strides, first, n);
                 }
                 step(frame, lanes, types, n);
               }
               for (std::size_t i = 0; i < types.size(); ++i) {
                 const std::size_t width = byte_width(types[i]);
                 std::memcpy(
                     static_cast<std::byte*>(outputs[i]) + static_cast<std::size_t>(first) * width,
                     lanes.acc[i], static_cast<std::size_t>(n) * width);
               }
             });
}

namespace {

// Places of a window's elements along the last dimension, for `n` results from `first` on.
struct Run {
  const Window& window;
  int dimension;
  std::int64_t extent, first;
  int n;

  // to[i] = the operand's element under position `at` of result first + i, or *init in padding.
  void load(const std::byte* row, std::int64_t at, std::size_t width, const void* init,
            std::byte* to) const {
    const auto d = static_cast<std::size_t>(dimension);
    if (window.strides[d] != 1 || window.base_dilations[d] != 1) {
      for (int i = 0; i < n; ++i) {
        const std::int64_t index = window.operand_index(dimension, first + i, at, extent);
        std::memcpy(to + static_cast<std::size_t>(i) * width,
                    index < 0 ? init : row + static_cast<std::size_t>(index) * width, width);
      }
      return;
    }
    // The results in [low, high) have an element, and these lie side by side.
    const std::int64_t start = first + at * window.window_dilations[d] - window.pad_low[d];
    const std::int64_t low = std::clamp<std::int64_t>(-start, 0, n),
                       high = std::clamp<std::int64_t>(extent - start, low, n);
    fill_splat(to, init, width, low);
    if (high > low)
      std::memcpy(to + static_cast<std::size_t>(low) * width,
                  row + static_cast<std::size_t>(start + low) * width,
                  static_cast<std::size_t>(high - low) * width);
    fill_splat(to + static_cast<std::size_t>(high) * width, init, width, n - high);
  }
};

}  // namespace

void reduce_window_region(const Region& region, std::span<const std::int64_t> dims,
                          const Window& window, std::span<const DType> types,
                          std::span<const void* const> operands, std::span<const void* const> inits,
                          std::span<void* const> outputs, Parallel& parallel) {
  MILLRACE_CHECK(types.size() <= kMaxOperands, "too many operands of one reduction");
  const int rank = window.rank(), last = rank - 1;
  if (rank == 0) return reduce_region(region, dims, {}, types, operands, inits, outputs, parallel);
  const DimVector strides = dense_strides(dims);
  DimVector out_dims;
  for (int d = 0; d < rank; ++d)
    out_dims.push_back(window.output_extent(d, dims[static_cast<std::size_t>(d)]));
  const std::int64_t results = product(out_dims), positions = product(window.size);
  if (results == 0) return;
  const std::int64_t columns = out_dims.back(), batches = batches_of(columns);
  const std::int64_t width_of_window = window.size.back();
  // A unit is a batch of one row along the last dimension.
  each_unit(
      region, results / columns * batches, results * positions, parallel,
      [&](std::int64_t unit, RegionFrame& frame, Lanes& lanes) {
        std::int64_t index[kMaxRank], rest = unit / batches;
        for (int d = last - 1; d >= 0; --d) {
          index[d] = rest % out_dims[static_cast<std::size_t>(d)];
          rest /= out_dims[static_cast<std::size_t>(d)];
        }
        const std::int64_t first = unit % batches * kRegionBatch;
        const Run run{.window = window,
                      .dimension = last,
                      .extent = dims[static_cast<std::size_t>(last)],
                      .first = first,
                      .n = static_cast<int>(std::min<std::int64_t>(kRegionBatch, columns - first))};
        for (std::size_t k = 0; k < types.size(); ++k)
          fill_splat(lanes.acc[k], inits[k], byte_width(types[k]), run.n);
        for (std::int64_t p = 0; p < positions; ++p) {
          std::int64_t left = p / width_of_window, offset = 0;
          for (int d = last - 1; d >= 0; --d) {
            const auto s = static_cast<std::size_t>(d);
            const std::int64_t x =
                window.operand_index(d, index[d], left % window.size[s], dims[s]);
            left /= window.size[s];
            offset = x < 0 || offset < 0 ? -1 : offset + x * strides[s];
          }
          for (std::size_t k = 0; k < types.size(); ++k) {
            const std::size_t width = byte_width(types[k]);
            if (offset < 0) {
              fill_splat(lanes.element[k], inits[k], width, run.n);
              continue;
            }
            run.load(static_cast<const std::byte*>(operands[k]) +
                         static_cast<std::size_t>(offset) * width,
                     p % width_of_window, width, inits[k], lanes.element[k]);
          }
          step(frame, lanes, types, run.n);
        }
        const std::int64_t to = unit / batches * columns + first;
        for (std::size_t k = 0; k < types.size(); ++k) {
          const std::size_t width = byte_width(types[k]);
          std::memcpy(static_cast<std::byte*>(outputs[k]) + static_cast<std::size_t>(to) * width,
                      lanes.acc[k], static_cast<std::size_t>(run.n) * width);
        }
      });
}

void select_and_scatter_region(const Region& select, const Region& scatter,
                               std::span<const std::int64_t> dims, const Window& window, DType type,
                               const void* operand, const void* source, const void* init,
                               void* output) {
  const DimVector strides = dense_strides(dims);
  const int rank = window.rank();
  const std::size_t width = byte_width(type);
  DimVector out_dims;
  for (int d = 0; d < rank; ++d)
    out_dims.push_back(window.output_extent(d, dims[static_cast<std::size_t>(d)]));
  const auto* in = static_cast<const std::byte*>(operand);
  auto* out = static_cast<std::byte*>(output);
  fill_splat(out, init, width, product(dims));
  RegionFrame choose(select), combine(scatter);
  const std::int64_t windows = product(out_dims), positions = product(window.size);
  for (std::int64_t w = 0; w < windows; ++w) {
    std::int64_t index[kMaxRank], rest = w, chosen = -1;
    for (int d = rank - 1; d >= 0; --d) {
      index[d] = rest % out_dims[static_cast<std::size_t>(d)];
      rest /= out_dims[static_cast<std::size_t>(d)];
    }
    for (std::int64_t p = 0; p < positions; ++p) {
      std::int64_t left = p, offset = 0;
      for (int d = rank - 1; d >= 0; --d) {
        const auto s = static_cast<std::size_t>(d);
        const std::int64_t x = window.operand_index(d, index[d], left % window.size[s], dims[s]);
        left /= window.size[s];
        offset = x < 0 || offset < 0 ? -1 : offset + x * strides[s];
      }
      if (offset < 0) continue;
      if (chosen >= 0) {
        choose.set_argument(0, in + static_cast<std::size_t>(chosen) * width);
        choose.set_argument(1, in + static_cast<std::size_t>(offset) * width);
        choose.run(1);
        if (*static_cast<const std::uint8_t*>(choose.result(0)) != 0) continue;
      }
      chosen = offset;
    }
    if (chosen < 0) continue;
    std::byte* to = out + static_cast<std::size_t>(chosen) * width;
    combine.set_argument(0, to);
    combine.set_argument(
        1, static_cast<const std::byte*>(source) + static_cast<std::size_t>(w) * width);
    combine.run(1);
    std::memcpy(to, combine.result(0), width);
  }
}

}  // namespace millrace::devices::cpu
