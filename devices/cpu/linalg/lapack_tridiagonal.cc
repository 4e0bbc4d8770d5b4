// Matrices with three diagonals: how a Hermitian one becomes such, and solving for them.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "millrace/devices/cpu/linalg/lapack_call.h"

namespace millrace::devices::cpu::linalg {
namespace {

// A = Q T Q^H: T's diagonals in results of their own, the vectors that make up Q in the triangle.
struct Tridiagonal {
  template <class T>
  Status operator()(const Call& c) const {
    using R = Real<T>;
    const Matrix<T> a = take_like<T>(c, 0);
    const Integer n = a.n(), lda = a.leading();
    const auto call = [&](T* data, R* diagonal, R* beside, T* tau, T* work, Integer lwork) {
      Integer info = 0;
      library_sytrd<T>(&c.options.triangle, &n, data, &lda, diagonal, beside, tau, work, &lwork,
                       &info, 1);
      return info;
    };
    T none(0);
    R real_none = 0;
    const auto work = take_workspace<T>(c.scratch, [&](T* size, Integer query) {
      call(&none, &real_none, &real_none, &none, size, query);
    });
    if (c.scratch.measures()) return {};
    const std::int64_t beside = std::max(n - 1, 0);
    return each_matrix(c, a, [&](std::int64_t b) {
      return call(a.data.data(), piece<R>(c.results[1], b, n).data(),
                  piece<R>(c.results[2], b, beside).data(),
                  piece<T>(c.results[3], b, beside).data(), work.data(), work.size());
    });
  }
};

// The diagonal below starts with an element that is not part of the matrix, the one above ends with
// one.
struct TridiagonalSolve {
  template <class T>
  Status operator()(const Call& c) const {
    const Shape& s = c.operands[3].shape;
    const std::int64_t rows = rows_of(s);
    const Matrix<T> x = take<T>(c.scratch, rows, columns_of(s));
    if (c.scratch.measures()) return {};
    const Integer n = x.m(), columns = x.n(), ldx = x.leading();
    for (std::int64_t b = 0; b < batches_of(s); ++b) {
      std::span<T> diagonals[3];
      for (std::size_t i = 0; i < 3; ++i) {
        diagonals[i] = piece<T>(c.results[i], b, rows);
        read(c.operands[i], b, diagonals[i]);
      }
      read(c.operands[3], b, x);
      Integer info = 0;
      library_gtsv<T>(&n, &columns, diagonals[0].data() + (n > 0 ? 1 : 0), diagonals[1].data(),
                      diagonals[2].data(), x.data.data(), &ldx, &info);
      write(x, c.results[3], b);
      write_info(info, c.results[4], b);
    }
    return {};
  }
};

// The pivot `p` made larger, from steps of `least` on, until the largest of a row can be divided by
// it (LAPACK's xLAGTS does so for inverse iteration).
template <class T>
T large_enough(T p, Real<T> largest, Real<T> least) {
  using R = Real<T>;
  constexpr R kSmall = std::numeric_limits<R>::min();
  R step = std::copysign(std::max(least, kSmall), std::real(p));
  while (p == T(0) || (std::abs(p) < 1 && largest * kSmall > std::abs(p))) {
    p += step;
    step *= 2;
  }
  return p;
}

// The matrix may be singular: pivots that are too small for a finite solution grow, by steps
// of rounding errors of the largest.
struct PerturbedSolve {
  template <class T>
  Status operator()(const Call& c) const {
    using R = Real<T>;
    const Shape& s = c.operands[3].shape;
    const std::int64_t rows = rows_of(s), columns = columns_of(s);
    const std::span<T> below = c.scratch.take<T>(rows), diagonal = c.scratch.take<T>(rows),
                       above = c.scratch.take<T>(rows), second = c.scratch.take<T>(rows);
    const std::span<Integer> pivots = c.scratch.take<Integer>(rows);
    if (c.scratch.measures() || rows == 0) return {};
    const auto n = static_cast<Integer>(rows);
    for (std::int64_t b = 0; b < batches_of(s); ++b) {
      read(c.operands[0], b, below);
      read(c.operands[1], b, diagonal);
      read(c.operands[2], b, above);
      std::ranges::fill(second, T(0));
      Integer info = 0;
      library_gttrf<T>(&n, below.data() + 1, diagonal.data(), above.data(), second.data(),
                       pivots.data(), &info);
      above.back() = T(0);
      R largest = 0;
      for (const std::span<T> u : {diagonal, above, second.first(second.size() - 1)}) {
        for (const T& x : u) largest = std::max<R>(largest, std::abs(x));
      }
      const std::span<T> x = piece<T>(c.results[0], b, rows * columns);
      std::copy_n(piece<T>(c.operands[3], b, rows * columns), x.size(), x.data());
      const auto row = [&](std::int64_t i) {
        return x.subspan(static_cast<std::size_t>(i * columns), static_cast<std::size_t>(columns));
      };
      for (std::int64_t i = 0; i + 1 < rows; ++i) {
        const auto upper = row(i), lower = row(i + 1);
        if (pivots[static_cast<std::size_t>(i)] != i + 1) std::ranges::swap_ranges(upper, lower);
        const T factor = below[static_cast<std::size_t>(i + 1)];
        for (std::size_t j = 0; j < upper.size(); ++j) lower[j] -= factor * upper[j];
      }
      for (std::int64_t i = rows - 1; i >= 0; --i) {
        const auto at = static_cast<std::size_t>(i);
        const auto left = row(i);
        R most = 0;
        for (std::size_t j = 0; j < left.size(); ++j) {
          if (i + 1 < rows) left[j] -= above[at] * row(i + 1)[j];
          if (i + 2 < rows) left[j] -= second[at] * row(i + 2)[j];
          most = std::max<R>(most, std::abs(left[j]));
        }
        const T pivot =
            large_enough(diagonal[at], most, std::numeric_limits<R>::epsilon() * largest);
        for (T& value : left) value /= pivot;
      }
    }
    return {};
  }
};

bool triangle(const Extents&, const Options& o) { return is_triangle(o); }
constexpr std::string_view kTriangleWords = ", uplo 'L' or 'U'";
constexpr auto kTridiagonal = of_all_types(Tridiagonal{});
constexpr std::string_view kTridiagonalRule = "T[n,n] -> T[n,n] R[n] R[p] T[p] i32[]";
constexpr Row kRows[] = {
    {"sytrd", kTridiagonalRule, triangle, kTriangleWords, real_ones(kTridiagonal)},
    {"hetrd", kTridiagonalRule, triangle, kTriangleWords, complex_ones(kTridiagonal)},
    {"gtsv", "T[n] T[n] T[n] T[n,c] -> T[n] T[n] T[n] T[n,c] i32[]", nullptr, "",
     of_all_types(TridiagonalSolve{})},
    {"tridiagonal_solve_perturbed_ffi", "T[n] T[n] T[n] T[n,c] -> T[n,c]", nullptr, "",
     of_all_types(PerturbedSolve{})}};

}  // namespace

std::span<const Row> tridiagonal_rows() { return kRows; }

}  // namespace millrace::devices::cpu::linalg
