// Factors of matrices: Cholesky, LU, QR, and solving by triangles.
#include <algorithm>
#include <cmath>
#include <utility>

#include "millrace/devices/cpu/reference/lapack_call.h"

namespace millrace::devices::cpu::reference::lapack {
namespace {

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

}  // namespace

template <class N>
Status potrf(const Call& c) {
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
Status getrf(const Call& c) {
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
Status trsm(const Call& c) {
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

namespace {

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

}  // namespace

// A = Q R: R in the upper triangle, below it the vectors of the reflections that make up Q.
template <class N>
Status geqrf(const Call& c) {
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
Status orgqr(const Call& c) {
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

template Status potrf<double>(const Call&);
template Status potrf<Complex>(const Call&);
template Status getrf<double>(const Call&);
template Status getrf<Complex>(const Call&);
template Status trsm<double>(const Call&);
template Status trsm<Complex>(const Call&);
template Status geqrf<double>(const Call&);
template Status geqrf<Complex>(const Call&);
template Status orgqr<double>(const Call&);
template Status orgqr<Complex>(const Call&);

}  // namespace millrace::devices::cpu::reference::lapack
