// The rows of pool.h, compiled once per instruction set.
#include <cstdint>
#include <cstring>

#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/reduce/pool.h"

namespace millrace::devices::cpu::MILLRACE_ISA {
namespace {

// Copies `count` blocks of `size` elements. Blocks of up to 32 elements are copied in whole
// vectors: what is written too much is overwritten by the next block, and the last is copied
// exactly. `to` must ascend densely.
template <class T>
MILLRACE_INLINE void copy_blocks(T* to, std::int64_t to_step, const T* from, std::int64_t from_step,
                                 std::int64_t size, std::int64_t count) {
  static_assert(sizeof(T) == 4);
  const std::int64_t to_end = (count - 1) * to_step + size,
                     from_end = (count - 1) * from_step + size;
  std::int64_t i = 0;
  if (size > 4 && size <= 16) {
    for (; i * to_step + 16 <= to_end && i * from_step + 16 <= from_end; ++i) {
      __builtin_memcpy(to + i * to_step, from + i * from_step, 64);
    }
  } else if (size > 16 && size <= 32) {
    for (; i * to_step + 32 <= to_end && i * from_step + 32 <= from_end; ++i) {
      __builtin_memcpy(to + i * to_step, from + i * from_step, 128);
    }
  }
  for (; i < count; ++i) {
    for (std::int64_t c = 0; c < size; ++c) to[i * to_step + c] = from[i * from_step + c];
  }
}

// A vector: compilers leave loops over numbers scalar, since pick() may branch.
#if defined(__AVX512F__)
constexpr std::int64_t kLanes = 16;
#elif defined(__AVX2__)
constexpr std::int64_t kLanes = 8;
#else
constexpr std::int64_t kLanes = 4;
#endif
typedef float Floats __attribute__((vector_size(4 * kLanes)));  // NOLINT(modernize-use-using)

// T: a number, or Floats.
template <class T>
MILLRACE_INLINE T load(const float* from) {
  T loaded;
  __builtin_memcpy(&loaded, from, sizeof loaded);
  return loaded;
}
MILLRACE_INLINE void store(float* to, const Floats& all) { __builtin_memcpy(to, &all, sizeof all); }

template <PoolKind kKind, class T>
MILLRACE_INLINE T pick(const T& a, const T& b) {
  if constexpr (kKind == PoolKind::kSum)
    return a + b;
  else if constexpr (kKind == PoolKind::kMaximum)
    return ((a > b) | (a != a)) ? a : b;
  else
    return ((a < b) | (a != a)) ? a : b;
}

// The picks down a column of lines.
template <PoolKind kKind>
void pick_down(const float* const* lines, std::int64_t count, float init, float* row,
               std::int64_t n) {
  // A sum gets its init at the end.
  const float first = kKind == PoolKind::kSum ? 0 : init;
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Floats best = first - Floats{};
    for (std::int64_t l = 0; l < count; ++l) best = pick<kKind>(best, load<Floats>(lines[l] + i));
    store(row + i, best);
  }
  for (; i < n; ++i) {
    float best = first;
    for (std::int64_t l = 0; l < count; ++l) best = pick<kKind>(best, lines[l][i]);
    row[i] = best;
  }
}

// Those across a row, of from, from + step, ..., and a sum's init.
template <class T, PoolKind kKind>
MILLRACE_INLINE T pick_across(const float* from, std::int64_t count, std::int64_t step,
                              float init) {
  T best = load<T>(from);
  for (std::int64_t w = 1; w < count; ++w) best = pick<kKind>(best, load<T>(from + w * step));
  return kKind == PoolKind::kSum ? best + init : best;
}

template <PoolKind kKind>
void forward_row(const PoolGeometry& g, const float* const* lines, float init, float* row,
                 float* out) {
  const std::int64_t edge = g.pad_left * g.inner, n = g.width * g.inner;
  const std::int64_t padded = n + edge + g.pad_right * g.inner;
  constexpr bool kSum = kKind == PoolKind::kSum;
  const float* inside[kMaxPoolLines];
  std::int64_t count = 0;
  for (std::int64_t l = 0; l < g.window_lines(); ++l) {
    if (lines[l] != nullptr) inside[count++] = lines[l];
  }
  for (std::int64_t i = 0; i < edge; ++i) row[i] = kSum ? 0 : init;
  pick_down<kKind>(inside, count, init, row + edge, n);
  for (std::int64_t i = edge + n; i < padded; ++i) row[i] = kSum ? 0 : init;
  const std::int64_t reach = padded - (g.window_width - 1) * g.inner;
  const auto floats_at = [&](const float* from) {
    return pick_across<Floats, kKind>(from, g.window_width, g.inner, init);
  };
  const auto float_at = [&](const float* from) {
    return pick_across<float, kKind>(from, g.window_width, g.inner, init);
  };
  // Where results lie far apart, only these. What is written too much is written again.
  if (g.stride_width > 1 && g.inner > 4) {
    const std::int64_t step = g.stride_width * g.inner, end = g.out_width * g.inner;
    for (std::int64_t x = 0; x < g.out_width; ++x) {
      const float* const from = row + x * step;
      float* const to = out + x * g.inner;
      std::int64_t c = 0;
      for (; c < g.inner && x * step + c + kLanes <= reach && x * g.inner + c + kLanes <= end;
           c += kLanes)
        store(to + c, floats_at(from + c));
      for (; c < g.inner; ++c) to[c] = float_at(from + c);
    }
    return;
  }
  // Ascending, so what is read is not yet changed.
  std::int64_t i = 0;
  for (; i + kLanes <= reach; i += kLanes) store(row + i, floats_at(row + i));
  for (; i < reach; ++i) row[i] = float_at(row + i);
  copy_blocks(out, g.inner, row, g.stride_width * g.inner, g.inner, g.out_width);
}

void forward(const PoolGeometry& g, PoolKind kind, const float* const* lines, float init,
             float* row, float* out) {
  switch (kind) {
    case PoolKind::kMaximum:
      return forward_row<PoolKind::kMaximum>(g, lines, init, row, out);
    case PoolKind::kMinimum:
      return forward_row<PoolKind::kMinimum>(g, lines, init, row, out);
    case PoolKind::kSum:
      return forward_row<PoolKind::kSum>(g, lines, init, row, out);
  }
}

void backward(const PoolGeometry& g, const float* const* lines, const float* source, float init,
              float* best, std::int32_t* chosen, std::int32_t* wide_chosen, float* wide_source,
              const std::int32_t* pattern, float* const* out_lines) {
  const std::int64_t n = g.out_width * g.inner, wide = g.width * g.inner;
  const std::int64_t step = g.stride_width * g.inner;
  float* current = wide_source;  // until it is needed for the source
  for (std::int64_t h = 0; h < g.window_height; ++h) {
    for (std::int64_t w = 0; w < g.window_width; ++w) {
      const auto k = static_cast<std::int32_t>(h * g.window_width + w);
      if (k == 0) {
        copy_blocks(best, g.inner, lines[0], step, g.inner, g.out_width);
        for (std::int64_t i = 0; i < n; ++i) chosen[i] = 0;
        continue;
      }
      copy_blocks(current, g.inner, lines[h] + w * g.inner, step, g.inner, g.out_width);
      for (std::int64_t i = 0; i < n; ++i) {
        const float b = best[i], c = current[i];
        const bool keep = b >= c;
        best[i] = keep ? b : c;
        chosen[i] = keep ? chosen[i] : k;
      }
    }
  }
  for (std::int64_t x = 0; x < g.out_width; ++x) {
    for (std::int64_t w = 0; w < g.stride_width; ++w) {
      const std::int64_t at = (x * g.stride_width + w) * g.inner;
      if (at >= wide) break;
      if (g.inner <= 16 && at + 16 <= wide && x * g.inner + 16 <= n) {
        __builtin_memcpy(wide_chosen + at, chosen + x * g.inner, 64);
        __builtin_memcpy(wide_source + at, source + x * g.inner, 64);
      } else {
        for (std::int64_t c = 0; c < g.inner; ++c) {
          wide_chosen[at + c] = chosen[x * g.inner + c];
          wide_source[at + c] = source[x * g.inner + c];
        }
      }
    }
  }
  for (std::int64_t h = 0; h < g.stride_height; ++h) {
    float* __restrict out = out_lines[h];
    if (out == nullptr) continue;
    const auto row = static_cast<std::int32_t>(h * g.window_width);
    const bool inside = h < g.window_height;
    for (std::int64_t i = 0; i < wide; ++i) {
      const bool hit = inside && pattern[i] >= 0 && wide_chosen[i] == pattern[i] + row;
      out[i] = hit ? init + wide_source[i] : init;
    }
  }
}

}  // namespace

PoolRows pool_rows() { return {.forward = forward, .backward = backward}; }

}  // namespace millrace::devices::cpu::MILLRACE_ISA
