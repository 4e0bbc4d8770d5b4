#include "millrace/devices/cpu/kernels/reduce/pool.h"

#include <algorithm>

namespace millrace::devices::cpu {
namespace {

constexpr std::int64_t kMaxWindowHeight = 64;
constexpr std::int64_t kPartElements = 32 << 10;
constexpr std::int64_t kMaxParts = 32;

const PoolRows& rows() {
  static const PoolRows chosen = MILLRACE_BEST_ISA(pool_rows());
  return chosen;
}

std::int64_t parts_of(const PoolGeometry& g) {
  const std::int64_t elements = g.outer * g.height * g.width * g.inner;
  return std::clamp<std::int64_t>(elements / kPartElements, 1, std::min(g.outer, kMaxParts));
}

// One row's worth, in floats.
std::int64_t wide_row(const PoolGeometry& g) {
  return ((g.width + g.pad_left + g.pad_right) * g.inner + 64) / 16 * 16;
}

template <class F>
void each_part(const PoolGeometry& g, Parallel& parallel, F body) {
  const std::int64_t parts = parts_of(g);
  parallel.run(static_cast<int>(parts),
               [&](int p) { body(p, g.outer * p / parts, g.outer * (p + 1) / parts); });
}

}  // namespace

std::optional<PoolGeometry> pool_geometry(std::span<const std::int64_t> dims,
                                          const Window& window) {
  PoolGeometry g;
  int first = -1, last = -1;
  for (int d = 0; d < window.rank(); ++d) {
    const auto s = static_cast<std::size_t>(d);
    if (window.base_dilations[s] != 1 || window.pad_low[s] < 0 || window.pad_high[s] < 0)
      return std::nullopt;
    if (window.window_dilations[s] != 1 && window.size[s] != 1) return std::nullopt;
    if (window.size[s] == 1 && window.strides[s] == 1 && window.pad_low[s] == 0 &&
        window.pad_high[s] == 0)
      continue;
    if (first < 0) first = d;
    last = d;
  }
  if (first < 0 || last - first > 1) return std::nullopt;
  for (int d = 0; d < window.rank(); ++d) {
    const auto s = static_cast<std::size_t>(d);
    if (d < first) g.outer *= dims[s];
    if (d > last) g.inner *= dims[s];
    if (dims[s] == 0) return std::nullopt;
  }
  const auto w = static_cast<std::size_t>(last), h = static_cast<std::size_t>(first);
  g.width = dims[w];
  g.out_width = window.output_extent(last, dims[w]);
  g.window_width = window.size[w];
  g.stride_width = window.strides[w];
  g.pad_left = window.pad_low[w];
  g.pad_right = window.pad_high[w];
  if (h != w) {
    g.height = dims[h];
    g.out_height = window.output_extent(first, dims[h]);
    g.window_height = window.size[h];
    g.stride_height = window.strides[h];
    g.pad_top = window.pad_low[h];
    g.pad_bottom = window.pad_high[h];
  }
  if (g.window_height > kMaxWindowHeight || g.out_width == 0 || g.out_height == 0)
    return std::nullopt;
  return g;
}

bool has_pool_gradient(const PoolGeometry& g) {
  return g.pad_top == 0 && g.pad_left == 0 && g.pad_bottom == 0 && g.pad_right == 0 &&
         g.stride_height >= g.window_height && g.stride_width >= g.window_width &&
         g.stride_height <= kMaxWindowHeight;
}

std::size_t pool_scratch_bytes(const PoolGeometry& g) {
  return static_cast<std::size_t>(parts_of(g) * 5 * wide_row(g)) * sizeof(float);
}

void pool(const PoolGeometry& g, PoolKind kind, const float* x, float init, float* out,
          std::byte* scratch, Parallel& parallel) {
  const std::int64_t line = g.width * g.inner, out_line = g.out_width * g.inner;
  each_part(g, parallel, [&](int part, std::int64_t begin, std::int64_t end) {
    float* row = reinterpret_cast<float*>(scratch) + part * 5 * wide_row(g);
    const float* lines[kMaxWindowHeight];
    for (std::int64_t o = begin; o < end; ++o) {
      for (std::int64_t y = 0; y < g.out_height; ++y) {
        for (std::int64_t h = 0; h < g.window_height; ++h) {
          const std::int64_t at = y * g.stride_height + h - g.pad_top;
          lines[h] = at >= 0 && at < g.height ? x + (o * g.height + at) * line : nullptr;
        }
        rows().forward(g, kind, lines, init, row, out + (o * g.out_height + y) * out_line);
      }
    }
  });
}

void pool_gradient(const PoolGeometry& g, const float* x, const float* source, float init,
                   float* out, std::byte* scratch, Parallel& parallel) {
  const std::int64_t line = g.width * g.inner, out_line = g.out_width * g.inner;
  each_part(g, parallel, [&](int part, std::int64_t begin, std::int64_t end) {
    const std::int64_t wide = wide_row(g);
    float* best = reinterpret_cast<float*>(scratch) + part * 5 * wide;
    auto* chosen = reinterpret_cast<std::int32_t*>(best + wide);
    auto* wide_chosen = reinterpret_cast<std::int32_t*>(best + 2 * wide);
    float* wide_source = best + 3 * wide;
    auto* pattern = reinterpret_cast<std::int32_t*>(best + 4 * wide);
    for (std::int64_t i = 0; i < line; ++i) {
      const std::int64_t column = i / g.inner;
      const bool covered =
          column / g.stride_width < g.out_width && column % g.stride_width < g.window_width;
      pattern[i] = covered ? static_cast<std::int32_t>(column % g.stride_width) : -1;
      wide_chosen[i] = 0;
    }
    const float* lines[kMaxWindowHeight];
    float* out_lines[kMaxWindowHeight];
    for (std::int64_t o = begin; o < end; ++o) {
      float* image = out + o * g.height * line;
      for (std::int64_t y = 0; y < g.out_height; ++y) {
        for (std::int64_t h = 0; h < g.stride_height; ++h) {
          const std::int64_t at = y * g.stride_height + h;
          if (h < g.window_height) lines[h] = x + (o * g.height + at) * line;
          out_lines[h] = at < g.height ? image + at * line : nullptr;
        }
        rows().backward(g, lines, source + (o * g.out_height + y) * out_line, init, best, chosen,
                        wide_chosen, wide_source, pattern, out_lines);
      }
      for (std::int64_t i = g.out_height * g.stride_height * line; i < g.height * line; ++i)
        image[i] = init;
    }
  });
}

}  // namespace millrace::devices::cpu
