#include "millrace/devices/cpu/reference/lapack.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "millrace/devices/cpu/kernels/dim_vector.h"

namespace millrace::devices::cpu::reference {
namespace {

using Complex = std::complex<double>;

double conjugate(double x) { return x; }
Complex conjugate(Complex x) { return std::conj(x); }
double real_part(double x) { return x; }
double real_part(Complex x) { return x.real(); }
double imaginary_part(double) { return 0; }
double imaginary_part(Complex x) { return x.imag(); }
double size_of(double x) { return std::fabs(x); }
// As LAPACK compares pivots.
double size_of(Complex x) { return std::fabs(x.real()) + std::fabs(x.imag()); }
void get(const Scalar& s, double& x) { x = s.re; }
void get(const Scalar& s, Complex& x) { x = {s.re, s.im}; }
Scalar to_scalar(double x) { return from_real(x); }
Scalar to_scalar(Complex x) { return from_complex(x.real(), x.imag()); }

// Letters of the call: 'L' or 'U', 'N' or 'T' or 'C', ...
struct Options {
  char side = 'L', triangle = 'L', transposed = 'N', diagonal = 'N', mode = 'V';
};

// A row-major matrix.
template <class N>
struct Matrix {
  std::span<N> data;
  std::int64_t rows = 0, columns = 0;
  N& operator()(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
};

struct Call2 {
  const Options& options;
  std::span<const ConstArray> operands;
  std::span<const MutableArray> results;
  Scratch& scratch;
};

std::int64_t rows_of(const Shape& s) { return s.dim(s.rank() - 2); }
std::int64_t columns_of(const Shape& s) { return s.dim(s.rank() - 1); }
std::int64_t batches_of(const Shape& s) {
  return product(
      std::span<const std::int64_t>(s.dims()).first(static_cast<std::size_t>(s.rank() - 2)));
}

template <class N>
Matrix<N> take(Scratch& scratch, std::int64_t rows, std::int64_t columns) {
  return {scratch.take<N>(rows * columns), rows, columns};
}
// Piece `batch` of n elements.
template <class N>
void read(const ConstArray& from, std::int64_t batch, std::span<N> to) {
  const std::size_t width = byte_width(from.shape.dtype());
  for (std::size_t i = 0; i < to.size(); ++i)
    get(load(from.shape.dtype(),
             from.data + (static_cast<std::size_t>(batch) * to.size() + i) * width),
        to[i]);
}
template <class N>
void write(std::span<const N> from, const MutableArray& to, std::int64_t batch) {
  const std::size_t width = byte_width(to.shape.dtype());
  for (std::size_t i = 0; i < from.size(); ++i)
    store(to.shape.dtype(), to_scalar(from[i]),
          to.data + (static_cast<std::size_t>(batch) * from.size() + i) * width);
}
void write_integer(std::int64_t x, const MutableArray& to, std::int64_t at) {
  store(to.shape.dtype(), from_signed(x),
        to.data + static_cast<std::size_t>(at) * byte_width(to.shape.dtype()));
}

// A = L L^H in the lower triangle, or U^H U in the upper one; the other stays. Gives the number of
// the first pivot that is not positive, 0 if all are.
template <class N>
std::int64_t cholesky(const Matrix<N>& a, bool lower) {
  const auto at = [&](std::int64_t i, std::int64_t j) -> N& { return lower ? a(i, j) : a(j, i); };
  for (std::int64_t j = 0; j < a.rows; ++j) {
    double pivot = real_part(at(j, j));
    for (std::int64_t k = 0; k < j; ++k) pivot -= real_part(at(j, k) * conjugate(at(j, k)));
    if (!(pivot > 0)) return j + 1;
    pivot = std::sqrt(pivot);
    at(j, j) = pivot;
    for (std::int64_t i = j + 1; i < a.rows; ++i) {
      N sum = at(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= at(i, k) * conjugate(at(j, k));
      at(i, j) = sum / pivot;
    }
  }
  return 0;
}
template <class N>
Status potrf(const Call2& c) {
  const Shape& s = c.operands[0].shape;
  const Matrix<N> a = take<N>(c.scratch, rows_of(s), columns_of(s));
  if (c.scratch.measures()) return {};
  for (std::int64_t b = 0; b < batches_of(s); ++b) {
    read(c.operands[0], b, a.data);
    write_integer(cholesky(a, c.options.triangle == 'L'), c.results[1], b);
    write(std::span<const N>(a.data), c.results[0], b);
  }
  return {};
}

// P A = L U with ones on L's diagonal, the largest of each column as its pivot.
template <class N>
Status getrf(const Call2& c) {
  const Shape& s = c.operands[0].shape;
  const Matrix<N> a = take<N>(c.scratch, rows_of(s), columns_of(s));
  if (c.scratch.measures()) return {};
  const std::int64_t steps = std::min(a.rows, a.columns);
  for (std::int64_t b = 0; b < batches_of(s); ++b) {
    read(c.operands[0], b, a.data);
    std::int64_t singular = 0;
    for (std::int64_t k = 0; k < steps; ++k) {
      std::int64_t pivot = k;
      for (std::int64_t i = k + 1; i < a.rows; ++i) {
        if (size_of(a(i, k)) > size_of(a(pivot, k))) pivot = i;
      }
      write_integer(pivot + 1, c.results[1], b * steps + k);
      if (a(pivot, k) == N(0)) {
        if (singular == 0) singular = k + 1;
        continue;
      }
      if (pivot != k) {
        for (std::int64_t j = 0; j < a.columns; ++j) std::swap(a(k, j), a(pivot, j));
      }
      for (std::int64_t i = k + 1; i < a.rows; ++i) {
        const N factor = a(i, k) /= a(k, k);
        for (std::int64_t j = k + 1; j < a.columns; ++j) a(i, j) -= factor * a(k, j);
      }
    }
    write_integer(singular, c.results[2], b);
    write(std::span<const N>(a.data), c.results[0], b);
  }
  return {};
}

// op(A) X = B from the left, X op(A) = B from the right, which is op(A)^T X^T = B^T.
template <class N>
Status trsm(const Call2& c) {
  const Options& o = c.options;
  const Shape &sa = c.operands[0].shape, &sb = c.operands[1].shape;
  const Matrix<N> a = take<N>(c.scratch, rows_of(sa), columns_of(sa)),
                  b = take<N>(c.scratch, rows_of(sb), columns_of(sb));
  if (c.scratch.measures()) return {};
  const bool left = o.side == 'L', turned = (o.transposed != 'N') == left;
  // Whether the matrix that is solved with, row by row, is lower.
  const bool lower = (o.triangle == 'L') != turned;
  const std::int64_t n = a.rows, count = left ? b.columns : b.rows;
  const auto coefficient = [&](std::int64_t i, std::int64_t j) {
    const N x = turned ? a(j, i) : a(i, j);
    return o.transposed == 'C' ? conjugate(x) : x;
  };
  const auto unknown = [&](std::int64_t i, std::int64_t k) -> N& {
    return left ? b(i, k) : b(k, i);
  };
  for (std::int64_t batch = 0; batch < batches_of(sb); ++batch) {
    read(c.operands[0], batch, a.data);
    read(c.operands[1], batch, b.data);
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t i = lower ? step : n - 1 - step;
      for (std::int64_t k = 0; k < count; ++k) {
        N sum = unknown(i, k);
        for (std::int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); ++j)
          sum -= coefficient(i, j) * unknown(j, k);
        unknown(i, k) = o.diagonal == 'U' ? sum : sum / coefficient(i, i);
      }
    }
    write(std::span<const N>(b.data), c.results[0], batch);
  }
  return {};
}

// Columns from `first` on of a become (I - tau v v^H) a, where v is 1 in row k and column k of
// `from` below it.
template <class N>
void reflect(const Matrix<N>& a, std::int64_t first, const Matrix<N>& from, std::int64_t k, N tau) {
  for (std::int64_t j = first; j < a.columns; ++j) {
    N sum = a(k, j);
    for (std::int64_t i = k + 1; i < a.rows; ++i) sum += conjugate(from(i, k)) * a(i, j);
    sum *= tau;
    a(k, j) -= sum;
    for (std::int64_t i = k + 1; i < a.rows; ++i) a(i, j) -= from(i, k) * sum;
  }
}

// A = Q R: R in the upper triangle, below it the vectors of the reflections that make up Q.
template <class N>
Status geqrf(const Call2& c) {
  const Shape& s = c.operands[0].shape;
  const Matrix<N> a = take<N>(c.scratch, rows_of(s), columns_of(s));
  const std::int64_t steps = std::min(rows_of(s), columns_of(s));
  const std::span<N> taus = c.scratch.take<N>(steps);
  if (c.scratch.measures()) return {};
  for (std::int64_t b = 0; b < batches_of(s); ++b) {
    read(c.operands[0], b, a.data);
    for (std::int64_t k = 0; k < steps; ++k) {
      double below = 0;
      for (std::int64_t i = k + 1; i < a.rows; ++i)
        below += real_part(a(i, k) * conjugate(a(i, k)));
      const N alpha = a(k, k);
      N& tau = taus[static_cast<std::size_t>(k)];
      tau = 0;
      if (below == 0 && imaginary_part(alpha) == 0) continue;
      const double beta =
          -std::copysign(std::sqrt(below + real_part(alpha * conjugate(alpha))), real_part(alpha));
      tau = (beta - alpha) / beta;
      for (std::int64_t i = k + 1; i < a.rows; ++i) a(i, k) /= alpha - beta;
      reflect(a, k + 1, a, k, conjugate(tau));
      a(k, k) = beta;
    }
    write(std::span<const N>(a.data), c.results[0], b);
    write(std::span<const N>(taus), c.results[1], b);
  }
  return {};
}

// The first columns of the Q that geqrf has left.
template <class N>
Status orgqr(const Call2& c) {
  const Shape& s = c.operands[0].shape;
  const Matrix<N> a = take<N>(c.scratch, rows_of(s), columns_of(s)),
                  q = take<N>(c.scratch, rows_of(s), columns_of(s));
  const Shape& st = c.operands[1].shape;
  const std::span<N> taus = c.scratch.take<N>(st.dim(st.rank() - 1));
  if (c.scratch.measures()) return {};
  for (std::int64_t b = 0; b < batches_of(s); ++b) {
    read(c.operands[0], b, a.data);
    read(c.operands[1], b, taus);
    for (std::int64_t i = 0; i < q.rows; ++i) {
      for (std::int64_t j = 0; j < q.columns; ++j) q(i, j) = i == j ? 1 : 0;
    }
    for (std::int64_t k = std::ssize(taus) - 1; k >= 0; --k)
      reflect(q, k, a, k, taus[static_cast<std::size_t>(k)]);
    write(std::span<const N>(q.data), c.results[0], b);
  }
  return {};
}

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

// Eigenvalues from the smallest on, and eigenvectors as columns; of each vector the largest
// element is not negative, since no sign is right.
template <class N>
Status syevd(const Call2& c) {
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

// A = U S V^H by Jacobi's method on the columns of A, or of A^H if that is the taller one: they are
// turned until they are orthogonal (Hestenes 1958).
template <class N>
Status gesdd(const Call2& c) {
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

using Run = Status (*)(const Call2&);
struct Row {
  std::string_view name;
  Run real, complex;
  std::size_t operands, results;
  std::string_view expected;
};
constexpr Row kRows[] = {
    {"potrf", potrf<double>, potrf<Complex>, 1, 2,
     "square matrices; of the results the first like them, the second an i32 for each"},
    {"getrf", getrf<double>, getrf<Complex>, 1, 3,
     "matrices of m rows and n columns; results like them, min(m, n) pivots of i32 and an i32 "
     "each"},
    {"trsm", trsm<double>, trsm<Complex>, 2, 1,
     "square matrices, and right sides that they can be solved for; a result like these"},
    {"geqrf", geqrf<double>, geqrf<Complex>, 1, 2,
     "matrices of m rows and n columns; results like them and min(m, n) factors each"},
    {"orgqr", orgqr<double>, orgqr<Complex>, 2, 1,
     "matrices of m rows and n columns, and at most min(m, n) factors each; a result like the "
     "first"},
    {"ungqr", orgqr<double>, orgqr<Complex>, 2, 1,
     "matrices of m rows and n columns, and at most min(m, n) factors each; a result like the "
     "first"},
    {"syevd", syevd<double>, syevd<Complex>, 1, 3,
     "square matrices of n rows; results like them, n real values and an i32 each"},
    {"heevd", syevd<double>, syevd<Complex>, 1, 3,
     "square matrices of n rows; results like them, n real values and an i32 each"},
    {"gesdd", gesdd<double>, gesdd<Complex>, 1, 5,
     "matrices of m rows and n columns; results like them, min(m, n) real values, two matrices of "
     "vectors and an i32 each"}};

class LapackKernel final : public Kernel {
 public:
  LapackKernel(Run run, Options options) : run_(run), options_(options) {}
  std::size_t scratch_bytes(std::span<const ConstArray> operands,
                            std::span<const MutableArray> results) const override {
    Scratch scratch;
    static_cast<void>(run_({options_, operands, results, scratch}));
    return scratch.taken_bytes();
  }
  Status run(std::span<const ConstArray> operands, std::span<const MutableArray> results,
             std::span<std::byte> memory) const override {
    Scratch scratch(memory);
    return run_({options_, operands, results, scratch});
  }

 private:
  const Run run_;
  const Options options_;
};

char letter(const ir::DictAttr& config, std::string_view name, char otherwise) {
  for (const ir::NamedAttribute& a : config.values) {
    const auto* value = a.value.as<ir::IntegerAttr>();
    if (a.name == name && value != nullptr) return static_cast<char>(value->value);
  }
  return otherwise;
}

// That shapes are those that the functions count on.
bool fits(const Row& row, const ir::Op& op) {
  if (static_cast<std::size_t>(op.operand_count()) != row.operands ||
      static_cast<std::size_t>(op.result_count()) != row.results)
    return false;
  const auto tensor = [](ir::Type type) { return memory_shape(type).has_value(); };
  for (const ir::Value* v : op.operands()) {
    if (!tensor(v->type())) return false;
  }
  for (const ir::Value& v : op.results()) {
    if (!tensor(v.type())) return false;
  }
  const Shape a = *memory_shape(op.operand(0)->type());
  const DType type = a.dtype(), part = type == DType::kC64    ? DType::kF32
                                       : type == DType::kC128 ? DType::kF64
                                                              : type;
  if (a.rank() < 2 || (part != DType::kF32 && part != DType::kF64)) return false;
  const std::int64_t m = rows_of(a), n = columns_of(a), least = std::min(m, n);
  const DimVector batch(
      std::span<const std::int64_t>(a.dims()).first(static_cast<std::size_t>(a.rank() - 2)));
  const auto like = [&](ir::Type found, DType element, std::initializer_list<std::int64_t> tail) {
    DimVector dims = batch;
    for (const std::int64_t d : tail) dims.push_back(d);
    return *memory_shape(found) == Shape(element, dims);
  };
  const auto result = [&](int i) { return op.result(i)->type(); };
  const bool square = m == n;
  if (row.name == "potrf")
    return square && like(result(0), type, {m, n}) && like(result(1), DType::kI32, {});
  if (row.name == "getrf")
    return like(result(0), type, {m, n}) && like(result(1), DType::kI32, {least}) &&
           like(result(2), DType::kI32, {});
  if (row.name == "geqrf") return like(result(0), type, {m, n}) && like(result(1), type, {least});
  if (row.name == "orgqr" || row.name == "ungqr") {
    const Shape taus = *memory_shape(op.operand(1)->type());
    return taus.rank() == a.rank() - 1 && taus.dim(taus.rank() - 1) <= least &&
           like(op.operand(1)->type(), type, {taus.dim(taus.rank() - 1)}) &&
           like(result(0), type, {m, n});
  }
  if (row.name == "trsm") {
    const Shape b = *memory_shape(op.operand(1)->type());
    const auto* config = op.attr<ir::DictAttr>("mhlo.backend_config");
    return square && b.rank() == a.rank() &&
           (letter(*config, "side", 'L') == 'L' ? rows_of(b) : columns_of(b)) == m &&
           like(op.operand(1)->type(), type, {rows_of(b), columns_of(b)}) &&
           like(result(0), type, {rows_of(b), columns_of(b)});
  }
  if (row.name == "gesdd") {
    const auto factors = [&](std::int64_t left, std::int64_t right) {
      return like(result(2), type, {m, left}) && like(result(3), type, {right, n});
    };
    return like(result(0), type, {m, n}) && like(result(1), part, {least}) &&
           (factors(m, n) || factors(least, least)) && like(result(4), DType::kI32, {});
  }
  return square && like(result(0), type, {m, n}) && like(result(1), part, {n}) &&
         like(result(2), DType::kI32, {});
}

// The row of the call's name; nullptr for others.
const Row* row_of(const ir::Op& op) {
  std::string_view name = op.callee();
  constexpr std::string_view kPrefix = "lapack_", kSuffix = "_ffi";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix) ||
      name.size() <= kPrefix.size() + kSuffix.size()) {
    return nullptr;
  }
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  if (!std::string_view("sdcz").contains(name.front())) return nullptr;
  const auto* row = std::ranges::find(kRows, name.substr(1), &Row::name);
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace

std::string lapack_fault(const ir::Op& op) {
  const Row* row = row_of(op);
  if (row == nullptr) return "";
  if (op.attr<ir::DictAttr>("mhlo.backend_config") == nullptr)
    return "the attribute mhlo.backend_config with its options is missing";
  if (fits(*row, op)) return "";
  std::string found;
  for (const ir::Value* v : op.operands())
    found += (found.empty() ? "" : ", ") + v->type().to_string();
  found += " ->";
  for (const ir::Value& v : op.results()) found += " " + v.type().to_string();
  return "found " + found + ", expected, of f32, f64 or complex numbers of them, " +
         std::string(row->expected);
}

std::shared_ptr<const Kernel> make_lapack_kernel(const ir::Op& op) {
  const Row* row = row_of(op);
  if (row == nullptr || !lapack_fault(op).empty()) return nullptr;
  const auto* config = op.attr<ir::DictAttr>("mhlo.backend_config");
  const Options options{.side = letter(*config, "side", 'L'),
                        .triangle = letter(*config, "uplo", 'L'),
                        .transposed = letter(*config, "trans_x", 'N'),
                        .diagonal = letter(*config, "diag", 'N'),
                        .mode = letter(*config, "mode", 'V')};
  const bool complex = is_complex(op.operand(0)->type().dtype());
  return std::make_shared<const LapackKernel>(complex ? row->complex : row->real, options);
}

}  // namespace millrace::devices::cpu::reference
