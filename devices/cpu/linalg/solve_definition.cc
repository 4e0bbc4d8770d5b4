// cholesky and triangular_solve. f32 and narrower are computed in f64; f64 in long double where the
// matrix is so small that this costs next to nothing. Both work on whole rows, so that the
// innermost loop is along memory; large systems are solved by the system's BLAS.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <type_traits>

#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/definitions.h"
#include "millrace/devices/cpu/linalg/lapack.h"
#include "millrace/devices/cpu/linalg/lapack_call.h"

namespace millrace::devices::cpu::definition {
namespace {

using linalg::Real;

// Numbers: R, a real one, or std::complex<R>.
using linalg::kComplex;

template <class N>
Scalar to_scalar(const N& x) {
  if constexpr (kComplex<N>)
    return from_complex(static_cast<double>(x.real()), static_cast<double>(x.imag()));
  else
    return from_real(static_cast<double>(x));
}
template <class N>
N conjugate(const N& x) {
  if constexpr (kComplex<N>)
    return std::conj(x);
  else
    return x;
}
template <class N>
N nan_of() {
  constexpr auto kNan = std::numeric_limits<Real<N>>::quiet_NaN();
  if constexpr (kComplex<N>)
    return {kNan, kNan};
  else
    return kNan;
}
// Without std::complex's care for infinities.
template <class N>
N product(const N& x, const N& y) {
  if constexpr (kComplex<N>)
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  else
    return x * y;
}
// Real numbers stay real, also where they are infinite.
template <class N>
N quotient(const N& x, const N& pivot) {
  if constexpr (kComplex<N>) {
    if (pivot.imag() == 0) return {x.real() / pivot.real(), x.imag() / pivot.real()};
  }
  return x / pivot;
}

// row -= factor * other
template <class N>
void subtract(std::span<N> row, const N& factor, std::span<const N> other) {
  for (std::size_t j = 0; j < row.size(); ++j) row[j] -= product(factor, other[j]);
}

// Calls f(TypeTag<N>{}) with the type to compute in.
template <class F>
void with_number(DType type, std::int64_t n, F f) {
  constexpr std::int64_t kSmall = 128;
  const bool longer = n <= kSmall;
  switch (form_of(type)) {
    case Form::kComplex:
      return f(TypeTag<std::complex<double>>{});
    case Form::kComplex64:
      return longer ? f(TypeTag<std::complex<long double>>{}) : f(TypeTag<std::complex<double>>{});
    case Form::kReal64:
      return longer ? f(TypeTag<long double>{}) : f(TypeTag<double>{});
    default:
      return f(TypeTag<double>{});
  }
}

// The last two dimensions of an array, one matrix after the other.
struct Matrices {
  std::int64_t rows, columns, count;
  explicit Matrices(const Shape& s)
      : rows(linalg::rows_of(s)), columns(linalg::columns_of(s)), count(linalg::batches_of(s)) {}
};

template <class N>
N number_at(const ConstArray& from, std::int64_t i) {
  const Scalar s = element(from, i);
  if constexpr (kComplex<N>)
    return {static_cast<Real<N>>(s.re), static_cast<Real<N>>(s.im)};
  else
    return static_cast<N>(s.re);
}

// A = U^H U by rows of U; L is U^H. NaN where A is not positive.
template <class N>
void factorise(const Call& c, bool lower) {
  using R = Real<N>;
  const Matrices m(c.operands[0].shape);
  const std::int64_t n = m.rows;
  const auto u = c.scratch.take<N>(n * n);
  if (c.scratch.measures()) return;
  // The elements of row i from the diagonal, or from column `first`, on.
  const auto row = [&](std::int64_t i, std::int64_t first) {
    return u.subspan(static_cast<std::size_t>(i * n + first), static_cast<std::size_t>(n - first));
  };
  for (std::int64_t base = 0; base < m.count * n * n; base += n * n) {
    bool positive = true;
    for (std::int64_t i = 0; positive && i < n; ++i) {
      const std::span<N> mine = row(i, i);
      for (std::int64_t j = i; j < n; ++j)
        mine[static_cast<std::size_t>(j - i)] =
            lower ? conjugate(number_at<N>(c.operands[0], base + j * n + i))
                  : number_at<N>(c.operands[0], base + i * n + j);
      for (std::int64_t k = 0; k < i; ++k) {
        const std::span<const N> other = row(k, i);
        subtract<N>(mine, conjugate(other[0]), other);
      }
      positive = std::real(mine[0]) > 0;  // and no NaN
      const R root = std::sqrt(std::real(mine[0]));
      for (N& x : mine) x /= root;
      mine[0] = root;
    }
    // A matrix that is not positive definite has no factor: all of it says so, as in JAX.
    if (!positive) std::ranges::fill(u, nan_of<N>());
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const N& x = u[static_cast<std::size_t>(std::min(i, j) * n + std::max(i, j))];
        const bool kept = lower ? j <= i : i <= j;
        put(c.results[0], base + i * n + j, to_scalar(kept ? (lower ? conjugate(x) : x) : N{}));
      }
    }
  }
}

// Systems from here on are solved by the library, which works in blocks.
constexpr std::int64_t kLarge = 32;

