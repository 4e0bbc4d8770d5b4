// Eigenvalues and singular values, by Jacobi's method.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "millrace/devices/cpu/reference/lapack_call.h"

namespace millrace::devices::cpu::reference::lapack {
namespace {

// The turn of columns p and q that makes the Hermitian [[first, between], [., second]] diagonal:
// one step of Jacobi's method. `between` is not 0.
template <class N>
struct Turn {
  N phase;
  double cosine, sine;
  Turn(double first, double second, N between) : phase(between / std::abs(between)) {
    const double theta = (second - first) / (2 * std::abs(between));
    const double t = std::copysign(1.0, theta) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
    cosine = 1 / std::sqrt(t * t + 1);
    sine = t * cosine;
  }
  void columns(const Matrix<N>& m, std::int64_t p, std::int64_t q) const {
    for (std::int64_t i = 0; i < m.rows; ++i) {
      const N x = m(i, p), y = m(i, q) * conjugate(phase);
      m(i, p) = cosine * x - sine * y;
      m(i, q) = sine * x + cosine * y;
    }
  }
  void rows(const Matrix<N>& m, std::int64_t p, std::int64_t q) const {
    for (std::int64_t j = 0; j < m.columns; ++j) {
      const N x = m(p, j), y = m(q, j) * phase;
      m(p, j) = cosine * x - sine * y;
      m(q, j) = sine * x + cosine * y;
    }
  }
};

template <class N>
void rotate(const Matrix<N>& a, const Matrix<N>& v, std::int64_t p, std::int64_t q) {
  if (a(p, q) == N(0)) return;
  const Turn<N> turn(real_part(a(p, p)), real_part(a(q, q)), a(p, q));
  turn.columns(a, p, q);
  turn.columns(v, p, q);
  turn.rows(a, p, q);
}

constexpr int kMostRounds = 60;  // of n^2 / 2 steps; each squares what is left, near the end

// NaN has a place in an order, too.
double sortable(double x) { return std::isnan(x) ? HUGE_VAL : x; }

}  // namespace

// Eigenvalues from the smallest on, and eigenvectors as columns; of each vector the largest
// element is not negative, since no sign is right.
template <class N>
Status syevd(const Call& c) {
  const Shape& s = c.operands[0].shape;
  const std::int64_t n = rows_of(s);
  const Matrix<N> a = take<N>(c.scratch, n, n), v = take<N>(c.scratch, n, n),
                  sorted = take<N>(c.scratch, n, n);
  const auto order = c.scratch.take<std::int64_t>(n);
  const auto values = c.scratch.take<double>(n);
  if (c.scratch.measures()) return {};
  for (std::int64_t b = 0; b < batches_of(s); ++b) {
    read(c.operands[0], b, a.data);
    double whole = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < i; ++j) {
        if (c.options.triangle == 'L')
          a(j, i) = conjugate(a(i, j));
        else
          a(i, j) = conjugate(a(j, i));
      }
      a(i, i) = real_part(a(i, i));
      for (std::int64_t j = 0; j < n; ++j) v(i, j) = i == j ? 1 : 0;
    }
    for (const N x : a.data) whole += std::norm(x);
    bool done = false;
    for (int round = 0; round < kMostRounds && !done; ++round) {
      double off = 0;
      for (std::int64_t p = 0; p < n; ++p) {
        for (std::int64_t q = p + 1; q < n; ++q) off += std::norm(a(p, q));
      }
      done = !(off > 1e-33 * whole);
      for (std::int64_t p = 0; p < n && !done; ++p) {
        for (std::int64_t q = p + 1; q < n; ++q) rotate(a, v, p, q);
      }
    }
    for (std::int64_t i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
    std::ranges::sort(order, {}, [&](std::int64_t i) { return sortable(real_part(a(i, i))); });
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t from = order[static_cast<std::size_t>(k)];
      values[static_cast<std::size_t>(k)] = real_part(a(from, from));
      std::int64_t largest = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        if (std::abs(v(i, from)) > std::abs(v(largest, from)) * (1 + 1e-9)) largest = i;
      }
      const N turn = conjugate(v(largest, from)) / std::abs(v(largest, from));
      for (std::int64_t i = 0; i < n; ++i) sorted(i, k) = v(i, from) * turn;
    }
    write(std::span<const N>(c.options.mode == 'V' ? sorted.data : a.data), c.results[0], b);
    write(std::span<const double>(values), c.results[1], b);
    write_integer(std::isfinite(whole) && done ? 0 : 1, c.results[2], b);
  }
  return {};
}

namespace {

// conjugate(column x of a) times column y of b.
template <class N>
N dot(const Matrix<N>& a, std::int64_t x, const Matrix<N>& b, std::int64_t y) {
  N sum = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) sum += conjugate(a(i, x)) * b(i, y);
  return sum;
}

