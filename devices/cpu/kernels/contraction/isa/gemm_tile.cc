// The loops of gemm_tile.h, compiled once per instruction set.
#if defined(__FMA__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/contraction/gemm_tile.h"

namespace millrace::devices::cpu::MILLRACE_ISA {
namespace {

// Bytes of a vector, and the sizes of a tile: its sums fit the registers.
#if defined(__AVX512F__)
constexpr int kBytes = 64, kRows = 8, kVectors = 3;
#elif defined(__AVX2__)
constexpr int kBytes = 32, kRows = 4, kVectors = 3;
#else
constexpr int kBytes = 16, kRows = 4, kVectors = 2;
#endif

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kBytes)));  // NOLINT(modernize-use-using)
};
template <class T>
using Vector = typename VectorOf<T>::type;

template <class T>
MILLRACE_INLINE Vector<T> load(const T* from) {
  Vector<T> v;
  std::memcpy(&v, from, kBytes);
  return v;
}
template <class T>
MILLRACE_INLINE void store(T* to, Vector<T> v) {
  std::memcpy(to, &v, kBytes);
}

template <class T>
MILLRACE_INLINE Vector<T> fused(Vector<T> x, Vector<T> y, Vector<T> sum) {
#if defined(__FMA__)
  if constexpr (std::is_same_v<T, double> && kBytes == 64) return _mm512_fmadd_pd(x, y, sum);
  if constexpr (std::is_same_v<T, float> && kBytes == 64) return _mm512_fmadd_ps(x, y, sum);
  if constexpr (std::is_same_v<T, double> && kBytes == 32) return _mm256_fmadd_pd(x, y, sum);
  if constexpr (std::is_same_v<T, float> && kBytes == 32) return _mm256_fmadd_ps(x, y, sum);
#endif
  return sum + x * y;
}
// Minus zero stays it when zero is taken away.
template <class T>
MILLRACE_INLINE Vector<T> all_of(T x) {
  return x - Vector<T>{};
}

template <class T, int kWidth>
void run(std::int64_t terms, const T* a, const T* b, T* c, std::int64_t row, bool add) {
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
  Vector<T> sums[kRows][kWidth] = {};
  for (std::int64_t t = 0; t < terms; ++t) {
    Vector<T> y[kWidth];
#pragma GCC unroll 8
    for (int v = 0; v < kWidth; ++v) y[v] = load(b + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < kWidth; ++v) sums[r][v] = fused<T>(all_of(a[r]), y[v], sums[r][v]);
    }
    a += kRows;
    b += kWidth * kLanes;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kWidth; ++v) {
      T* const to = c + r * row + v * kLanes;
      store<T>(to, add ? load(to) + sums[r][v] : sums[r][v]);
    }
  }
}

// The lanes' sum by halves: lane i takes lane i + kHalf, and so on.
template <class T, int kHalf, int... kLane>
MILLRACE_INLINE T folded(Vector<T> v, std::integer_sequence<int, kLane...> lanes = {}) {
  if constexpr (kHalf == 0) {
    return v[0];
  } else if constexpr (sizeof...(kLane) == 0) {
    return folded<T, kHalf>(v, std::make_integer_sequence<int, 2 * kHalf>());
  } else {
    constexpr int kLast = static_cast<int>(sizeof...(kLane)) - 1;
    v += __builtin_shufflevector(v, v, std::min(kLane + kHalf, kLast)...);
    return folded<T, kHalf / 2>(v, lanes);
  }
}

template <class T>
T dot(std::int64_t terms, const T* x, const T* y) {
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(T)), kSums = kDotSums / kLanes;
  Vector<T> sums[kSums];
#pragma GCC unroll 16
  for (int v = 0; v < kSums; ++v) sums[v] = Vector<T>{};
  std::int64_t t = 0;
  for (; t + kDotSums <= terms; t += kDotSums) {
#pragma GCC unroll 16
    for (int v = 0; v < kSums; ++v) {
      sums[v] = fused<T>(load(x + t + v * kLanes), load(y + t + v * kLanes), sums[v]);
    }
  }
  // What is left over, filled up with zeros to kDotSums terms: then a sum that is -0 is +0, however
  // long a vector is.
  const bool fills = t < terms;
#pragma GCC unroll 16
  for (int v = 0; v < kSums; ++v, t += kLanes) {
    if (t + kLanes <= terms) {
      sums[v] = fused<T>(load(x + t), load(y + t), sums[v]);
    } else if (t < terms) {
      T rest_x[kLanes] = {}, rest_y[kLanes] = {};
      std::memcpy(rest_x, x + t, static_cast<std::size_t>(terms - t) * sizeof(T));
      std::memcpy(rest_y, y + t, static_cast<std::size_t>(terms - t) * sizeof(T));
      sums[v] = fused<T>(load(rest_x), load(rest_y), sums[v]);
    } else if (fills) {
      sums[v] += Vector<T>{};
    }
  }
  // Halves are added, of the vectors and then of the last one's lanes.
