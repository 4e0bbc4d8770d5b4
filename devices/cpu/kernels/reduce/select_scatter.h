// SelectScatter: select_and_scatter with a comparison (>=, >, <=, <) and an addition, which is the
// gradient of max and min pooling, for any window without dilation. Windows that do not touch each
// other's elements run on all threads; those that do run in the definition's order
// (kernels/reduce/reduce_definition.cc), so that the bits are the same with any number of threads.
// pool.h is faster where windows lie side by side; all else goes through region_reduce.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/cpu/kernels/base/isa_level.h"
#include "millrace/devices/cpu/kernels/functions/tile_op.h"
#include "millrace/devices/cpu/kernels/reduce/region_reduce.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

inline constexpr int kSelectLanes = 256;  // the most windows that are worked on at once

// The elements that lanes [begin, end) have under one position of their windows: lane i's is
// offset + i * step.
struct SelectPosition {
  std::int64_t offset = 0;
  std::int32_t begin = 0, end = 0;
};

// Windows that are worked on side by side. step and source_step count elements.
struct SelectLanes {
  const void* operand = nullptr;
  const void* source = nullptr;  // the first lane's element
  void* out = nullptr;           // of the operand's shape
  const SelectPosition* positions = nullptr;
  int position_count = 0;
  int lanes = 0;
  std::int64_t step = 1, source_step = 1;
  bool apart = false;  // no two lanes have an element in common
};
using SelectLoop = void (*)(const SelectLanes&);

// nullptr for other types and operations.
MILLRACE_IN_EACH_ISA(SelectLoop find_select_loop(DType type, TileOp comparison);)

// Thread-safety: immutable.
class SelectScatter {
 public:
  // nullopt where the operations, the type or the window are others.
  static std::optional<SelectScatter> create(DType type, std::optional<TileOp> select,
                                             std::optional<TileOp> scatter,
                                             std::span<const std::int64_t> dims,
                                             const Window& window);

  void run(const void* operand, const void* source, const void* init, void* out,
           Parallel& parallel) const;

 private:
  // A dimension between the first and the last in which a window is more than an element.
  struct Dim {
    std::int64_t extent = 0, windows = 0, size = 0, stride = 0, pad_low = 0;
    std::int64_t step = 0;  // elements from one place of the operand to the next
  };
  class Walk;

  SelectScatter() = default;

  SelectLoop loop_ = nullptr;
  std::size_t width_ = 0;  // of an element
  std::vector<Dim> dims_;
  std::int64_t outer_ = 1, inner_ = 1;       // the dimensions before and behind these
  std::int64_t elements_ = 1, windows_ = 1;  // of one outer index
  // A window's positions, each with its place in every dimension, and what its element is behind
  // that of the first.
  std::vector<std::int64_t> places_, offsets_;
  bool by_columns_ = false;  // lanes are windows along the last dimension; else the inner elements
};

}  // namespace millrace::devices::cpu