// op(A) X = B, or X op(A) = B, by BLAS. Our matrices are by rows, which are those of its columns
// transposed: X^T op(A)^T = B^T, so side and triangle are the other ones, and op() stays.
template <class N>
void solve_by_library(const Call& c) {
  const bool unit = c.op.bool_or("unit_diagonal", false);
  const auto transpose = c.op.enum_or("transpose_a", ir::Transpose::kNoTranspose);
  const char side = c.op.bool_or("left_side", true) ? 'R' : 'L',
             triangle = c.op.bool_or("lower", true) ? 'U' : 'L', diagonal = unit ? 'U' : 'N',
             op = transpose == ir::Transpose::kAdjoint     ? 'C'
                  : transpose == ir::Transpose::kTranspose ? 'T'
                                                           : 'N';
  const Matrices ma(c.operands[0].shape), mb(c.operands[1].shape);
  const std::int64_t of_a = ma.rows * ma.rows, of_b = mb.rows * mb.columns;
  const auto a = c.scratch.take<N>(of_a), x = c.scratch.take<N>(of_b);
  if (c.scratch.measures()) return;
  const linalg::Matrix<N> matrix{a, ma.rows, ma.rows}, right{x, mb.columns, mb.rows};
  for (std::int64_t m = 0; m < mb.count; ++m) {
    for (std::int64_t i = 0; i < of_a; ++i)
      a[static_cast<std::size_t>(i)] = number_at<N>(c.operands[0], m * of_a + i);
    for (std::int64_t i = 0; i < of_b; ++i)
      x[static_cast<std::size_t>(i)] = number_at<N>(c.operands[1], m * of_b + i);
    {
      const linalg::LibraryCall call;
      linalg::library_trsm<N>.call(side, triangle, op, diagonal, right.m(), right.n(), N(1), matrix,
                                   right);
    }
    for (std::int64_t i = 0; i < of_b; ++i)
      put(c.results[0], m * of_b + i, to_scalar(x[static_cast<std::size_t>(i)]));
  }
}

bool is_for_library(const Matrices& a, const Matrices& b) {
  constexpr std::int64_t kMost = std::numeric_limits<linalg::Integer>::max();
  return a.rows >= kLarge && b.rows > 0 && b.columns > 0 && a.rows <= kMost && b.rows <= kMost &&
         b.columns <= kMost;
}

// op(A) X = B, or X op(A) = B, by substitution; of A only one triangle is read.
template <class N>
void substitute(const Call& c) {
  if constexpr (std::is_same_v<N, double> || std::is_same_v<N, std::complex<double>>) {
    if (is_for_library(Matrices(c.operands[0].shape), Matrices(c.operands[1].shape)))
      return solve_by_library<N>(c);
  }
  const bool left = c.op.bool_or("left_side", true), lower = c.op.bool_or("lower", true),
             unit = c.op.bool_or("unit_diagonal", false);
  const auto transpose = c.op.enum_or("transpose_a", ir::Transpose::kNoTranspose);
  const bool adjoint = transpose == ir::Transpose::kAdjoint;
  const bool turned = transpose == ir::Transpose::kTranspose || adjoint;
  // X op(A) = B is op(A)^T X^T = B^T: then the roles of rows and columns change once more.
  const bool swap = turned != !left, forward = lower != swap;
  const Matrices ma(c.operands[0].shape), mb(c.operands[1].shape);
  const std::int64_t n = ma.rows, others = left ? mb.columns : mb.rows;
  const auto a = c.scratch.take<N>(n * n), x = c.scratch.take<N>(n * others);
  if (c.scratch.measures()) return;
  const auto row = [&](std::int64_t i) {
    return x.subspan(static_cast<std::size_t>(i * others), static_cast<std::size_t>(others));
  };
  for (std::int64_t m = 0; m < mb.count; ++m) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t k = 0; k < n; ++k) {
        const N v = number_at<N>(c.operands[0], m * n * n + (swap ? k * n + i : i * n + k));
        a[static_cast<std::size_t>(i * n + k)] = adjoint ? conjugate(v) : v;
      }
    }
    const auto place = [&](std::int64_t i, std::int64_t other) {
      return m * n * others + (left ? i * others + other : other * n + i);
    };
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t i = forward ? step : n - 1 - step;
      const std::span<N> mine = row(i);
      for (std::int64_t o = 0; o < others; ++o)
        mine[static_cast<std::size_t>(o)] = number_at<N>(c.operands[1], place(i, o));
      const std::int64_t begin = forward ? 0 : i + 1, end = forward ? i : n;
      for (std::int64_t k = begin; k < end; ++k)
        subtract<N>(mine, a[static_cast<std::size_t>(i * n + k)], row(k));
      if (!unit) {
        for (N& value : mine) value = quotient(value, a[static_cast<std::size_t>(i * n + i)]);
      }
      for (std::int64_t o = 0; o < others; ++o)
        put(c.results[0], place(i, o), to_scalar(mine[static_cast<std::size_t>(o)]));
    }
  }
}

}  // namespace

// The other triangle of the result is zero.
Status run_cholesky(const Call& c) {
  const Shape& shape = c.operands[0].shape;
  with_number(shape.dtype(), shape.dim(shape.rank() - 1), [&](auto tag) {
    factorise<typename decltype(tag)::type>(c, c.op.bool_or("lower", false));
  });
  return {};
}

Status run_triangular_solve(const Call& c) {
  const Shape& shape = c.operands[0].shape;
  with_number(shape.dtype(), shape.dim(shape.rank() - 1),
              [&](auto tag) { substitute<typename decltype(tag)::type>(c); });
  return {};
}

}  // namespace millrace::devices::cpu::definition