#pragma GCC unroll 4
  for (int half = kSums / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
    for (int v = 0; v < half; ++v) sums[v] += sums[v + half];
  }
  return folded<T, kLanes / 2>(sums[0]);
}

// Eight rows at a time, so that c is read and written less often than y.
template <class T>
void sum_rows(std::int64_t terms, std::int64_t columns, const T* x, std::int64_t step, const T* y,
              std::int64_t row, T* c) {
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(T)), kTerms = 8;
  std::memset(c, 0, static_cast<std::size_t>(columns) * sizeof(T));
  for (std::int64_t t = 0; t < terms; t += kTerms) {
    const int some = static_cast<int>(terms - t < kTerms ? terms - t : kTerms);
    T factors[kTerms] = {};
    for (int i = 0; i < some; ++i) factors[i] = x[(t + i) * step];
    const T* const rows = y + t * row;
    std::int64_t j = 0;
    const auto add_rows = [&](int n, const T* from, std::int64_t apart, T* to) {
      Vector<T> sum = load(to);
      for (int i = 0; i < n; ++i) sum = fused<T>(all_of(factors[i]), load(from + i * apart), sum);
      store(to, sum);
    };
    if (some == kTerms) {
      for (; j + kLanes <= columns; j += kLanes) add_rows(kTerms, rows + j, row, c + j);
    } else {
      for (; j + kLanes <= columns; j += kLanes) add_rows(some, rows + j, row, c + j);
    }
    if (j == columns) continue;
    // The last columns, with zeros behind them.
    const auto bytes = static_cast<std::size_t>(columns - j) * sizeof(T);
    T last[kTerms * kLanes] = {}, sums[kLanes] = {};
    for (int i = 0; i < some; ++i) std::memcpy(last + i * kLanes, rows + i * row + j, bytes);
    std::memcpy(sums, c + j, bytes);
    add_rows(some, last, kLanes, sums);
    std::memcpy(c + j, sums, bytes);
  }
}

// to[(i * columns + j) * lanes + l] = element (i, j) of matrix l.
template <class T>
MILLRACE_INLINE void gather_lanes(const T* from, std::int64_t batch, int count, std::int64_t rows,
                                  std::int64_t row, std::int64_t columns, std::int64_t column,
                                  T* to) {
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j, to += kLanes) {
      const T* const first = from + i * row + j * column;
      if (count == kLanes) {
#pragma GCC unroll 16
        for (int l = 0; l < kLanes; ++l) to[l] = first[l * batch];
      } else {
        for (int l = 0; l < kLanes; ++l) to[l] = l < count ? first[l * batch] : T{};
      }
    }
  }
}

template <class T>
void side_by_side(const MatmulSpec& s, int count, const T* a, const T* b, T* c) {
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(T)), kWidth = 4;
  alignas(64) T left[kSmallSide * kSmallSide * kLanes], right[kSmallSide * kSmallSide * kLanes];
  gather_lanes(a, s.a_batch, count, s.m, s.a_row, s.k, s.a_column, left);
  // By columns, so that the terms of a sum are neighbours on both sides.
  gather_lanes(b, s.b_batch, count, s.n, s.b_column, s.k, s.b_row, right);
  const auto columns = [&]<int kSome>(std::int64_t i, std::int64_t j) {
    const T* const x = left + i * s.k * kLanes;
    const T* const y = right + j * s.k * kLanes;
    Vector<T> sums[kSome] = {};
    for (std::int64_t t = 0; t < s.k; ++t) {
      const Vector<T> term = load(x + t * kLanes);
#pragma GCC unroll 4
      for (int v = 0; v < kSome; ++v)
        sums[v] = fused<T>(term, load(y + (v * s.k + t) * kLanes), sums[v]);
    }
    T* const to = c + i * s.c_row + j;
    for (int v = 0; v < kSome; ++v) {
      T lanes[kLanes];
      store(lanes, sums[v]);
      for (int l = 0; l < count; ++l) to[l * s.c_batch + v] = lanes[l];
    }
  };
  for (std::int64_t i = 0; i < s.m; ++i) {
    std::int64_t j = 0;
    for (; j + kWidth <= s.n; j += kWidth) columns.template operator()<kWidth>(i, j);
    for (; j < s.n; ++j) columns.template operator()<1>(i, j);
  }
}

}  // namespace

template <class T>
GemmTile<T> gemm_tile() {
  GemmTile<T> tile{.rows = kRows,
                   .lanes = kBytes / static_cast<int>(sizeof(T)),
                   .vectors = kVectors,
                   .run = {run<T, 1>, run<T, 2>},
                   .dot = dot<T>,
                   .sum_rows = sum_rows<T>,
                   .side_by_side = side_by_side<T>};
  if constexpr (kVectors > 2) tile.run[2] = run<T, kVectors>;
  return tile;
}
template GemmTile<double> gemm_tile();
template GemmTile<float> gemm_tile();
template GemmTile<std::uint32_t> gemm_tile();
template GemmTile<std::uint64_t> gemm_tile();

}  // namespace millrace::devices::cpu::MILLRACE_ISA
