// Windows of region_reduce.h: reductions over them, and the choice of an element in each.
#include <algorithm>
#include <cstring>

#include "millrace/core/base/check.h"
#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/reduce/region_lanes.h"
#include "millrace/devices/cpu/kernels/reduce/region_reduce.h"

namespace millrace::devices::cpu {

std::int64_t Window::output_extent(int d, std::int64_t n) const {
  const auto s = static_cast<std::size_t>(d);
  const std::int64_t dilated = n == 0 ? 0 : (n - 1) * base_dilations[s] + 1;
  const std::int64_t padded = dilated + pad_low[s] + pad_high[s];
  const std::int64_t span = size[s] == 0 ? 0 : (size[s] - 1) * window_dilations[s] + 1;
  return padded == 0 || span > padded ? 0 : (padded - span) / strides[s] + 1;
}

int Window::whole_dims() const {
  int d = 0;
  for (; d < rank(); ++d) {
    const auto s = static_cast<std::size_t>(d);
    if (size[s] != 1 || strides[s] != 1 || base_dilations[s] != 1 || pad_low[s] != 0 ||
        pad_high[s] != 0)
      break;
  }
  return d;
}

DimVector Window::output_dims(std::span<const std::int64_t> dims) const {
  DimVector out;
  for (int d = 0; d < rank(); ++d)
    out.push_back(output_extent(d, dims[static_cast<std::size_t>(d)]));
  return out;
}

namespace {

// `n` results along the last dimension from `first` on, and the elements of the operand that lie
// under one position of their windows.
class Run {
 public:
  Run(const Window& window, std::int64_t extent, std::int64_t first, int n)
      : window_(window),
        dense_(window.strides.back() == 1 && window.base_dilations.back() == 1),
        index_step_(window.strides.back() / window.base_dilations.back()),
        hole_step_(window.strides.back() % window.base_dilations.back()),
        extent_(extent),
        first_(first),
        n_(n) {}

  int n() const { return n_; }

  // To position `at`: the results that have an element there.
  LaneSet move_to(std::int64_t at) {
    if (dense_) {  // those in [low, high), and their elements lie side by side
      start_ = first_ + at * window_.window_dilations.back() - window_.pad_low.back();
      low_ = std::clamp<std::int64_t>(-start_, 0, n_);
      high_ = std::clamp<std::int64_t>(extent_ - start_, low_, n_);
      return high_ > low_ ? lanes_from(low_, high_ - low_) : 0;
    }
    // As Window::operand_index, by steps instead of divisions.
    const std::int64_t base = window_.base_dilations.back(), stride = window_.strides.back();
    const std::int64_t padded =
        first_ * stride + at * window_.window_dilations.back() - window_.pad_low.back();
    std::int64_t hole = ((padded % base) + base) % base, index = (padded - hole) / base;
    LaneSet present = 0;
    for (int i = 0; i < n_; ++i) {
      const bool there = hole == 0 && index >= 0 && index < extent_;
      index_[i] = there ? index : -1;
      present |= LaneSet{there} << i;
      hole += hole_step_;
      index += index_step_;
      if (hole < base) continue;
      hole -= base;
      ++index;
    }
    return present;
  }
  // to[i] = the element of result i; where there is none it stays as it is.
  void load(const std::byte* row, std::size_t width, std::byte* to) const {
    if (dense_) {
      std::memcpy(to + static_cast<std::size_t>(low_) * width,
                  row + static_cast<std::size_t>(start_ + low_) * width,
                  static_cast<std::size_t>(high_ - low_) * width);
      return;
    }
    for (int i = 0; i < n_; ++i) {
      if (index_[i] < 0) continue;
      copy_element(to + static_cast<std::size_t>(i) * width,
                   row + static_cast<std::size_t>(index_[i]) * width, width);
    }
  }

