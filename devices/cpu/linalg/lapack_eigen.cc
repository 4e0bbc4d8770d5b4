// Eigenvalues of matrices of any kind: their vectors, Schur's form, and Hessenberg's on the way
// there; singular values. What is not finite is not handed to the library, where a search for
// values need not end: its results are NaN, and its word says so as JAX's own CPU does.
#include <algorithm>
#include <complex>

#include "millrace/devices/cpu/linalg/lapack_call.h"

namespace millrace::devices::cpu::linalg {
namespace {

// Hermitian matrices: eigenvalues from the smallest on, and eigenvectors as columns.
template <class T>
Status run_hermitian(const Call& c) {
  using R = Real<T>;
  const Matrix<T> a = take_like<T>(c, 0);
  const auto call = [&](std::span<R> values, Workspace<T> work, Workspace<R> rwork,
                        Workspace<Integer> iwork) {
    return library_syevd<T>(c.options.mode, c.options.triangle, a.n(), a, values, work,
                            if_complex<T>(rwork), iwork);
  };
  T size(0);
  R real_size = 0;
  Integer integers = 0;
  call({}, {&size, -1}, {&real_size, -1}, {&integers, -1});
  const auto work = take_workspace(c.scratch, size);
  const auto rwork = take_workspace(c.scratch, real_size);
  const auto iwork = take_workspace(c.scratch, integers);
  return each_matrix(c, a, [&](std::int64_t b) {
    const std::span<R> values = piece<R>(c.results[1], b, a.columns);
    // Only one triangle counts.
    for (Integer j = 0; j < a.n(); ++j) {
      for (Integer i = 0; i < j; ++i) (c.options.triangle == 'L' ? a(i, j) : a(j, i)) = T(0);
    }
    if (is_finite<T>(a.data)) return call(values, work, rwork, iwork);
    std::ranges::fill(a.data, not_a_number<T>());
    std::ranges::fill(values, not_a_number<R>());
    return a.n();
  });
}

// A = U S V^H by division, which is the usual way, or by QR steps; how many of the vectors, the
// mode says.
template <class T, bool kDivided>
Status run_singular(const Call& c) {
  using R = Real<T>;
  const Matrix<T> a = take_like<T>(c, 0),
                  u = take<T>(c.scratch, a.rows, columns_of(c.results[2].shape)),
                  vt = take<T>(c.scratch, rows_of(c.results[3].shape), a.columns);
  const std::int64_t least = std::min(a.rows, a.columns), most = std::max(a.rows, a.columns);
  const char mode = c.options.mode;
  const std::int64_t reals = !kDivided     ? 5 * least
                             : mode == 'N' ? 7 * least
                                           : std::max(5 * least * (least + 1),
                                                      2 * most * least + 2 * least * least + least);
  const std::span<R> rwork = c.scratch.take<R>(kComplex<T> ? reals : 0);
  const std::span<Integer> iwork = c.scratch.take<Integer>(8 * least);
  const auto call = [&](std::span<R> values, Workspace<T> work) {
    if constexpr (kDivided)
      return library_gesdd<T>(mode, a.m(), a.n(), a, values, u, vt, work, if_complex<T>(rwork),
                              iwork);
    else
      return library_gesvd<T>(mode, mode, a.m(), a.n(), a, values, u, vt, work,
                              if_complex<T>(rwork));
  };
  const auto work = take_workspace_for<T>(c.scratch, [&](Workspace<T> query) {
    if (least > 0) call({}, query);
  });
  return each_matrix(c, a, [&](std::int64_t b) {
    const std::span<R> values = piece<R>(c.results[1], b, least);
    const bool wanted = mode != 'N';
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
      for (const Matrix<T>& all : {u, vt}) std::ranges::fill(all.data, not_a_number<T>());
    } else if (least > 0) {
      info = call(values, work);
    }
    write(u, c.results[2], b);
    write(vt, c.results[3], b);
    return info;
  });
}

// Real eigenvectors as LAPACK packs them: of a pair of conjugate values, the real parts are one
// column and the imaginary ones the next.
template <class R>
void unpack(const Matrix<R>& packed, std::span<const R> imaginary,
            const Matrix<std::complex<R>>& to) {
  for (std::int64_t j = 0; j < packed.columns; ++j) {
    const bool pair = imaginary[static_cast<std::size_t>(j)] != 0 && j + 1 < packed.columns;
    for (std::int64_t i = 0; i < packed.rows; ++i) {
      to(i, j) = pair ? std::complex<R>(packed(i, j), packed(i, j + 1)) : packed(i, j);
      if (pair) to(i, j + 1) = std::conj(to(i, j));
    }
    if (pair) ++j;
  }
}

// Vectors from the left and from the right, each of length 1 with a real largest element.
template <class T>
Status run_eigen(const Call& c) {
  using R = Real<T>;
  const Shape& s = c.operands[0].shape;
  const std::int64_t rows = rows_of(s);
  const Matrix<T> a = take<T>(c.scratch, rows, rows), left = take<T>(c.scratch, rows, rows),
                  right = take<T>(c.scratch, rows, rows);
  const auto unpacked = take<std::complex<R>>(c.scratch, kComplex<T> ? 0 : rows, rows);
  const std::span<R> rwork = c.scratch.take<R>(2 * rows);
  const auto call = [&](std::span<T> values, std::span<T> imaginary, Workspace<T> work) {
    return library_geev<T>(c.options.left_vectors, c.options.right_vectors, a.n(), a, values,
                           if_real<T>(imaginary), left, right, work, if_complex<T>(rwork));
  };
  const auto work =
      take_workspace_for<T>(c.scratch, [&](Workspace<T> query) { call({}, {}, query); });
  if (c.scratch.measures()) return {};
  const std::size_t first = kComplex<T> ? 1 : 2;  // result that is vectors
  for (std::int64_t b = 0; b < batches_of(s); ++b) {
    const std::span<T> values = piece<T>(c.results[0], b, rows),
                       imaginary = kComplex<T> ? values : piece<T>(c.results[1], b, rows);
    read(c.operands[0], b, a);
    for (const Matrix<T>& vectors : {left, right}) std::ranges::fill(vectors.data, T(0));
    Integer info = -4;  // as JAX has it for what is not finite
    if (is_finite<T>(a.data)) {
      info = call(values, imaginary, work);
    } else {
      for (const std::span<T> all : {values, imaginary, left.data, right.data})
        std::ranges::fill(all, not_a_number<T>());
    }
    for (const bool right_ones : {false, true}) {
      const Matrix<T>& vectors = right_ones ? right : left;
      const MutableArray& to = c.results[first + (right_ones ? 1 : 0)];
      if constexpr (kComplex<T>) {
        write(vectors, to, b);
      } else {
        unpack<R>(vectors, imaginary, unpacked);
        write(unpacked, to, b);
      }
    }
    write_info(info, c.results[first + 2], b);
  }
  return {};
}

// A = Z S Z^H. Where S is real, a pair of conjugate values is a block of two rows with equal
// elements on the diagonal.
template <class T>
Status run_schur(const Call& c) {
  using R = Real<T>;
  const Options& o = c.options;
  const std::int64_t rows = rows_of(c.operands[0].shape);
  const Matrix<T> a = take<T>(c.scratch, rows, rows), z = take<T>(c.scratch, rows, rows);
  const std::span<R> rwork = c.scratch.take<R>(rows);
  const std::span<Integer> bwork = c.scratch.take<Integer>(rows);
  constexpr const void* kSelect = nullptr;  // a function for sorting, which is never asked for
  const auto call = [&](std::span<T> values, std::span<T> imaginary, Workspace<T> work) {
    Integer selected = 0;
    return library_gees<T>(o.mode, o.sort, kSelect, a.n(), a, &selected, values,
                           if_real<T>(imaginary), z, work, if_complex<T>(rwork), bwork);
  };
  const auto work =
      take_workspace_for<T>(c.scratch, [&](Workspace<T> query) { call({}, {}, query); });
  return each_matrix(c, a, [&](std::int64_t b) {
    const std::span<T> values = piece<T>(c.results[2], b, rows),
                       imaginary = kComplex<T> ? values : piece<T>(c.results[3], b, rows);
    std::ranges::fill(z.data, T(0));
    Integer info = a.n();  // as when no value was found
    if (is_finite<T>(a.data)) {
      info = call(values, imaginary, work);
    } else {
      for (const std::span<T> all : {values, imaginary, a.data, z.data})
        std::ranges::fill(all, not_a_number<T>());
    }
    write(z, c.results[1], b);
    write_info(0, c.results[c.results.size() - 2], b);  // none are selected, without a sort
    return info;
  });
}

// A = Q H Q^H, H zero below its first diagonal but one; there stand the vectors that make up Q.
template <class T>
Status run_hessenberg(const Call& c) {
  const Matrix<T> a = take_like<T>(c, 0);
  const std::int64_t beside = std::max<std::int64_t>(a.columns - 1, 0);
  return each_matrix(c, a, [&](std::int64_t b, Workspace<T> work) {
    return library_gehrd<T>(a.n(), c.options.low, c.options.high, a,
                            piece<T>(c.results[1], b, beside), work);
  });
}

// With more rows the library could not say in 32 bits how large its workspace is.
constexpr std::int64_t kMostRows = 16384;

// All vectors, or as many as there are values; the letter 'N' leaves them away.
bool singular(const Extents& e, const Options& o) {
  const bool full = extent(e, 'u') == extent(e, 'm') && extent(e, 'v') == extent(e, 'n');
  const bool thin = extent(e, 'u') == extent(e, 'k') && extent(e, 'v') == extent(e, 'k');
  if (extent(e, 'k') > kMostRows || !is_countable(e)) return false;
  return o.mode == 'A' ? full : o.mode == 'S' ? thin : o.mode == 'N' && (full || thin);
}
bool hermitian(const Extents& e, const Options& o) {
  return extent(e, 'n') <= kMostRows && is_triangle(o) && (o.mode == 'V' || o.mode == 'N');
}
bool asks(char letter) { return letter == 'V' || letter == 'N'; }
bool eigen(const Extents&, const Options& o) {
  return asks(o.left_vectors) && asks(o.right_vectors);
}
bool schur(const Extents&, const Options& o) { return asks(o.mode) && o.sort == 'N'; }
bool hessenberg(const Extents& e, const Options& o) {
  const std::int64_t n = extent(e, 'n');
  return n == 0 ? o.low == 1 && o.high == 0 : 1 <= o.low && o.low <= o.high && o.high <= n;
}
constexpr std::string_view kSingularRule = "T[m,n] -> T[m,n] R[k] T[m,u] T[v,n] i32[]",
                           kSingularWords =
                               ", u = m and v = n with mode 'A', u = v = k with mode 'S', one of "
                               "both with mode 'N', k at most 16384, m and n at most 2^24";
constexpr Runs kEigen = MILLRACE_OF_ALL_TYPES(run_eigen);
constexpr Runs kSchur = MILLRACE_OF_ALL_TYPES(run_schur);
constexpr std::string_view kEigenWords = ", compute_left and compute_right 'V' or 'N'",
                           kSchurWords = ", mode 'V' or 'N', sort 'N'";
constexpr Row kRows[] = {
    {"syevd", "T[n,n] -> T[n,n] R[n] i32[]", hermitian,
     ", mode 'V' or 'N', uplo 'L' or 'U', n at most 16384", MILLRACE_OF_ALL_TYPES(run_hermitian),
     "heevd"},
    {"gesdd", kSingularRule, singular, kSingularWords, MILLRACE_OF_ALL_TYPES(run_singular, true)},
    {"gesvd", kSingularRule, singular, kSingularWords, MILLRACE_OF_ALL_TYPES(run_singular, false)},
    {"geev", "T[n,n] -> T[n] T[n] C[n,n] C[n,n] i32[]", eigen, kEigenWords, real_ones(kEigen)},
    {"geev", "T[n,n] -> T[n] C[n,n] C[n,n] i32[]", eigen, kEigenWords, complex_ones(kEigen)},
    {"gees", "T[n,n] -> T[n,n] T[n,n] T[n] T[n] i32[] i32[]", schur, kSchurWords,
     real_ones(kSchur)},
    {"gees", "T[n,n] -> T[n,n] T[n,n] T[n] i32[] i32[]", schur, kSchurWords, complex_ones(kSchur)},
    {"gehrd", "T[n,n] -> T[n,n] T[p] i32[]", hessenberg, ", 1 <= low <= high <= n",
     MILLRACE_OF_ALL_TYPES(run_hessenberg)}};

}  // namespace

std::span<const Row> eigen_rows() { return kRows; }

}  // namespace millrace::devices::cpu::linalg
