// Eigenvalues of matrices of any kind: their vectors, Schur's form, and Hessenberg's on the way
// there. For what is not finite see lapack_spectra.cc.
#include <algorithm>
#include <complex>

#include "millrace/devices/cpu/linalg/lapack_call.h"

namespace millrace::devices::cpu::linalg {
namespace {

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
struct Eigen {
  template <class T>
  Status operator()(const Call& c) const {
    using R = Real<T>;
    const Options& o = c.options;
    const Shape& s = c.operands[0].shape;
    const std::int64_t rows = rows_of(s);
    const Matrix<T> a = take<T>(c.scratch, rows, rows), left = take<T>(c.scratch, rows, rows),
                    right = take<T>(c.scratch, rows, rows);
    const auto unpacked = take<std::complex<R>>(c.scratch, kComplex<T> ? 0 : rows, rows);
    const std::span<R> rwork = c.scratch.take<R>(2 * rows);
    R spare = 0;
    const Integer n = a.n(), lda = a.leading();
    const auto call = [&](T* data, T* values, [[maybe_unused]] T* imaginary, T* vl, T* vr, T* work,
                          Integer lwork) {
      Integer info = 0;
      if constexpr (kComplex<T>)
        library_geev<T>(&o.left_vectors, &o.right_vectors, &n, data, &lda, values, vl, &lda, vr,
                        &lda, work, &lwork, address(rwork, spare), &info, 1, 1);
      else
        library_geev<T>(&o.left_vectors, &o.right_vectors, &n, data, &lda, values, imaginary, vl,
                        &lda, vr, &lda, work, &lwork, &info, 1, 1);
      return info;
    };
    T none(0);
    const auto work = take_workspace<T>(c.scratch, [&](T* size, Integer query) {
      call(&none, &none, &none, &none, &none, size, query);
    });
    if (c.scratch.measures()) return {};
    const std::size_t first = kComplex<T> ? 1 : 2;  // result that is vectors
    for (std::int64_t b = 0; b < batches_of(s); ++b) {
      const std::span<T> values = piece<T>(c.results[0], b, rows),
                         imaginary = kComplex<T> ? values : piece<T>(c.results[1], b, rows);
      read(c.operands[0], b, a);
      for (const Matrix<T>& vectors : {left, right}) std::ranges::fill(vectors.data, T(0));
      Integer info = -4;  // as JAX has it for what is not finite
      if (is_finite<T>(a.data)) {
        info = call(a.data.data(), values.data(), imaginary.data(), left.data.data(),
                    right.data.data(), work.data(), work.size());
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
};

// A = Z S Z^H. Where S is real, a pair of conjugate values is a block of two rows with equal
// elements on the diagonal.
struct Schur {
  template <class T>
  Status operator()(const Call& c) const {
    using R = Real<T>;
    const Options& o = c.options;
    const Shape& s = c.operands[0].shape;
    const std::int64_t rows = rows_of(s);
    const Matrix<T> a = take<T>(c.scratch, rows, rows), z = take<T>(c.scratch, rows, rows);
    const std::span<R> rwork = c.scratch.take<R>(rows);
    const std::span<Integer> bwork = c.scratch.take<Integer>(rows);
    R spare = 0;
    Integer spare_word = 0;
    const Integer n = a.n(), lda = a.leading();
    const auto call = [&](T* data, Integer* selected, T* values, [[maybe_unused]] T* imaginary,
                          T* vectors, T* work, Integer lwork) {
      Integer info = 0;
      if constexpr (kComplex<T>)
        library_gees<T>(&o.mode, &o.sort, nullptr, &n, data, &lda, selected, values, vectors, &lda,
                        work, &lwork, address(rwork, spare), address(bwork, spare_word), &info, 1,
                        1);
      else
        library_gees<T>(&o.mode, &o.sort, nullptr, &n, data, &lda, selected, values, imaginary,
                        vectors, &lda, work, &lwork, address(bwork, spare_word), &info, 1, 1);
      return info;
    };
    T none(0);
    Integer selected = 0;
    const auto work = take_workspace<T>(c.scratch, [&](T* size, Integer query) {
      call(&none, &selected, &none, &none, &none, size, query);
    });
    if (c.scratch.measures()) return {};
    return each_matrix(c, a, [&](std::int64_t b) {
      const std::span<T> values = piece<T>(c.results[2], b, rows),
                         imaginary = kComplex<T> ? values : piece<T>(c.results[3], b, rows);
      std::ranges::fill(z.data, T(0));
      Integer info = n;  // as when no value was found
      if (is_finite<T>(a.data)) {
        info = call(a.data.data(), &selected, values.data(), imaginary.data(), z.data.data(),
                    work.data(), work.size());
      } else {
        for (const std::span<T> all : {values, imaginary, a.data, z.data})
          std::ranges::fill(all, not_a_number<T>());
      }
      write(z, c.results[1], b);
      write_info(0, c.results[c.results.size() - 2], b);  // none are selected, without a sort
      return info;
    });
  }
};

// A = Q H Q^H, H zero below its first diagonal but one; there stand the vectors that make up Q.
struct Hessenberg {
  template <class T>
  Status operator()(const Call& c) const {
    const Options& o = c.options;
    const Matrix<T> a = take_like<T>(c, 0);
    const Integer n = a.n(), lda = a.leading();
    const auto call = [&](T* data, T* tau, T* work, Integer lwork) {
      Integer info = 0;
      library_gehrd<T>(&n, &o.low, &o.high, data, &lda, tau, work, &lwork, &info);
      return info;
    };
    T none(0);
    const auto work = take_workspace<T>(
        c.scratch, [&](T* size, Integer query) { call(&none, &none, size, query); });
    if (c.scratch.measures()) return {};
    return each_matrix(c, a, [&](std::int64_t b) {
      return call(a.data.data(), piece<T>(c.results[1], b, std::max(n - 1, 0)).data(), work.data(),
                  work.size());
    });
  }
};

bool asks(char letter) { return letter == 'V' || letter == 'N'; }
bool eigen(const Extents&, const Options& o) {
  return asks(o.left_vectors) && asks(o.right_vectors);
}
bool schur(const Extents&, const Options& o) { return asks(o.mode) && o.sort == 'N'; }
bool hessenberg(const Extents& e, const Options& o) {
  const std::int64_t n = extent(e, 'n');
  return n == 0 ? o.low == 1 && o.high == 0 : 1 <= o.low && o.low <= o.high && o.high <= n;
}
constexpr auto kEigen = of_all_types(Eigen{});
constexpr auto kSchur = of_all_types(Schur{});
constexpr std::string_view kEigenWords = ", compute_left and compute_right 'V' or 'N'",
                           kSchurWords = ", mode 'V' or 'N', sort 'N'";
constexpr Row kRows[] = {
    {"geev", "T[n,n] -> T[n] T[n] C[n,n] C[n,n] i32[]", eigen, kEigenWords, real_ones(kEigen)},
    {"geev", "T[n,n] -> T[n] C[n,n] C[n,n] i32[]", eigen, kEigenWords, complex_ones(kEigen)},
    {"gees", "T[n,n] -> T[n,n] T[n,n] T[n] T[n] i32[] i32[]", schur, kSchurWords,
     real_ones(kSchur)},
    {"gees", "T[n,n] -> T[n,n] T[n,n] T[n] i32[] i32[]", schur, kSchurWords, complex_ones(kSchur)},
    {"gehrd", "T[n,n] -> T[n,n] T[p] i32[]", hessenberg, ", 1 <= low <= high <= n",
     of_all_types(Hessenberg{})}};

}  // namespace

std::span<const Row> eigen_rows() { return kRows; }

}  // namespace millrace::devices::cpu::linalg
