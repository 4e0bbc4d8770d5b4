// Max, min and sum pooling over one to three neighbouring dimensions, and the gradient of max
// pooling over one or two, for f32: what reduce_window and select_and_scatter are in nearly every
// network. A row of the image is worked on as one long vector: first the window's rows are
// combined, then shifted parts of the result. Everything else goes through region_reduce.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/cpu/kernels/base/isa_level.h"
#include "millrace/devices/cpu/kernels/reduce/region_reduce.h"

namespace millrace::devices::cpu {

inline constexpr std::int64_t kMaxPoolLines = 64;  // that a window covers

// An operand [outer, depth, height, width, inner] and a window over depth, height and width.
struct PoolGeometry {
  std::int64_t outer = 1, depth = 1, height = 1, width = 1, inner = 1;
  std::int64_t out_depth = 1, out_height = 1, out_width = 1;
  std::int64_t window_depth = 1, window_height = 1, window_width = 1;
  std::int64_t stride_depth = 1, stride_height = 1, stride_width = 1;
  std::int64_t pad_front = 0, pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;

  std::int64_t window_lines() const { return window_depth * window_height; }
};

// nullopt if the window is no such thing: dilated, over dimensions that are not neighbours,
// negative padding.
std::optional<PoolGeometry> pool_geometry(std::span<const std::int64_t> dims, const Window& window);
// Whether pool() is no more work than a walk of the windows: of few channels it combines a row at
// every place, not at every stride.
bool suits_pool(const PoolGeometry& geometry);
// Whether pool_gradient does it: windows that neither overlap nor are padded.
bool has_pool_gradient(const PoolGeometry& geometry);

std::size_t pool_scratch_bytes(const PoolGeometry& geometry);
std::size_t pool_gradient_scratch_bytes(const PoolGeometry& geometry);

enum class PoolKind : std::uint8_t { kMaximum, kMinimum, kSum };
// out = the largest or smallest of init and the window's elements, or their sum: column by column
// of the window, init at last. Padding adds nothing.
void pool(const PoolGeometry& geometry, PoolKind kind, const float* x, float init, float* out,
          std::byte* scratch, Parallel& parallel);
// Each window's first element that is >= all before it gets init + source, the others init.
// Elements outside every window get init.
void pool_gradient(const PoolGeometry& geometry, const float* x, const float* source, float init,
                   float* out, std::byte* scratch, Parallel& parallel);

// The rows, per instruction set.
struct PoolRows {
  // lines: window_lines() rows of x that the window covers, or nullptr for padding; row: padded
  // width * inner + 32 floats.
  void (*forward)(const PoolGeometry& g, PoolKind kind, const float* const* lines, float init,
                  float* row, float* out);
  // best, chosen: out_width * inner + 32; wide_chosen, wide_source: width * inner + 32; pattern:
  // width * inner, the window column of each element or -1.
  void (*backward)(const PoolGeometry& g, const float* const* lines, const float* source,
                   float init, float* best, std::int32_t* chosen, std::int32_t* wide_chosen,
                   float* wide_source, const std::int32_t* pattern, float* const* out_lines);
};
MILLRACE_IN_EACH_ISA(PoolRows pool_rows();)

}  // namespace millrace::devices::cpu
