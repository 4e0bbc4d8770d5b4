#include "millrace/devices/cpu/kernels/movement/sort.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "millrace/devices/cpu/kernels/base/dim_vector.h"
#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/base/split.h"
#include "millrace/devices/cpu/kernels/movement/merge_sort.h"
#include "millrace/devices/cpu/kernels/movement/sort_key.h"

namespace millrace::devices::cpu {
namespace {

DType key_type(const Region& region) {
  const TileProgram& program = region.keys->key;
  return program.dtype(program.outputs()[0]);
}

// How much scratch the entries of one line take, and as much again.
std::size_t line_bytes(const Region& region, std::int64_t extent) {
  const std::size_t entry = !region.keys                        ? sizeof(std::int32_t)
                            : byte_width(key_type(region)) == 8 ? sizeof(SortEntry<std::uint64_t>)
                                                                : sizeof(SortEntry<std::uint32_t>);
  return 2 * entry * static_cast<std::size_t>(std::max<std::int64_t>(extent, 1));
}

// The lines of an array along one dimension.
struct Lines {
  std::int64_t extent, stride;
  std::size_t bytes;  // of scratch for a part, which sorts one line at a time
  Parts parts;        // of all lines, for threads

  Lines(const Region& region, const Shape& shape, int dimension)
      : extent(shape.dim(dimension)),
        stride(dense_strides(shape)[static_cast<std::size_t>(dimension)]),
        bytes(line_bytes(region, extent)),
        parts(extent == 0 ? 0 : shape.elements() / extent, shape.elements() / kPart,
              std::clamp<std::int64_t>(static_cast<std::int64_t>(kMostBytes / bytes), 1, kMost)) {}

  // Where the first element of a line is.
  std::int64_t start(std::int64_t line) const {
    return line / stride * stride * extent + line % stride;
  }

