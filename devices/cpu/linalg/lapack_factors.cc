// Factors of matrices: Cholesky, LU, QR, and solving by triangles.
#include <algorithm>
#include <complex>
#include <numeric>

#include "millrace/devices/cpu/linalg/lapack_call.h"

namespace millrace::devices::cpu::linalg {
namespace {

struct Cholesky {
  template <class T>
  Status operator()(const Call& c) const {
    const Matrix<T> a = take_like<T>(c, 0);
    if (c.scratch.measures()) return {};
    const Integer n = a.n(), lda = a.leading();
    return each_matrix(c, a, [&](std::int64_t) {
      Integer info = 0;
      library_potrf<T>(&c.options.triangle, &n, a.data.data(), &lda, &info, 1);
      return info;
    });
  }
};

struct Lu {
  template <class T>
  Status operator()(const Call& c) const {
    const Matrix<T> a = take_like<T>(c, 0);
    if (c.scratch.measures()) return {};
    const Integer m = a.m(), n = a.n(), lda = a.leading();
    return each_matrix(c, a, [&](std::int64_t b) {
      Integer info = 0;
      library_getrf<T>(&m, &n, a.data.data(), &lda,
                       piece<Integer>(c.results[1], b, std::min(m, n)).data(), &info);
      return info;
    });
  }
};

// op(A) X = B, or X op(A) = B.
struct TriangularSolve {
  template <class T>
  Status operator()(const Call& c) const {
    const Options& o = c.options;
    const Matrix<T> a = take_like<T>(c, 0), x = take_like<T>(c, 1);
    if (c.scratch.measures()) return {};
    const Integer m = x.m(), n = x.n(), lda = a.leading(), ldx = x.leading();
    const T one(1);
    for (std::int64_t b = 0; b < batches_of(c.operands[1].shape); ++b) {
      read(c.operands[0], b, a);
      read(c.operands[1], b, x);
      library_trsm<T>(&o.side, &o.triangle, &o.transposed, &o.diagonal, &m, &n, &one, a.data.data(),
                      &lda, x.data.data(), &ldx, 1, 1, 1, 1);
      write(x, c.results[0], b);
    }
    return {};
  }
};

struct Qr {
  template <class T>
  Status operator()(const Call& c) const {
    const Matrix<T> a = take_like<T>(c, 0);
    const Integer m = a.m(), n = a.n(), lda = a.leading();
    const auto call = [&](T* data, T* tau, T* work, Integer lwork) {
      Integer info = 0;
      library_geqrf<T>(&m, &n, data, &lda, tau, work, &lwork, &info);
    };
    T none(0);
    const auto work = take_workspace<T>(
        c.scratch, [&](T* size, Integer query) { call(&none, &none, size, query); });
    if (c.scratch.measures()) return {};
    return each_matrix(c, a, [&](std::int64_t b) {
      call(a.data.data(), piece<T>(c.results[1], b, std::min(m, n)).data(), work.data(),
           work.size());
    });
  }
};

// With columns in an order of falling size: the second operand says which are held in front (not
// 0), the second result where each came from, from 1 on.
struct PivotedQr {
  template <class T>
  Status operator()(const Call& c) const {
    const Matrix<T> a = take_like<T>(c, 0);
    const Integer m = a.m(), n = a.n(), lda = a.leading();
    const std::span<Real<T>> rwork = c.scratch.take<Real<T>>(kComplex<T> ? 2 * a.columns : 0);
    Real<T> spare = 0;
    const auto call = [&](T* data, Integer* columns, T* tau, T* work, Integer lwork) {
      Integer info = 0;
      if constexpr (kComplex<T>)
        library_geqp3<T>(&m, &n, data, &lda, columns, tau, work, &lwork, address(rwork, spare),
                         &info);
      else
        library_geqp3<T>(&m, &n, data, &lda, columns, tau, work, &lwork, &info);
    };
    T none(0);
    Integer column = 0;
    const auto work = take_workspace<T>(
        c.scratch, [&](T* size, Integer query) { call(&none, &column, &none, size, query); });
    if (c.scratch.measures()) return {};
    return each_matrix(c, a, [&](std::int64_t b) {
      const auto columns = piece<Integer>(c.results[1], b, n);
      const auto taus = piece<T>(c.results[2], b, std::min(m, n));
      read(c.operands[1], b, columns);
      if (is_finite<T>(a.data))
        return call(a.data.data(), columns.data(), taus.data(), work.data(), work.size());
      // No column is the largest, and the search for it need not end.
      std::iota(columns.begin(), columns.end(), 1);
      std::ranges::fill(a.data, not_a_number<T>());
      std::ranges::fill(taus, not_a_number<T>());
    });
  }
};

// The first columns of the Q that Qr has left.
struct MakeQ {
  template <class T>
  Status operator()(const Call& c) const {
    const Matrix<T> a = take_like<T>(c, 0);
    const std::int64_t count = columns_of(c.operands[1].shape);
    const Integer m = a.m(), n = a.n(), k = static_cast<Integer>(count), lda = a.leading();
    const auto call = [&](T* data, const T* tau, T* work, Integer lwork) {
      Integer info = 0;
      library_orgqr<T>(&m, &n, &k, data, &lda, tau, work, &lwork, &info);
    };
    T none(0);
    const auto work = take_workspace<T>(
        c.scratch, [&](T* size, Integer query) { call(&none, &none, size, query); });
    if (c.scratch.measures()) return {};
    return each_matrix(c, a, [&](std::int64_t b) {
      call(a.data.data(), piece<T>(c.operands[1], b, count), work.data(), work.size());
    });
  }
};

// op(Q) C, or C op(Q).
struct TimesQ {
  template <class T>
  Status operator()(const Call& c) const {
    const Matrix<T> a = take_like<T>(c, 0), x = take_like<T>(c, 2);
    const Integer m = x.m(), n = x.n(), k = a.n(), lda = a.leading(), ldx = x.leading();
    const char side = c.options.left ? 'L' : 'R', op = !c.options.transpose ? 'N'
                                                       : kComplex<T>        ? 'C'
                                                                            : 'T';
    const auto call = [&](const T* data, const T* tau, T* to, T* work, Integer lwork) {
      Integer info = 0;
      library_ormqr<T>(&side, &op, &m, &n, &k, data, &lda, tau, to, &ldx, work, &lwork, &info, 1,
                       1);
    };
    T none(0);
    const auto work = take_workspace<T>(
        c.scratch, [&](T* size, Integer query) { call(&none, &none, &none, size, query); });
    if (c.scratch.measures()) return {};
    for (std::int64_t b = 0; b < batches_of(c.operands[2].shape); ++b) {
      read(c.operands[0], b, a);
      read(c.operands[2], b, x);
      call(a.data.data(), piece<T>(c.operands[1], b, a.columns), x.data.data(), work.data(),
           work.size());
      write(x, c.results[0], b);
    }
    return {};
  }
};

constexpr auto kMakeQ = of_all_types(MakeQ{});
constexpr auto kTimesQ = of_all_types(TimesQ{});
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
constexpr std::string_view kCountable = ", m and n at most 2^24", kMakesQ = ", 2^24 >= m >= n >= t",
                           kTakesQ =
                               ", t <= r = m from the left or n from the right, m and n at "
                               "most 2^24";
constexpr Row kRows[] = {
    {"potrf", "T[n,n] -> T[n,n] i32[]", triangle, ", uplo 'L' or 'U'", of_all_types(Cholesky{})},
    {"getrf", "T[m,n] -> T[m,n] i32[k] i32[]", nullptr, "", of_all_types(Lu{})},
    {"trsm", "T[s,s] T[m,n] -> T[m,n]", solves,
     ", s = m from the left or n from the right, side 'L' or 'R', uplo 'L' or 'U', trans_x 'N', "
     "'T' or "
     "'C', diag 'N' or 'U'",
     of_all_types(TriangularSolve{})},
    {"geqrf", "T[m,n] -> T[m,n] T[k]", countable, kCountable, of_all_types(Qr{})},
    {"geqp3", "T[m,n] i32[n] -> T[m,n] i32[n] T[k]", countable, kCountable,
     of_all_types(PivotedQr{})},
    {"orgqr", "T[m,n] T[t] -> T[m,n]", makes_q, kMakesQ, real_ones(kMakeQ)},
    {"ungqr", "T[m,n] T[t] -> T[m,n]", makes_q, kMakesQ, complex_ones(kMakeQ)},
    {"ormqr", "T[r,t] T[t] T[m,n] -> T[m,n]", takes_q, kTakesQ, real_ones(kTimesQ)},
    {"unmqr", "T[r,t] T[t] T[m,n] -> T[m,n]", takes_q, kTakesQ, complex_ones(kTimesQ)}};

}  // namespace

std::span<const Row> factor_rows() { return kRows; }

}  // namespace millrace::devices::cpu::linalg
