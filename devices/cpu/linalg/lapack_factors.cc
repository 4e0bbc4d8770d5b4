// Factors of matrices (Cholesky, LU, QR, three diagonals), and solving by triangles and by three
// diagonals.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

#include "millrace/devices/cpu/linalg/lapack_call.h"
#include "millrace/devices/cpu/linalg/small_matrices.h"

namespace millrace::devices::cpu::linalg {
namespace {

template <class T>
Status run_cholesky(const Call& c) {
  const Matrix<T> a = take_like<T>(c, 0);
  return each_matrix(c, a, [&](std::int64_t) -> Integer {
    if constexpr (!kComplex<T>) {
      if (is_small(a)) return small_cholesky(c.options.triangle, a);
    }
    return library_potrf<T>(c.options.triangle, a.n(), a);
  });
}

template <class T>
Status run_lu(const Call& c) {
  const Matrix<T> a = take_like<T>(c, 0);
  return each_matrix(c, a, [&](std::int64_t b) -> Integer {
    const auto pivots = piece<Integer>(c.results[1], b, std::min(a.rows, a.columns));
    if constexpr (!kComplex<T>) {
      if (is_small(a)) return small_lu(a, pivots);
    }
    return library_getrf<T>(a.m(), a.n(), a, pivots);
  });
}

// op(A) X = B, or X op(A) = B.
template <class T>
Status run_triangular_solve(const Call& c) {
  const Options& o = c.options;
  const Matrix<T> a = take_like<T>(c, 0), x = take_like<T>(c, 1);
  const auto solve = [&](std::int64_t b) {
    read(c.operands[0], b, a);
    if constexpr (!kComplex<T>) {
      if (is_small_system(a, x)) {
        small_triangular_solve(o.side, o.triangle, o.transposed, o.diagonal, a, x);
        return;
      }
    }
    library_trsm<T>.call(o.side, o.triangle, o.transposed, o.diagonal, x.m(), x.n(), T(1), a, x);
  };
  return each_matrix(c, x, solve, 1);
}

template <class T>
Status run_qr(const Call& c) {
  const Matrix<T> a = take_like<T>(c, 0);
  return each_matrix(c, a, [&](std::int64_t b, Workspace<T> work) {
    library_geqrf<T>(a.m(), a.n(), a, piece<T>(c.results[1], b, std::min(a.rows, a.columns)), work);
  });
}

// With columns in an order of falling size: the second operand says which are held in front (not
// 0), the second result where each came from, from 1 on.
template <class T>
Status run_pivoted_qr(const Call& c) {
  const Matrix<T> a = take_like<T>(c, 0);
  const std::span<Real<T>> rwork = c.scratch.take<Real<T>>(kComplex<T> ? 2 * a.columns : 0);
  const auto call = [&](std::span<Integer> columns, std::span<T> taus, Workspace<T> work) {
    library_geqp3<T>(a.m(), a.n(), a, columns, taus, work, if_complex<T>(rwork));
  };
  const auto work =
      take_workspace_for<T>(c.scratch, [&](Workspace<T> query) { call({}, {}, query); });
  return each_matrix(c, a, [&](std::int64_t b) {
    const auto columns = piece<Integer>(c.results[1], b, a.columns);
    const auto taus = piece<T>(c.results[2], b, std::min(a.rows, a.columns));
    read(c.operands[1], b, columns);
    if (is_finite<T>(a.data)) return call(columns, taus, work);
    // No column is the largest, and the search for it need not end.
    std::iota(columns.begin(), columns.end(), 1);
    std::ranges::fill(a.data, not_a_number<T>());
    std::ranges::fill(taus, not_a_number<T>());
  });
}

// The first columns of the Q that Qr has left.
template <class T>
Status run_make_q(const Call& c) {
  const Matrix<T> a = take_like<T>(c, 0);
  const std::int64_t count = columns_of(c.operands[1].shape);
  return each_matrix(c, a, [&](std::int64_t b, Workspace<T> work) {
    library_orgqr<T>(a.m(), a.n(), static_cast<Integer>(count), a,
                     piece<T>(c.operands[1], b, count), work);
  });
}

// op(Q) C, or C op(Q).
template <class T>
Status run_times_q(const Call& c) {
  const Matrix<T> a = take_like<T>(c, 0), x = take_like<T>(c, 2);
  const char side = c.options.left ? 'L' : 'R', op = !c.options.transpose ? 'N'
                                                     : kComplex<T>        ? 'C'
                                                                          : 'T';
  const auto call = [&](std::int64_t b, Workspace<T> work) {
    library_ormqr<T>(side, op, x.m(), x.n(), a.n(), a, piece<T>(c.operands[1], b, a.columns), x,
                     work);
  };
  const auto work = take_workspace_for<T>(c.scratch, [&](Workspace<T> query) { call(0, query); });
  const auto multiply = [&](std::int64_t b) {
    read(c.operands[0], b, a);
    call(b, work);
  };
  return each_matrix(c, x, multiply, 2);
}

// A = Q T Q^H: T's diagonals in results of their own, the vectors that make up Q in the triangle.
template <class T>
Status run_tridiagonal(const Call& c) {
  using R = Real<T>;
  const Matrix<T> a = take_like<T>(c, 0);
  const std::int64_t beside = std::max<std::int64_t>(a.columns - 1, 0);
  return each_matrix(c, a, [&](std::int64_t b, Workspace<T> work) {
    return library_sytrd<T>(c.options.triangle, a.n(), a, piece<R>(c.results[1], b, a.columns),
                            piece<R>(c.results[2], b, beside), piece<T>(c.results[3], b, beside),
                            work);
  });
}

// The diagonal below starts with an element that is not part of the matrix, the one above ends with
// one.
template <class T>
Status run_tridiagonal_solve(const Call& c) {
  const Shape& s = c.operands[3].shape;
  const std::int64_t rows = rows_of(s);
  const Matrix<T> x = take<T>(c.scratch, rows, columns_of(s));
  if (c.scratch.measures()) return {};
  for (std::int64_t b = 0; b < batches_of(s); ++b) {
    std::span<T> diagonals[3];
    for (std::size_t i = 0; i < 3; ++i) {
      diagonals[i] = piece<T>(c.results[i], b, rows);
      read(c.operands[i], b, diagonals[i]);
    }
    read(c.operands[3], b, x);
    const Integer info = library_gtsv<T>(x.m(), x.n(), diagonals[0].subspan(rows > 0 ? 1 : 0),
                                         diagonals[1], diagonals[2], x);
    write(x, c.results[3], b);
    write_info(info, c.results[4], b);
  }
  return {};
}

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
template <class T>
Status run_perturbed_solve(const Call& c) {
  using R = Real<T>;
  const Shape& s = c.operands[3].shape;
  const std::int64_t rows = rows_of(s), columns = columns_of(s);
  const std::span<T> below = c.scratch.take<T>(rows), diagonal = c.scratch.take<T>(rows),
                     above = c.scratch.take<T>(rows), second = c.scratch.take<T>(rows);
  const std::span<Integer> pivots = c.scratch.take<Integer>(rows);
  if (c.scratch.measures() || rows == 0) return {};
  for (std::int64_t b = 0; b < batches_of(s); ++b) {
    read(c.operands[0], b, below);
    read(c.operands[1], b, diagonal);
    read(c.operands[2], b, above);
    std::ranges::fill(second, T(0));
    library_gttrf<T>(static_cast<Integer>(rows), below.subspan(1), diagonal, above, second, pivots);
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
      const T pivot = large_enough(diagonal[at], most, std::numeric_limits<R>::epsilon() * largest);
      for (T& value : left) value /= pivot;
    }
  }
  return {};
}

bool countable(const Extents& e, const Options&) { return is_countable(e); }
bool makes_q(const Extents& e, const Options&) {
  return is_countable(e) && extent(e, 'm') >= extent(e, 'n') && extent(e, 'n') >= extent(e, 't');
}
bool takes_q(const Extents& e, const Options& o) {
  return is_countable(e) && extent(e, 'r') == extent(e, o.left ? 'm' : 'n') &&
         extent(e, 't') <= extent(e, 'r');
}
bool triangle(const Extents&, const Options& o) { return is_triangle(o); }
bool solves(const Extents& e, const Options& o) {
  const bool letters = (o.side == 'L' || o.side == 'R') && is_triangle(o) &&
                       std::string_view("NTC").contains(o.transposed) &&
                       std::string_view("NU").contains(o.diagonal);
  return letters && extent(e, 's') == extent(e, o.side == 'L' ? 'm' : 'n');
}
constexpr std::string_view kTriangle = ", uplo 'L' or 'U'", kCountable = ", m and n at most 2^24";
constexpr Row kRows[] = {
    {"potrf", "T[n,n] -> T[n,n] i32[]", triangle, kTriangle, MILLRACE_OF_ALL_TYPES(run_cholesky)},
    {"getrf", "T[m,n] -> T[m,n] i32[k] i32[]", nullptr, "", MILLRACE_OF_ALL_TYPES(run_lu)},
    {"trsm", "T[s,s] T[m,n] -> T[m,n]", solves,
     ", s = m from the left or n from the right, side 'L' or 'R', uplo 'L' or 'U', trans_x 'N', "
     "'T' or 'C', diag 'N' or 'U'",
     MILLRACE_OF_ALL_TYPES(run_triangular_solve)},
    {"geqrf", "T[m,n] -> T[m,n] T[k]", countable, kCountable, MILLRACE_OF_ALL_TYPES(run_qr)},
    {"geqp3", "T[m,n] i32[n] -> T[m,n] i32[n] T[k]", countable, kCountable,
     MILLRACE_OF_ALL_TYPES(run_pivoted_qr)},
    {"orgqr", "T[m,n] T[t] -> T[m,n]", makes_q, ", 2^24 >= m >= n >= t",
     MILLRACE_OF_ALL_TYPES(run_make_q), "ungqr"},
    {"ormqr", "T[r,t] T[t] T[m,n] -> T[m,n]", takes_q,
     ", t <= r = m from the left or n from the right, m and n at most 2^24",
     MILLRACE_OF_ALL_TYPES(run_times_q), "unmqr"},
    {"sytrd", "T[n,n] -> T[n,n] R[n] R[p] T[p] i32[]", triangle, kTriangle,
     MILLRACE_OF_ALL_TYPES(run_tridiagonal), "hetrd"},
    {"gtsv", "T[n] T[n] T[n] T[n,c] -> T[n] T[n] T[n] T[n,c] i32[]", nullptr, "",
     MILLRACE_OF_ALL_TYPES(run_tridiagonal_solve)},
    {"tridiagonal_solve_perturbed_ffi", "T[n] T[n] T[n] T[n,c] -> T[n,c]", nullptr, "",
     MILLRACE_OF_ALL_TYPES(run_perturbed_solve)}};

}  // namespace

std::span<const Row> factor_rows() { return kRows; }

}  // namespace millrace::devices::cpu::linalg
