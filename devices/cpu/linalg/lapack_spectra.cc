// Eigenvalues of Hermitian matrices and singular values. What is not finite is not handed to the
// library, where a search for values need not end: its results are NaN, and its word says so as
// JAX's own CPU does.
#include <algorithm>
#include <complex>

#include "millrace/devices/cpu/linalg/lapack_call.h"

namespace millrace::devices::cpu::linalg {
namespace {

// Eigenvalues from the smallest on, and eigenvectors as columns.
struct Hermitian {
  template <class T>
  Status operator()(const Call& c) const {
    using R = Real<T>;
    const Matrix<T> a = take_like<T>(c, 0);
    const Integer n = a.n(), lda = a.leading();
    const auto call = [&](T* data, R* values, T* work, Integer lwork, [[maybe_unused]] R* rwork,
                          [[maybe_unused]] Integer lrwork, Integer* iwork, Integer liwork) {
      Integer info = 0;
      if constexpr (kComplex<T>)
        library_syevd<T>(&c.options.mode, &c.options.triangle, &n, data, &lda, values, work, &lwork,
                         rwork, &lrwork, iwork, &liwork, &info, 1, 1);
      else
        library_syevd<T>(&c.options.mode, &c.options.triangle, &n, data, &lda, values, work, &lwork,
                         iwork, &liwork, &info, 1, 1);
      return info;
    };
    T none(0);
    R real_size = 0, real_none = 0;
    Integer integers = 0;
    const auto work = take_workspace<T>(c.scratch, [&](T* size, Integer query) {
      call(&none, &real_none, size, query, &real_size, query, &integers, query);
    });
    const auto rwork = take_workspace<R>(c.scratch, [&](R* size, Integer) { *size = real_size; });
    const Integer liwork = std::max(integers, 1);
    const std::span<Integer> iwork = c.scratch.take<Integer>(liwork);
    if (c.scratch.measures()) return {};
    return each_matrix(c, a, [&](std::int64_t b) {
      const std::span<R> values = piece<R>(c.results[1], b, a.columns);
      // Only one triangle counts.
      for (Integer j = 0; j < n; ++j) {
        for (Integer i = 0; i < j; ++i) (c.options.triangle == 'L' ? a(i, j) : a(j, i)) = T(0);
      }
      if (is_finite<T>(a.data))
        return call(a.data.data(), values.data(), work.data(), work.size(), rwork.data(),
                    rwork.size(), iwork.data(), liwork);
      std::ranges::fill(a.data, not_a_number<T>());
      std::ranges::fill(values, not_a_number<R>());
      return n;
    });
  }
};

// A = U S V^H by a library's function `Call`; how many of the vectors, the mode says.
template <class Library>
struct Singular {
  template <class T>
  Status operator()(const Call& c) const {
    using R = Real<T>;
    const Matrix<T> a = take_like<T>(c, 0),
                    u = take<T>(c.scratch, a.rows, columns_of(c.results[2].shape)),
                    vt = take<T>(c.scratch, rows_of(c.results[3].shape), a.columns);
    const std::int64_t least = std::min(a.rows, a.columns), most = std::max(a.rows, a.columns);
    const std::span<R> rwork =
        c.scratch.take<R>(kComplex<T> ? Library::reals(least, most, c.options.mode) : 0);
    const std::span<Integer> iwork = c.scratch.take<Integer>(8 * least);
    // With one matrix of zeros in all places, which it does not look at.
    T none(0);
    R real_none = 0;
    const Matrix<T> nothing{{&none, 1}, a.rows, a.columns}, left{{&none, 1}, u.rows, u.columns},
        right{{&none, 1}, vt.rows, vt.columns};
    const auto work = take_workspace<T>(c.scratch, [&](T* size, Integer query) {
      if (least > 0)
        Library::call(c.options.mode, nothing, &real_none, left, right, size, query, rwork, iwork);
    });
    if (c.scratch.measures()) return {};
    return each_matrix(c, a, [&](std::int64_t b) {
      const std::span<R> values = piece<R>(c.results[1], b, least);
      const bool wanted = c.options.mode != 'N';
      for (const Matrix<T>& vectors : {u, vt}) {
        std::ranges::fill(vectors.data, T(0));
        // Which stands where there is nothing to decompose.
        for (std::int64_t i = 0; wanted && i < std::min(vectors.rows, vectors.columns); ++i)
          vectors(i, i) = T(1);
      }
      Integer info = 0;
      if (!is_finite<T>(a.data)) {
        info = -4;  // as it says that its fourth argument has a NaN
        std::ranges::fill(values, not_a_number<R>());
        std::ranges::fill(u.data, not_a_number<T>());
        std::ranges::fill(vt.data, not_a_number<T>());
      } else if (least > 0) {
        info = Library::call(c.options.mode, a, values.data(), u, vt, work.data(), work.size(),
                             rwork, iwork);
      }
      write(u, c.results[2], b);
      write(vt, c.results[3], b);
      return info;
    });
  }
};

// By division: the usual one.
struct Divided {
  static std::int64_t reals(std::int64_t least, std::int64_t most, char mode) {
    return mode == 'N'
               ? 7 * least
               : std::max(5 * least * (least + 1), 2 * most * least + 2 * least * least + least);
  }
  template <class T>
  static Integer call(char mode, const Matrix<T>& a, Real<T>* values, const Matrix<T>& u,
                      const Matrix<T>& vt, T* work, Integer lwork,
                      [[maybe_unused]] std::span<Real<T>> rwork, std::span<Integer> iwork) {
    const Integer m = a.m(), n = a.n(), lda = a.leading(), ldu = u.leading(), ldvt = vt.leading();
    Integer info = 0;
    [[maybe_unused]] Real<T> spare = 0;
    Integer spare_word = 0;
    if constexpr (kComplex<T>)
      library_gesdd<T>(&mode, &m, &n, a.data.data(), &lda, values, u.data.data(), &ldu,
                       vt.data.data(), &ldvt, work, &lwork, address(rwork, spare),
                       address(iwork, spare_word), &info, 1);
    else
      library_gesdd<T>(&mode, &m, &n, a.data.data(), &lda, values, u.data.data(), &ldu,
                       vt.data.data(), &ldvt, work, &lwork, address(iwork, spare_word), &info, 1);
    return info;
  }
};

// By QR steps.
struct Stepped {
  static std::int64_t reals(std::int64_t least, std::int64_t, char) { return 5 * least; }
  template <class T>
  static Integer call(char mode, const Matrix<T>& a, Real<T>* values, const Matrix<T>& u,
                      const Matrix<T>& vt, T* work, Integer lwork,
                      [[maybe_unused]] std::span<Real<T>> rwork, std::span<Integer>) {
    const Integer m = a.m(), n = a.n(), lda = a.leading(), ldu = u.leading(), ldvt = vt.leading();
    Integer info = 0;
    [[maybe_unused]] Real<T> spare = 0;
    if constexpr (kComplex<T>)
      library_gesvd<T>(&mode, &mode, &m, &n, a.data.data(), &lda, values, u.data.data(), &ldu,
                       vt.data.data(), &ldvt, work, &lwork, address(rwork, spare), &info, 1, 1);
    else
      library_gesvd<T>(&mode, &mode, &m, &n, a.data.data(), &lda, values, u.data.data(), &ldu,
                       vt.data.data(), &ldvt, work, &lwork, &info, 1, 1);
    return info;
  }
};

// With more rows the library could not say in 32 bits how large its workspace is.
constexpr std::int64_t kMostRows = 16384;

// All vectors, or as many as there are values; the letter 'N' leaves them away.
bool singular(const Extents& e, const Options& o) {
  const bool full = extent(e, 'u') == extent(e, 'm') && extent(e, 'v') == extent(e, 'n');
  const bool thin = extent(e, 'u') == extent(e, 'k') && extent(e, 'v') == extent(e, 'k');
  if (extent(e, 'k') > kMostRows || !is_countable(e)) return false;
  return o.mode == 'A' ? full : o.mode == 'S' ? thin : o.mode == 'N' && (full || thin);
}
bool eigen(const Extents& e, const Options& o) {
  return extent(e, 'n') <= kMostRows && is_triangle(o) && (o.mode == 'V' || o.mode == 'N');
}
constexpr std::string_view kSingularRule = "T[m,n] -> T[m,n] R[k] T[m,u] T[v,n] i32[]",
                           kSingularWords =
                               ", u = m and v = n with mode 'A', u = v = k with mode 'S', one of "
                               "both with mode 'N', k at most 16384, m and n at most 2^24",
                           kEigenRule = "T[n,n] -> T[n,n] R[n] i32[]",
                           kEigenWords = ", mode 'V' or 'N', uplo 'L' or 'U', n at most 16384";
constexpr auto kHermitian = of_all_types(Hermitian{});
constexpr Row kRows[] = {
    {"syevd", kEigenRule, eigen, kEigenWords, real_ones(kHermitian)},
    {"heevd", kEigenRule, eigen, kEigenWords, complex_ones(kHermitian)},
    {"gesdd", kSingularRule, singular, kSingularWords, of_all_types(Singular<Divided>{})},
    {"gesvd", kSingularRule, singular, kSingularWords, of_all_types(Singular<Stepped>{})}};

}  // namespace

std::span<const Row> spectrum_rows() { return kRows; }

}  // namespace millrace::devices::cpu::linalg
