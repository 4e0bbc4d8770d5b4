#include "millrace/devices/cpu/kernels/reduce/pool.h"

#include <algorithm>

namespace millrace::devices::cpu {
namespace {

constexpr std::int64_t kPartElements = 32 << 10;
constexpr std::int64_t kMaxParts = 32, kLeastLines = 4;
constexpr std::int64_t kMaxStride = 16;

const PoolRows& rows() {
  static const PoolRows chosen = MILLRACE_BEST_ISA(pool_rows());
  return chosen;
}

// What the passes are split into: lines of results, a few to a part, and images.
std::int64_t result_lines(const PoolGeometry& g) { return g.outer * g.out_depth * g.out_height; }

std::int64_t parts_of(const PoolGeometry& g, std::int64_t most) {
  const std::int64_t elements = g.outer * g.depth * g.height * g.width * g.inner;
  return std::clamp<std::int64_t>(elements / kPartElements, 1,
                                  std::clamp<std::int64_t>(most, 1, kMaxParts));
}
std::int64_t pool_parts(const PoolGeometry& g) {
  return parts_of(g, result_lines(g) / kLeastLines);
}
std::int64_t gradient_parts(const PoolGeometry& g) { return parts_of(g, g.outer); }

// One row's worth, in floats.
std::int64_t wide_row(const PoolGeometry& g) {
  return ((g.width + g.pad_left + g.pad_right) * g.inner + 64) / 16 * 16;
}

// body(part, begin, end) for even parts of the pieces.
template <class F>
void each_part(std::int64_t parts, std::int64_t pieces, Parallel& parallel, F body) {
  parallel.run(static_cast<int>(parts),
               [&](int p) { body(p, pieces * p / parts, pieces * (p + 1) / parts); });
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
  if (first < 0 || last - first > 2) return std::nullopt;
  for (int d = 0; d < window.rank(); ++d) {
    const auto s = static_cast<std::size_t>(d);
    if (d < first) g.outer *= dims[s];
    if (d > last) g.inner *= dims[s];
    if (dims[s] == 0) return std::nullopt;
  }
  // From the last dimension on: width, height, depth.
  const auto w = static_cast<std::size_t>(last);
  g.width = dims[w];
  g.out_width = window.output_extent(last, dims[w]);
  g.window_width = window.size[w];
  g.stride_width = window.strides[w];
  g.pad_left = window.pad_low[w];
  g.pad_right = window.pad_high[w];
  if (last > first) {
    const std::size_t h = w - 1;
    g.height = dims[h];
    g.out_height = window.output_extent(last - 1, dims[h]);
    g.window_height = window.size[h];
    g.stride_height = window.strides[h];
    g.pad_top = window.pad_low[h];
    g.pad_bottom = window.pad_high[h];
  }
  if (last > first + 1) {
    const std::size_t d = w - 2;
    g.depth = dims[d];
    g.out_depth = window.output_extent(first, dims[d]);
    g.window_depth = window.size[d];
    g.stride_depth = window.strides[d];
    g.pad_front = window.pad_low[d];
  }
  if (g.window_lines() > kMaxPoolLines || g.out_width == 0 || g.out_height == 0 || g.out_depth == 0)
    return std::nullopt;
  return g;
}

bool suits_pool(const PoolGeometry& g) { return g.stride_width <= kMaxStride; }

bool has_pool_gradient(const PoolGeometry& g) {
  return g.depth == 1 && g.out_depth == 1 && g.window_depth == 1 && g.pad_top == 0 &&
         g.pad_left == 0 && g.pad_bottom == 0 && g.pad_right == 0 &&
         g.stride_height >= g.window_height && g.stride_width >= g.window_width &&
         g.stride_height <= kMaxPoolLines;
}

std::size_t pool_scratch_bytes(const PoolGeometry& g) {
  return static_cast<std::size_t>(pool_parts(g) * wide_row(g)) * sizeof(float);
}
std::size_t pool_gradient_scratch_bytes(const PoolGeometry& g) {
  return static_cast<std::size_t>(gradient_parts(g) * 5 * wide_row(g)) * sizeof(float);
}

void pool(const PoolGeometry& g, PoolKind kind, const float* x, float init, float* out,
          std::byte* scratch, Parallel& parallel) {
  const std::int64_t line = g.width * g.inner, out_line = g.out_width * g.inner;
  each_part(pool_parts(g), result_lines(g), parallel,
            [&](int part, std::int64_t begin, std::int64_t end) {
              float* row = reinterpret_cast<float*>(scratch) + part * wide_row(g);
              const float* lines[kMaxPoolLines];
              for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t y = i % g.out_height, z = i / g.out_height % g.out_depth,
                                   o = i / g.out_height / g.out_depth;
                for (std::int64_t l = 0; l < g.window_lines(); ++l) {
                  const std::int64_t plane = z * g.stride_depth + l / g.window_height - g.pad_front,
                                     at = y * g.stride_height + l % g.window_height - g.pad_top;
                  const bool inside = plane >= 0 && plane < g.depth && at >= 0 && at < g.height;
                  lines[l] = inside ? x + ((o * g.depth + plane) * g.height + at) * line : nullptr;
                }
                rows().forward(g, kind, lines, init, row, out + i * out_line);
              }
            });
}

void pool_gradient(const PoolGeometry& g, const float* x, const float* source, float init,
                   float* out, std::byte* scratch, Parallel& parallel) {
  const std::int64_t line = g.width * g.inner, out_line = g.out_width * g.inner;
  each_part(
      gradient_parts(g), g.outer, parallel, [&](int part, std::int64_t begin, std::int64_t end) {
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
        const float* lines[kMaxPoolLines];
        float* out_lines[kMaxPoolLines];
        for (std::int64_t o = begin; o < end; ++o) {
          float* image = out + o * g.height * line;
          for (std::int64_t y = 0; y < g.out_height; ++y) {
            for (std::int64_t h = 0; h < g.stride_height; ++h) {
              const std::int64_t at = y * g.stride_height + h;
              if (h < g.window_height) lines[h] = x + (o * g.height + at) * line;
              out_lines[h] = at < g.height ? image + at * line : nullptr;
            }
            rows().backward(g, lines, source + (o * g.out_height + y) * out_line, init, best,
                            chosen, wide_chosen, wide_source, pattern, out_lines);
          }
          for (std::int64_t i = g.out_height * g.stride_height * line; i < g.height * line; ++i)
            image[i] = init;
        }
      });
}

}  // namespace millrace::devices::cpu