// Makes column k of `basis` orthogonal to those before it: of the unit vectors, the one of which
// most is left.
template <class N>
void complete(const Matrix<N>& basis, std::int64_t k) {
  std::int64_t best = 0;
  double most = -1;
  for (std::int64_t unit = 0; unit < basis.rows; ++unit) {
    double left = 1;
    for (std::int64_t j = 0; j < k; ++j) left -= std::norm(basis(unit, j));
    if (left > most) {
      most = left;
      best = unit;
    }
  }
  for (std::int64_t i = 0; i < basis.rows; ++i) basis(i, k) = i == best ? 1 : 0;
  for (int twice = 0; twice < 2; ++twice) {
    for (std::int64_t j = 0; j < k; ++j) {
      const N part = dot(basis, j, basis, k);
      for (std::int64_t i = 0; i < basis.rows; ++i) basis(i, k) -= part * basis(i, j);
    }
  }
  const double size = std::sqrt(real_part(dot(basis, k, basis, k)));
  for (std::int64_t i = 0; i < basis.rows; ++i) basis(i, k) /= size;
}

}  // namespace

// A = U S V^H by Jacobi's method on the columns of A, or of A^H if that is the taller one: they are
// turned until they are orthogonal (Hestenes 1958).
template <class N>
Status gesdd(const Call& c) {
  const Shape& s = c.operands[0].shape;
  const std::int64_t m = rows_of(s), n = columns_of(s), p = std::max(m, n), q = std::min(m, n);
  const Matrix<N> a = take<N>(c.scratch, m, n), w = take<N>(c.scratch, p, q),
                  v = take<N>(c.scratch, q, q), left = take<N>(c.scratch, p, p),
                  right = take<N>(c.scratch, q, q),
                  u = take<N>(c.scratch, m, columns_of(c.results[2].shape)),
                  vt = take<N>(c.scratch, rows_of(c.results[3].shape), n);
  const auto order = c.scratch.take<std::int64_t>(q);
  const auto sizes = c.scratch.take<double>(q), values = c.scratch.take<double>(q);
  if (c.scratch.measures()) return {};
  for (std::int64_t b = 0; b < batches_of(s); ++b) {
    read(c.operands[0], b, a.data);
    for (std::int64_t i = 0; i < p; ++i) {
      for (std::int64_t j = 0; j < q; ++j) w(i, j) = m >= n ? a(i, j) : conjugate(a(j, i));
    }
    for (std::int64_t i = 0; i < q; ++i) {
      for (std::int64_t j = 0; j < q; ++j) v(i, j) = i == j ? 1 : 0;
    }
    double whole = 0;
    for (const N x : a.data) whole += std::norm(x);
    bool done = false;
    for (int round = 0; round < kMostRounds && !done; ++round) {
      done = true;
      for (std::int64_t x = 0; x < q; ++x) {
        for (std::int64_t y = x + 1; y < q; ++y) {
          const double first = real_part(dot(w, x, w, x)), second = real_part(dot(w, y, w, y));
          const N between = dot(w, x, w, y);
          // Of a column that is nothing but rounding, no angle says anything.
          if (!(std::abs(between) > 1e-15 * std::sqrt(first * second)) ||
              std::min(first, second) < 1e-31 * whole)
            continue;
          done = false;
          const Turn<N> turn(first, second, between);
          turn.columns(w, x, y);
          turn.columns(v, x, y);
        }
      }
    }
    double largest = 0;
    for (std::int64_t k = 0; k < q; ++k) {
      order[static_cast<std::size_t>(k)] = k;
      sizes[static_cast<std::size_t>(k)] = std::sqrt(real_part(dot(w, k, w, k)));
      largest = std::max(largest, sizes[static_cast<std::size_t>(k)]);
    }
    std::ranges::sort(order, std::greater<>(),
                      [&](std::int64_t k) { return sortable(sizes[static_cast<std::size_t>(k)]); });
    for (std::int64_t k = 0; k < p; ++k) {
      const std::int64_t from = k < q ? order[static_cast<std::size_t>(k)] : -1;
      const double size = from < 0 ? 0 : sizes[static_cast<std::size_t>(from)];
      if (from >= 0) values[static_cast<std::size_t>(k)] = size;
      for (std::int64_t i = 0; i < q && from >= 0; ++i) right(i, k) = v(i, from);
      if (size > 1e-300 && size > 1e-14 * largest) {
        for (std::int64_t i = 0; i < p; ++i) left(i, k) = w(i, from) / size;
      } else {
        complete(left, k);
      }
    }
    const Matrix<N>&us = m >= n ? left : right, &vs = m >= n ? right : left;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < u.columns; ++j) u(i, j) = us(i, j);
    }
    for (std::int64_t i = 0; i < vt.rows; ++i) {
      for (std::int64_t j = 0; j < n; ++j) vt(i, j) = conjugate(vs(j, i));
    }
    write(std::span<const N>(a.data), c.results[0], b);
    write(std::span<const double>(values), c.results[1], b);
    write(std::span<const N>(u.data), c.results[2], b);
    write(std::span<const N>(vt.data), c.results[3], b);
    write_integer(std::isfinite(whole) && done ? 0 : 1, c.results[4], b);
  }
  return {};
}

template Status syevd<double>(const Call&);
template Status syevd<Complex>(const Call&);
template Status gesdd<double>(const Call&);
template Status gesdd<Complex>(const Call&);

}  // namespace millrace::devices::cpu::reference::lapack
