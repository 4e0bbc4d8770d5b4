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

// Splits the results into batches and these into parts; body(first result, count, frame, lanes).
template <class F>
void each_batch(const Region& region, std::int64_t results, std::int64_t cost, Parallel& parallel,
                F body) {
  const std::int64_t batches = (results + kRegionBatch - 1) / kRegionBatch;
  const std::int64_t parts =
      std::clamp<std::int64_t>(cost / (16 << 10), 1, std::clamp<std::int64_t>(batches, 1, 32));
  const auto run = [&](int part) {
    RegionFrame frame(region);
    Lanes lanes;
    for (std::int64_t b = batches * part / parts; b < batches * (part + 1) / parts; ++b) {
      const std::int64_t first = b * kRegionBatch;
      body(first, static_cast<int>(std::min<std::int64_t>(kRegionBatch, results - first)), frame,
           lanes);
    }
  };
  if (parts == 1)
    run(0);
  else
    parallel.run(static_cast<int>(parts), run);
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

void reduce_window_region(const Region& region, std::span<const std::int64_t> dims,
                          const Window& window, std::span<const DType> types,
                          std::span<const void* const> operands, std::span<const void* const> inits,
                          std::span<void* const> outputs, Parallel& parallel) {
  MILLRACE_CHECK(types.size() <= kMaxOperands, "too many operands of one reduction");
  const DimVector strides = dense_strides(dims);
  const int rank = window.rank();
  DimVector out_dims;
  for (int d = 0; d < rank; ++d)
    out_dims.push_back(window.output_extent(d, dims[static_cast<std::size_t>(d)]));
  const std::int64_t results = product(out_dims), positions = product(window.size);
  each_batch(
      region, results, results * positions, parallel,
      [&](std::int64_t first, int n, RegionFrame& frame, Lanes& lanes) {
        std::int64_t index[kRegionBatch][kMaxRank];
        for (int i = 0; i < n; ++i) {
          std::int64_t rest = first + i;
          for (int d = rank - 1; d >= 0; --d) {
            index[i][d] = rest % out_dims[static_cast<std::size_t>(d)];
            rest /= out_dims[static_cast<std::size_t>(d)];
          }
        }
        for (std::size_t i = 0; i < types.size(); ++i)
          fill_splat(lanes.acc[i], inits[i], byte_width(types[i]), n);
        for (std::int64_t p = 0; p < positions; ++p) {
          std::int64_t at[kMaxRank], rest = p;
          for (int d = rank - 1; d >= 0; --d) {
            at[d] = rest % window.size[static_cast<std::size_t>(d)];
            rest /= window.size[static_cast<std::size_t>(d)];
          }
          for (int i = 0; i < n; ++i) {
            std::int64_t offset = 0;
            for (int d = 0; d < rank && offset >= 0; ++d) {
              const std::int64_t x =
                  window.operand_index(d, index[i][d], at[d], dims[static_cast<std::size_t>(d)]);
              offset = x < 0 ? -1 : offset + x * strides[static_cast<std::size_t>(d)];
            }
            for (std::size_t k = 0; k < types.size(); ++k) {
              const std::size_t width = byte_width(types[k]);
              const auto* from = offset < 0 ? static_cast<const std::byte*>(inits[k])
                                            : static_cast<const std::byte*>(operands[k]) +
                                                  static_cast<std::size_t>(offset) * width;
              std::memcpy(lanes.element[k] + static_cast<std::size_t>(i) * width, from, width);
            }
          }
          step(frame, lanes, types, n);
        }
        for (std::size_t i = 0; i < types.size(); ++i) {
          const std::size_t width = byte_width(types[i]);
          std::memcpy(static_cast<std::byte*>(outputs[i]) + static_cast<std::size_t>(first) * width,
                      lanes.acc[i], static_cast<std::size_t>(n) * width);
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
