#include "millrace/devices/cpu/kernels/reduce/region_reduce.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/base/split.h"
#include "millrace/devices/cpu/kernels/movement/strided.h"

namespace millrace::devices::cpu {
namespace {

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
  constexpr std::int64_t kPartCost = 16 << 10, kMostParts = 32;
  split(units, cost / kPartCost, kMostParts, parallel, [&](std::int64_t begin, std::int64_t end) {
    RegionFrame frame(region);
    Lanes lanes;
    for (std::int64_t u = begin; u < end; ++u) body(u, frame, lanes);
  });
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

using LaneSet = std::uint64_t;  // a bit for each lane
static_assert(kRegionBatch == 64);

// count > 0
LaneSet lanes_from(std::int64_t first, std::int64_t count) {
  return ~LaneSet{0} >> (kRegionBatch - count) << first;
}

void copy_element(std::byte* to, const std::byte* from, std::size_t width) {
  if (width == 4)
    std::memcpy(to, from, 4);  // no call
  else
    std::memcpy(to, from, width);
}

// to[i] = from[i] in these lanes, of `width` bytes each.
void take(std::byte* to, const std::byte* from, std::size_t width, LaneSet where) {
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
void step(RegionFrame& frame, Lanes& lanes, std::span<const DType> types, int n, LaneSet where) {
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

}  // namespace

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

// Where the lanes of a batch lie in an operand, in elements from the place of the first result.
class LanePlaces {
 public:
  LanePlaces(const DimVector& dims, const DimVector& strides, std::int64_t first, int n) : n_(n) {
    DimVector index = index_of(first, dims);
    std::int64_t at = place_of(first, dims, strides);
    for (int i = 0; i < n; ++i) {
      at_[i] = at;
      dense_ = dense_ && at == at_[0] + i;
      for (std::size_t d = dims.size(); d-- > 0;) {
        at += strides[d];
        if (++index[d] < dims[d]) break;
        at -= strides[d] * dims[d];
        index[d] = 0;
      }
    }
  }
  // to[i] = the element of lane i, where its first one is from[at of i].
  void load(std::byte* to, const std::byte* from, std::size_t width) const {
    with_width(width, [&](auto tag) {
      using U = typename decltype(tag)::type;
      const U* const in = reinterpret_cast<const U*>(from);
      U* const out = reinterpret_cast<U*>(to);
      if (dense_) {
        std::memcpy(out, in + at_[0], static_cast<std::size_t>(n_) * sizeof(U));
      } else {
        for (int i = 0; i < n_; ++i) out[i] = in[at_[i]];
      }
    });
  }

 private:
  const int n_;
  bool dense_ = true;
  std::int64_t at_[kRegionBatch];
};

// The kept dimensions are those of the lanes. No inits: a lane begins with its first element. The
// value of lane i goes to place i / row * row_step + i % row.
void fold_lanes(const Region& region, const FoldedDims& d, std::span<const DType> types,
                std::span<const void* const> operands, std::span<const void* const> inits,
                std::span<void* const> outputs, std::int64_t row, std::int64_t row_step,
                Parallel& parallel) {
  const std::int64_t results = product(d.kept), folded = product(d.folded);
  each_batch(region, results, results * folded, parallel,
             [&](std::int64_t first, int n, RegionFrame& frame, Lanes& lanes) {
               const LanePlaces places(d.kept, d.kept_strides, first, n);
               const auto load = [&](std::int64_t r, auto& to) {
                 const std::int64_t offset = d.folded.size() == 1
                                                 ? r * d.folded_strides[0]
                                                 : place_of(r, d.folded, d.folded_strides);
                 for (std::size_t k = 0; k < types.size(); ++k) {
                   const std::size_t width = byte_width(types[k]);
                   places.load(to[k],
                               static_cast<const std::byte*>(operands[k]) +
                                   offset * static_cast<std::int64_t>(width),
                               width);
                 }
               };
               std::int64_t r = 0;
               if (inits.empty()) load(r++, lanes.acc);
               for (std::size_t k = 0; k < inits.size(); ++k)
                 fill_splat(lanes.acc[k], inits[k], byte_width(types[k]), n);
               for (; r < folded; ++r) {
                 load(r, lanes.element);
                 step(frame, lanes, types, n, lanes_from(0, n));
               }
               for (int i = 0; i < n;) {
                 const std::int64_t lane = first + i, in_row = lane % row;
                 const auto count =
                     static_cast<std::size_t>(std::min<std::int64_t>(n - i, row - in_row));
                 const auto to = static_cast<std::size_t>(lane / row * row_step + in_row);
                 for (std::size_t k = 0; k < types.size(); ++k) {
                   const std::size_t width = byte_width(types[k]);
                   std::memcpy(static_cast<std::byte*>(outputs[k]) + to * width,
                               lanes.acc[k] + static_cast<std::size_t>(i) * width, count * width);
                 }
                 i += static_cast<int>(count);
               }
             });
}

// The elements of one result as so many segments, one behind the other, and what is left of them.
struct Segments {
  std::int64_t count = 0, length = 0, left = 0;
  std::int64_t parts() const { return count + left; }
};

// None where there are lanes enough without them. Lines of a cache that lie at a power of two of
// bytes from each other take each other's place, so lanes begin at odd multiples of a line.
Segments segments_of(const FoldedDims& d, std::size_t width) {
  constexpr std::int64_t kFewElements = 128, kLine = 64, kMostLines = 17, kAliases = 1024;
  if (d.folded.empty()) return {};
  for (std::size_t i = 0; i + 1 < d.folded.size(); ++i) {
    if (d.folded_strides[i] != d.folded[i + 1] * d.folded_strides[i + 1]) return {};
  }
  const std::int64_t folded = product(d.folded), bytes = static_cast<std::int64_t>(width);
  const bool aliases = d.folded_strides.back() == 1 && folded * bytes % kAliases == 0;
  if (folded < kFewElements || (product(d.kept) >= kRegionBatch && !aliases)) return {};
  Segments best;
  for (std::int64_t lines = 3; lines <= kMostLines; lines += 2) {
    const std::int64_t length = lines * kLine / bytes, count = folded / length;
    const std::int64_t left = folded - count * length;
    if (count < 2 || count + left > folded / 4) continue;
    if (best.count == 0 || count + left < best.count + best.left) best = {count, length, left};
  }
  return best;
}

constexpr std::int64_t kLastOfTwo[] = {1};

std::size_t part_bytes(std::span<const std::int64_t> dims, DType type) {
  return (static_cast<std::size_t>(product(dims)) * byte_width(type) + 63) / 64 * 64;
}

}  // namespace

std::size_t reduce_region_scratch_bytes(std::span<const std::int64_t> dims,
                                        std::span<const std::int64_t> reduced,
                                        std::span<const DType> types) {
  const FoldedDims d(dims, reduced);
  const Segments segments = segments_of(d, byte_width(types[0]));
  if (segments.count == 0) return 0;
  const std::int64_t values[] = {product(d.kept), segments.parts()};
  std::size_t bytes = reduce_region_scratch_bytes(values, kLastOfTwo, types);
  for (const DType type : types) bytes += part_bytes(values, type);
  return bytes;
}

void reduce_region(const Region& region, std::span<const std::int64_t> dims,
                   std::span<const std::int64_t> reduced, std::span<const DType> types,
                   std::span<const void* const> operands, std::span<const void* const> inits,
                   std::span<void* const> outputs, std::byte* scratch, Parallel& parallel) {
  MILLRACE_CHECK(types.size() <= kMaxOperands, "too many operands of one reduction");
  const FoldedDims d(dims, reduced);
  const Segments segments = segments_of(d, byte_width(types[0]));
  const std::int64_t results = product(d.kept);
  if (segments.count == 0) {
    return fold_lanes(region, d, types, operands, inits, outputs, results, results, parallel);
  }
  // The body is associative, as the specification demands: each segment is folded alone, then the
  // values of all in their order, with what is left behind them.
  const std::int64_t stride = d.folded_strides.back();
  const std::int64_t values[] = {results, segments.parts()};
  FoldedDims lanes = d, left = d;
  lanes.kept.push_back(segments.count);
  lanes.kept_strides.push_back(segments.length * stride);
  lanes.folded = std::span(&segments.length, 1);
  lanes.folded_strides = std::span(&stride, 1);
  left.kept.push_back(segments.left);
  left.kept_strides.push_back(stride);
  const std::int64_t left_at = segments.count * segments.length * stride;
  std::array<void*, kMaxOperands> to{};
  for (std::size_t k = 0; k < types.size(); ++k) {
    to[k] = scratch;
    scratch += part_bytes(values, types[k]);
    const auto width = static_cast<std::int64_t>(byte_width(types[k]));
    for (std::int64_t i = 0; segments.left > 0 && i < results; ++i) {
      load_strided(static_cast<std::byte*>(to[k]) + (i * segments.parts() + segments.count) * width,
                   static_cast<const std::byte*>(operands[k]) + left_at * width,
                   static_cast<int>(width), left.kept, left.kept_strides, i * segments.left,
                   static_cast<int>(segments.left));
    }
  }
  const auto parts = std::span(to).first(types.size());
  fold_lanes(region, lanes, types, operands, {}, parts, segments.count, segments.parts(), parallel);
  reduce_region(region, values, kLastOfTwo, types, {parts.begin(), parts.end()}, inits, outputs,
                scratch, parallel);
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