 private:
  const Window& window_;
  const bool dense_;
  const std::int64_t index_step_, hole_step_;  // from one result to the next
  const std::int64_t extent_, first_;
  const int n_;
  std::int64_t start_ = 0, low_ = 0, high_ = 0;
  std::int64_t index_[kRegionBatch];  // of the operand, or -1
};

// Where the element under a position of the window of result `index` is, by the dimensions that
// `index` has; -1 in padding and holes.
std::int64_t operand_offset(const Window& window, const DimVector& index, std::int64_t position,
                            std::span<const std::int64_t> dims,
                            std::span<const std::int64_t> strides) {
  std::int64_t offset = 0;
  for (int d = static_cast<int>(index.size()) - 1; d >= 0; --d) {
    const auto s = static_cast<std::size_t>(d);
    const std::int64_t x = window.operand_index(d, index[d], position % window.size[s], dims[s]);
    position /= window.size[s];
    offset = x < 0 || offset < 0 ? -1 : offset + x * strides[s];
  }
  return offset;
}

}  // namespace

void reduce_window_region(const Region& region, std::span<const std::int64_t> dims,
                          const Window& window, std::span<const DType> types,
                          std::span<const void* const> operands, std::span<const void* const> inits,
                          std::span<void* const> outputs, Parallel& parallel) {
  MILLRACE_CHECK(types.size() <= kMaxOperands, "too many operands of one reduction");
  const int rank = window.rank(), last = rank - 1;
  if (rank == 0)
    return reduce_region(region, dims, {}, types, operands, inits, outputs, nullptr, parallel);
  const DimVector strides = dense_strides(dims), out_dims = window.output_dims(dims);
  const std::int64_t results = product(out_dims), positions = product(window.size);
  if (results == 0) return;
  const std::int64_t columns = out_dims.back(), batches = batches_of(columns);
  const std::int64_t width_of_window = window.size.back();
  // A unit is a batch of one row along the last dimension.
  each_unit(region, results / columns * batches, results * positions, parallel,
            [&](std::int64_t unit, RegionFrame& frame, Lanes& lanes) {
              const DimVector index =
                  index_of(unit / batches, {out_dims.begin(), static_cast<std::size_t>(last)});
              const std::int64_t first = unit % batches * kRegionBatch;
              Run run(window, dims[static_cast<std::size_t>(last)], first,
                      static_cast<int>(std::min<std::int64_t>(kRegionBatch, columns - first)));
              for (std::size_t k = 0; k < types.size(); ++k) {
                fill_splat(lanes.acc[k], inits[k], byte_width(types[k]), run.n());
                fill_splat(lanes.element[k], inits[k], byte_width(types[k]), run.n());
              }
              for (std::int64_t p = 0; p < positions; ++p) {
                const std::int64_t offset =
                    operand_offset(window, index, p / width_of_window, dims, strides);
                const LaneSet present = offset < 0 ? 0 : run.move_to(p % width_of_window);
                if (present == 0) continue;
                for (std::size_t k = 0; k < types.size(); ++k) {
                  const std::size_t width = byte_width(types[k]);
                  run.load(static_cast<const std::byte*>(operands[k]) +
                               static_cast<std::size_t>(offset) * width,
                           width, lanes.element[k]);
                }
                step(frame, lanes, types, run.n(), present);
              }
              const std::int64_t to = unit / batches * columns + first;
              for (std::size_t k = 0; k < types.size(); ++k) {
                const std::size_t width = byte_width(types[k]);
                std::memcpy(
                    static_cast<std::byte*>(outputs[k]) + static_cast<std::size_t>(to) * width,
                    lanes.acc[k], static_cast<std::size_t>(run.n()) * width);
              }
            });
}

void select_and_scatter_region(const Region& select, const Region& scatter,
                               std::span<const std::int64_t> dims, const Window& window, DType type,
                               const void* operand, const void* source, const void* init,
                               void* output, Parallel& parallel) {
  const DimVector strides = dense_strides(dims);
  const DimVector out_dims = window.output_dims(dims);
  const std::size_t width = byte_width(type);
  const auto* in = static_cast<const std::byte*>(operand);
  auto* out = static_cast<std::byte*>(output);
  fill_splat(out, init, width, product(dims));
  const std::int64_t windows = product(out_dims), positions = product(window.size);
  const std::int64_t outer = product(dims.first(static_cast<std::size_t>(window.whole_dims())));
  if (windows == 0) return;
  constexpr std::int64_t kPartCost = 4 << 10, kMostParts = 32;
  split(outer, windows * positions / kPartCost, kMostParts, parallel,
        [&](std::int64_t begin, std::int64_t end) {
          RegionFrame choose(select), combine(scatter);
          for (std::int64_t w = windows / outer * begin; w < windows / outer * end; ++w) {
            const DimVector index = index_of(w, out_dims);
            std::int64_t chosen = -1;
            for (std::int64_t p = 0; p < positions; ++p) {
              const std::int64_t offset = operand_offset(window, index, p, dims, strides);
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
        });
}

}  // namespace millrace::devices::cpu
