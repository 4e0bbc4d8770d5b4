// cholesky and triangular_solve, in complex long double for all element types.
#include <cmath>
#include <complex>
#include <limits>

#include "millrace/devices/cpu/reference/families.h"

namespace millrace::devices::cpu::reference {
namespace {

using Number = std::complex<long double>;

Number number(const Scalar& s) { return {s.re, s.im}; }

Scalar scalar(const Number& x) {
  return from_complex(static_cast<double>(x.real()), static_cast<double>(x.imag()));
}

// The last two dimensions of an array, one matrix after the other.
struct Matrices {
  std::int64_t rows, columns, count;
  explicit Matrices(const Shape& s)
      : rows(s.dim(s.rank() - 2)), columns(s.dim(s.rank() - 1)), count(1) {
    for (int d = 0; d + 2 < s.rank(); ++d) count *= s.dim(d);
  }
};

bool is_complex_form(DType type) { return form_of(type) >= Form::kComplex; }

}  // namespace

// A = L L^H, or U^H U: the other triangle of the result is zero. NaN where A is not positive.
Status run_cholesky(const Call& c) {
  const bool lower = c.op.bool_or("lower", false);
  const DType type = c.results[0].shape.dtype();
  const std::vector<Scalar> from = load_all(c.operands[0]);
  std::vector<Scalar> to(from.size());
  const Matrices m(c.operands[0].shape);
  const std::int64_t n = m.rows;
  std::vector<Number> l(static_cast<std::size_t>(n * n));
  for (std::int64_t matrix = 0; matrix < m.count; ++matrix) {
    const auto at = [n](std::int64_t i, std::int64_t j) {
      return static_cast<std::size_t>(i * n + j);
    };
    const auto base = static_cast<std::size_t>(matrix * n * n);
    // The element (i, j) of the lower triangle of A, which the upper one tells conjugated.
    const auto a = [&](std::int64_t i, std::int64_t j) {
      return lower ? number(from[base + at(i, j)]) : std::conj(number(from[base + at(j, i)]));
    };
    for (std::int64_t j = 0; j < n; ++j) {
      long double diagonal = a(j, j).real();
      for (std::int64_t k = 0; k < j; ++k) diagonal -= std::norm(l[at(j, k)]);
      const long double root = std::sqrt(diagonal);  // NaN below zero
      l[at(j, j)] = root;
      for (std::int64_t i = j + 1; i < n; ++i) {
        Number sum = a(i, j);
        for (std::int64_t k = 0; k < j; ++k) sum -= l[at(i, k)] * std::conj(l[at(j, k)]);
        l[at(i, j)] = sum / root;
      }
    }
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        if (lower)
          to[base + at(i, j)] = scalar(l[at(i, j)]);
        else
          to[base + at(j, i)] = scalar(std::conj(l[at(i, j)]));
      }
    }
  }
  if (!is_complex_form(type)) {
    for (Scalar& s : to) s.im = 0;
  }
  store_all(to, c.results[0]);
  return {};
}

// op(A) X = B, or X op(A) = B, by substitution; of A only one triangle is read.
Status run_triangular_solve(const Call& c) {
  const bool left = c.op.bool_or("left_side", true), lower = c.op.bool_or("lower", true),
             unit = c.op.bool_or("unit_diagonal", false);
  const auto transpose = c.op.enum_or("transpose_a", ir::Transpose::kNoTranspose);
  const bool turned =
      transpose == ir::Transpose::kTranspose || transpose == ir::Transpose::kAdjoint;
  const std::vector<Scalar> matrix = load_all(c.operands[0]), right = load_all(c.operands[1]);
  std::vector<Scalar> to(right.size());
  const Matrices ma(c.operands[0].shape), mb(c.operands[1].shape);
  const std::int64_t n = ma.rows, others = left ? mb.columns : mb.rows;
  for (std::int64_t m = 0; m < mb.count; ++m) {
    // X op(A) = B is op(A)^T X^T = B^T: then the roles of rows and columns change once more.
    const bool swap = turned != !left;
    const auto a = [&](std::int64_t i, std::int64_t j) {
      if (unit && i == j) return Number(1);
      if (swap) std::swap(i, j);
      const Number x = number(matrix[static_cast<std::size_t>((m * n + i) * n + j)]);
      return transpose == ir::Transpose::kAdjoint ? std::conj(x) : x;
    };
    const auto place = [&](std::int64_t i, std::int64_t other) {
      return static_cast<std::size_t>(m * n * others + (left ? i * others + other : other * n + i));
    };
    const bool forward = lower != swap;
    std::vector<Number> x(static_cast<std::size_t>(n));
    for (std::int64_t other = 0; other < others; ++other) {
      for (std::int64_t step = 0; step < n; ++step) {
        const std::int64_t i = forward ? step : n - 1 - step;
        Number sum = number(right[place(i, other)]);
        const std::int64_t begin = forward ? 0 : i + 1, end = forward ? i : n;
        for (std::int64_t k = begin; k < end; ++k) sum -= a(i, k) * x[static_cast<std::size_t>(k)];
        const Number pivot = a(i, i);
        // Real numbers stay real, also where they are infinite.
        x[static_cast<std::size_t>(i)] =
            pivot.imag() == 0 ? Number(sum.real() / pivot.real(), sum.imag() / pivot.real())
                              : sum / pivot;
        to[place(i, other)] = scalar(x[static_cast<std::size_t>(i)]);
      }
    }
  }
  if (!is_complex_form(c.results[0].shape.dtype())) {
    for (Scalar& s : to) s.im = 0;
  }
  store_all(to, c.results[0]);
  return {};
}

}  // namespace millrace::devices::cpu::reference
