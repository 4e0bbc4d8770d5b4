// Factors and substitution of matrices so small that the library's calls, a few for each column,
// take longer than the work. Of real numbers, as LAPACK's xPOTF2, xGETF2 and BLAS's xTRSM have
// them. Pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>

#include "millrace/devices/cpu/kernels/contraction/gemm_tile.h"
#include "millrace/devices/cpu/linalg/lapack_library.h"

namespace millrace::devices::cpu::linalg {

inline constexpr std::int64_t kFewRows = 16, kMostRows = 128;

// Whether factors of it are made here.
template <class T>
bool is_small(const Matrix<T>& a) {
  return std::is_floating_point_v<T> && a.rows <= kMostRows && a.columns <= kMostRows;
}
// Whether X is found here: it takes the library one call.
template <class T>
bool is_small_system(const Matrix<T>& a, const Matrix<T>& x) {
  return is_small(a) && is_small(x) && (a.rows <= kFewRows || std::min(x.rows, x.columns) == 1);
}

// A = L L^T, or U^T U, in the triangle of A. The order of the leading minor that is not positive,
// or 0.
template <class T>
Integer small_cholesky(char triangle, const Matrix<T>& a) {
  const bool lower = triangle == 'L', by_columns = lower && a.rows > kFewRows;
  const auto at = [&](std::int64_t i, std::int64_t j) -> T& { return lower ? a(i, j) : a(j, i); };
  const GemmTile<T> tile = MILLRACE_BEST_ISA(gemm_tile<T>());
  for (std::int64_t j = 0; j < a.rows; ++j) {
    T sums[kMostRows];  // what is subtracted of row i on: of at(i, k) at(j, k), over k < j
    if (by_columns) tile.sum_rows(j, a.rows - j, &a(j, 0), a.rows, &a(j, 0), a.rows, sums);
    const auto take_sum = [&](std::int64_t i) {
      if (by_columns) {
        at(i, j) -= sums[i - j];
      } else {
        for (std::int64_t k = 0; k < j; ++k) at(i, j) -= at(i, k) * at(j, k);
      }
    };
    take_sum(j);
    if (!(at(j, j) > 0)) return static_cast<Integer>(j + 1);  // nor where it is a NaN
    at(j, j) = std::sqrt(at(j, j));
    for (std::int64_t i = j + 1; i < a.rows; ++i) {
      take_sum(i);
      at(i, j) /= at(j, j);
    }
  }
  return 0;
}

// A = P L U in place; pivots: from 1 on, the row that each row was exchanged with. The first pivot
// that is zero, from 1 on, or 0.
template <class T>
Integer small_lu(const Matrix<T>& a, std::span<Integer> pivots) {
  Integer info = 0;
  for (std::int64_t j = 0; j < std::ssize(pivots); ++j) {
    std::int64_t best = j;
    for (std::int64_t i = j + 1; i < a.rows; ++i)
      if (std::abs(a(i, j)) > std::abs(a(best, j))) best = i;
    pivots[static_cast<std::size_t>(j)] = static_cast<Integer>(best + 1);
    if (a(best, j) == 0) {
      if (info == 0) info = static_cast<Integer>(j + 1);
      continue;
    }
    for (std::int64_t k = 0; best != j && k < a.columns; ++k) std::swap(a(j, k), a(best, k));
    for (std::int64_t i = j + 1; i < a.rows; ++i) a(i, j) /= a(j, j);
    for (std::int64_t k = j + 1; k < a.columns; ++k)
      for (std::int64_t i = j + 1; i < a.rows; ++i) a(i, k) -= a(i, j) * a(j, k);
  }
  return info;
}

// X of op(A) X = B, or of X op(A) = B, in the place of B; the letters are those of xTRSM.
template <class T>
void small_triangular_solve(char side, char triangle, char transposed, char diagonal,
                            const Matrix<T>& a, const Matrix<T>& x) {
  const bool left = side == 'L';
  // X op(A) = B is op(A)^T X^T = B^T.
  const bool turned = (transposed != 'N') == left;
  const bool forward = (triangle == 'L') != turned;
  const std::int64_t n = a.rows, others = left ? x.columns : x.rows;
  for (std::int64_t o = 0; o < others; ++o) {
    const auto value = [&](std::int64_t i) -> T& { return left ? x(i, o) : x(o, i); };
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t i = forward ? step : n - 1 - step;
      T sum = value(i);
      for (std::int64_t k = 0; k < step; ++k) {
        const std::int64_t j = forward ? k : n - 1 - k;
        sum -= (turned ? a(j, i) : a(i, j)) * value(j);
      }
      value(i) = diagonal == 'U' ? sum : sum / a(i, i);
    }
  }
}

}  // namespace millrace::devices::cpu::linalg