 private:
  static constexpr std::int64_t kPart = 8 << 10, kMost = 16;  // elements; parts
  static constexpr std::size_t kMostBytes = 64 << 20;         // of the scratch of several
};

// By the comparator itself; the order lies in `scratch` then.
const std::int32_t* sort_by_comparator(RegionFrame& frame, const Lines& lines, std::int64_t start,
                                       std::span<const DType> types,
                                       std::span<const void* const> operands, std::byte* scratch) {
  const auto extent = static_cast<std::size_t>(lines.extent);
  const std::span<std::int32_t> order(reinterpret_cast<std::int32_t*>(scratch), extent),
      memory(order.data() + extent, extent);
  const auto before = [&](std::int32_t a, std::int32_t b) {
    for (std::size_t k = 0; k < types.size(); ++k) {
      const auto width = static_cast<std::int64_t>(byte_width(types[k]));
      const auto* data = static_cast<const std::byte*>(operands[k]) + start * width;
      frame.set_argument(static_cast<int>(2 * k), data + a * lines.stride * width);
      frame.set_argument(static_cast<int>(2 * k + 1), data + b * lines.stride * width);
    }
    frame.run(1);
    return *static_cast<const std::uint8_t*>(frame.result(0)) != 0;
  };
  std::iota(order.begin(), order.end(), 0);
  return merge_sort(order, memory, before).data();
}

// The keys of a line as numbers, smaller ones first. False if there is a NaN that is in no order.
template <class T>
bool make_entries(const SortKeys& keys, RegionFrame& frame, const std::byte* line, DType type,
                  std::int64_t stride, std::span<SortEntry<SortNumber<T>>> entries) {
  const std::size_t width = byte_width(type);
  const auto step = static_cast<std::size_t>(stride) * width;
  alignas(64) std::byte gathered[kRegionBatch * 8];
  for (std::size_t first = 0; first < entries.size(); first += kRegionBatch) {
    const std::size_t n = std::min<std::size_t>(kRegionBatch, entries.size() - first);
    const std::byte* elements = line + first * step;
    if (stride != 1) {
      for (std::size_t i = 0; i < n; ++i)
        std::memcpy(gathered + i * width, elements + i * step, width);
      elements = gathered;
    }
    frame.set_argument(0, elements);
    frame.run(static_cast<int>(n));
    const auto* values = static_cast<const T*>(frame.result(0));
    for (std::size_t i = 0; i < n; ++i) {
      T value = values[i];
      if constexpr (kIsFloat<T>) {
        if (!keys.total_order) {
          const ComputeType<T> v = value;
          if (v != v) return false;
          if (v == 0) value = T(ComputeType<T>(0));
        }
      }
      const SortNumber<T> number = sort_number(value);
      entries[first + i] = {keys.descending ? static_cast<SortNumber<T>>(~number) : number,
                            static_cast<std::int32_t>(first + i)};
    }
  }
  return true;
}

// Copies an operand's line in the order of `index(i)`.
template <class F>
void copy_line(const std::byte* from, std::byte* to, std::size_t width, std::int64_t stride,
               std::int64_t extent, F index) {
  with_width(width, [&](auto tag) {
    using U = typename decltype(tag)::type;
    const auto* const elements = reinterpret_cast<const U*>(from);
    auto* const results = reinterpret_cast<U*>(to);
    for (std::int64_t i = 0; i < extent; ++i) results[i * stride] = elements[index(i) * stride];
  });
}

// Below it, to count the digits takes longer than to compare.
constexpr std::size_t kFewKeys = 128;

}  // namespace

std::size_t sort_scratch_bytes(const Region& region, const Shape& shape, int dimension) {
  const Lines lines(region, shape, dimension);
  return lines.bytes * static_cast<std::size_t>(lines.parts.count);
}

void sort(const Region& region, const Shape& shape, int dimension, std::span<const DType> types,
          std::span<const void* const> operands, std::span<void* const> outputs, std::byte* scratch,
          Parallel& parallel) {
  const Lines lines(region, shape, dimension);
  const auto extent = static_cast<std::size_t>(lines.extent);
  const auto copy_lines = [&](std::int64_t start, auto index) {
    for (std::size_t k = 0; k < types.size(); ++k) {
      const std::size_t width = byte_width(types[k]),
                        first = static_cast<std::size_t>(start) * width;
      copy_line(static_cast<const std::byte*>(operands[k]) + first,
                static_cast<std::byte*>(outputs[k]) + first, width, lines.stride, lines.extent,
                index);
    }
  };
  // True if it has sorted the line by its keys, of type T.
  const auto by_keys = [&](auto tag, RegionFrame& frame, std::int64_t start, std::byte* memory) {
    using T = typename decltype(tag)::type;
    using Entry = SortEntry<SortNumber<T>>;
    const std::span<Entry> entries(reinterpret_cast<Entry*>(memory), extent),
        others(entries.data() + extent, extent);
    const auto operand = static_cast<std::size_t>(region.keys->operand);
    const auto* line = static_cast<const std::byte*>(operands[operand]) +
                       static_cast<std::size_t>(start) * byte_width(types[operand]);
    if (!make_entries<T>(*region.keys, frame, line, types[operand], lines.stride, entries))
      return false;
    const auto sorted = extent < kFewKeys
                            ? merge_sort(
                                  entries, others, [](Entry a, Entry b) { return a.key < b.key; })
                            : radix_sort(entries, others);
    copy_lines(start, [&](std::int64_t i) { return sorted[static_cast<std::size_t>(i)].index; });
    return true;
  };
  parallel.run(lines.parts.count, [&](int part) {
    std::byte* const memory = scratch + static_cast<std::size_t>(part) * lines.bytes;
    RegionFrame comparator(region);
    std::optional<RegionFrame> key;
    if (region.keys) key.emplace(region.keys->key);
    const std::int64_t end = lines.parts.begin(part + 1);
    for (std::int64_t line = lines.parts.begin(part); line < end; ++line) {
      const std::int64_t start = lines.start(line);
      if (key) {
        const bool sorted = visit(
            key_type(region), [&](auto tag) { return by_keys(tag, *key, start, memory); },
            [] { return false; });
        if (sorted) continue;
      }
      const std::int32_t* const order =
          sort_by_comparator(comparator, lines, start, types, operands, memory);
      copy_lines(start, [=](std::int64_t i) { return order[i]; });
    }
  });
}

}  // namespace millrace::devices::cpu
