// Region: the body of reduce, reduce_window, scatter, sort and their like: a function of scalars,
// compiled to a TileProgram and evaluated for up to kRegionBatch independent element tuples at
// once.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

#include "millrace/devices/cpu/kernels/functions/tile_program.h"

namespace millrace::devices::cpu {

inline constexpr int kRegionBatch = 64;
inline constexpr int kMaxOperands = 8;  // of one reduction, scatter or scan

// A comparator that makes a key of either element in the same way and compares the two: a sort
// makes each element's key once.
struct SortKeys {
  TileProgram key;   // of one element: its key
  int operand;       // the one whose elements have keys
  bool descending;   // the larger key comes first
  bool total_order;  // else of floats: zeros are equal, and a NaN is in no order
};

// Thread-safety: immutable.
struct Region {
  TileProgram program;  // inputs: the block's arguments; outputs: what it returns
  // The body if it is one of add, multiply, maximum, minimum, and, or of its two arguments.
  std::optional<TileOp> kind;
  // The body if it is one comparison of argument 0 with argument 1, in this order.
  std::optional<TileOp> comparison;
  // The keys of a comparator that asks whether one is less, or greater, than another.
  std::optional<SortKeys> keys;

  bool fits() const;  // in a RegionFrame
};

// The memory to evaluate one Region, on the stack of the kernel. Thread-safety: confined.
class RegionFrame {
 public:
  static constexpr std::size_t kBytes = 48 << 10;

  explicit RegionFrame(const Region& region) : RegionFrame(region.program) {}
  // program: one that fits.
  explicit RegionFrame(const TileProgram& program) : program_(program) {
    program_.bind(memory_, pointers_, kRegionBatch, kRegionBatch);
  }
  static bool fits(const TileProgram& program) {
    return program.scratch_bytes_per_element() * kRegionBatch <= kBytes;
  }
  // Argument i is read from `data`, n elements.
  void set_argument(int i, const void* data) {
    pointers_[program_.inputs()[static_cast<std::size_t>(i)]] = const_cast<void*>(data);
  }
  void run(int n) { program_.run(pointers_, n); }
  // The region of (accumulators..., elements...) for one of each: its results become the
  // accumulators. elements_first: of (elements..., accumulators...).
  void fold(std::span<const DType> types, void* const* accumulators, const void* const* elements,
            bool elements_first = false) {
    const auto count = static_cast<int>(types.size());
    for (int k = 0; k < count; ++k) {
      set_argument(elements_first ? count + k : k, accumulators[k]);
      set_argument(elements_first ? k : count + k, elements[k]);
    }
    run(1);
    // All results first: one may be an accumulator itself.
    std::byte results[kMaxOperands][16];
    for (int k = 0; k < count; ++k)
      std::memcpy(results[k], result(k), byte_width(types[static_cast<std::size_t>(k)]));
    for (int k = 0; k < count; ++k)
      std::memcpy(accumulators[k], results[k], byte_width(types[static_cast<std::size_t>(k)]));
  }
  const void* result(int i) const {
    return pointers_[program_.outputs()[static_cast<std::size_t>(i)]];
  }

 private:
  const TileProgram& program_;
  alignas(64) std::byte memory_[kBytes];
  void* pointers_[TileProgram::kMaxValues];
};

inline bool Region::fits() const { return RegionFrame::fits(program); }

}  // namespace millrace::devices::cpu
