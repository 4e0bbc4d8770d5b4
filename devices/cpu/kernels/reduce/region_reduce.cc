#include "millrace/devices/cpu/kernels/reduce/region_reduce.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "millrace/core/base/check.h"
#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/movement/strided.h"
#include "millrace/devices/cpu/kernels/reduce/region_lanes.h"

namespace millrace::devices::cpu {
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

// What the first cache holds is cut for the fewest steps, of its segments side by side and then of
// what is left.
Segments segments_of_few(std::int64_t kept, std::int64_t folded) {
  constexpr std::int64_t kLeast = 24;
  Segments best;
  std::int64_t least = folded;
  for (std::int64_t length = 4; folded >= kLeast && length <= folded / 4; length *= 2) {
    const std::int64_t count = folded / length, left = folded % length,
                       steps = batches_of(kept * count) * length + count + left;
    if (steps >= least) continue;
    least = steps;
    best = {count, length, left};
  }
  return best;
}

// None where there are lanes enough without them. Lines of a cache that lie at a power of two of
// bytes from each other take each other's place, so lanes begin at odd multiples of a line.
Segments segments_of(const FoldedDims& d, std::size_t width) {
  constexpr std::int64_t kFewElements = 128, kLine = 64, kMostLines = 17, kAliases = 1024,
                         kFirstCache = 16 << 10;
  if (d.folded.empty()) return {};
  for (std::size_t i = 0; i + 1 < d.folded.size(); ++i) {
    if (d.folded_strides[i] != d.folded[i + 1] * d.folded_strides[i + 1]) return {};
  }
  const std::int64_t folded = product(d.folded), bytes = static_cast<std::int64_t>(width);
  if (product(d.kept) * folded * bytes <= kFirstCache)
    return product(d.kept) < kRegionBatch ? segments_of_few(product(d.kept), folded) : Segments();
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

}  // namespace millrace::devices::cpu
