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

// Thread-safety: immutable.
struct Region {
  TileProgram program;  // inputs: the block's arguments; outputs: what it returns
  // The body if it is one of add, multiply, maximum, minimum, and, or of its two arguments.
  std::optional<TileOp> kind;
  // The body if it is one comparison of argument 0 with argument 1, in this order.
  std::optional<TileOp> comparison;

  bool fits() const;  // in a RegionFrame
};

// The memory to evaluate one Region, on the stack of the kernel. Thread-safety: confined.
class RegionFrame {
 public:
  static constexpr std::size_t kBytes = 48 << 10;

  explicit RegionFrame(const Region& region) : program_(region.program) {
    program_.bind(memory_, pointers_, kRegionBatch, kRegionBatch);
  }
  // Argument i is read from `data`, n elements.
  void set_argument(int i, const void* data) {
    pointers_[program_.inputs()[static_cast<std::size_t>(i)]] = const_cast<void*>(data);
  }
  void run(int n) { program_.run(pointers_, n); }
  // The region of (accumulators..., elements...) for one of each: its results become the
  // accumulators.
  void fold(std::span<const DType> types, void* const* accumulators, const void* const* elements) {
    const auto count = static_cast<int>(types.size());
    for (int k = 0; k < count; ++k) {
      set_argument(k, accumulators[k]);
      set_argument(count + k, elements[k]);
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

inline bool Region::fits() const {
  return program.scratch_bytes_per_element() * kRegionBatch <= RegionFrame::kBytes;
}

}  // namespace millrace::devices::cpu
