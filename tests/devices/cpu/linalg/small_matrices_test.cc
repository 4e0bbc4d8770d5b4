// The small factors and substitutions beside those of the library, element by element.
#include "millrace/devices/cpu/linalg/small_matrices.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "millrace/devices/cpu/linalg/lapack.h"

namespace millrace::devices::cpu::linalg {
namespace {

// Memory goes on behind the matrix, for a library that reads past it (lapack.cc: overread_bytes).
template <class T>
struct Owned {
  std::vector<T> data;
  std::int64_t rows, columns;
  Owned(std::int64_t m, std::int64_t n)
      : data(static_cast<std::size_t>(m * n + m + 16)), rows(m), columns(n) {}
  Matrix<T> view() {
    return {std::span(data).first(static_cast<std::size_t>(rows * columns)), rows, columns};
  }
};

template <class T>
class SmallMatricesTest : public ::testing::Test {
 protected:
  static std::vector<std::int64_t> sizes() {
    std::vector<std::int64_t> all(16);
    std::iota(all.begin(), all.end(), 1);
    all.insert(all.end(), {17, 33, 64, 100, kMostRows});
    return all;
  }
  Owned<T> random(std::int64_t m, std::int64_t n) {
    Owned<T> a(m, n);
    std::normal_distribution<double> normal;
    for (T& x : a.data) x = static_cast<T>(normal(random_));
    return a;
  }
  Owned<T> positive(std::int64_t n) {
    Owned<T> root = random(n, n), a(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        T sum = i == j ? T(1) : T(0);
        for (std::int64_t k = 0; k < n; ++k) sum += root.view()(i, k) * root.view()(j, k);
        a.view()(i, j) = sum;
      }
    }
    return a;
  }
  static void expect_near(const Owned<T>& got, const Owned<T>& want) {
    T most = 1;
    for (const T x : want.data) most = std::max(most, std::abs(x));
    for (std::size_t i = 0; i < want.data.size(); ++i) {
      EXPECT_LE(std::abs(got.data[i] - want.data[i]),
                2000 * std::numeric_limits<T>::epsilon() * most)
          << "element " << i;
    }
  }

  std::mt19937 random_{3};
};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SmallMatricesTest, Reals);

TYPED_TEST(SmallMatricesTest, CholeskyIsThatOfTheLibrary) {
  const LibraryCall call;
  for (const std::int64_t n : this->sizes()) {
    for (const char triangle : {'L', 'U'}) {
      SCOPED_TRACE(std::to_string(n) + triangle);
      Owned<TypeParam> small = this->positive(n), large = small;
      EXPECT_EQ(small_cholesky(triangle, small.view()), 0);
      EXPECT_EQ(library_potrf<TypeParam>(triangle, static_cast<Integer>(n), large.view()), 0);
      this->expect_near(small, large);  // the other triangle is as it was
      small = this->positive(n);
      for (const TypeParam no : {TypeParam(0), TypeParam(-1), TypeParam(NAN)}) {
        Owned<TypeParam> a = this->positive(n);
        a.view()(n / 2, n / 2) = no;
        EXPECT_EQ(small_cholesky(triangle, a.view()), n / 2 + 1);
      }
    }
  }
}

TYPED_TEST(SmallMatricesTest, FactorsAndPivotsAreThoseOfTheLibrary) {
  const LibraryCall call;
  for (const std::int64_t m : this->sizes()) {
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{5}, m, std::int64_t{40}}) {
      for (const bool singular : {false, true}) {
        SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + (singular ? " singular" : ""));
        Owned<TypeParam> small = this->random(m, n);
        for (std::int64_t i = 0; singular && i < m; ++i) small.view()(i, (n - 1) / 2) = 0;
        Owned<TypeParam> large = small;
        std::vector<Integer> here(static_cast<std::size_t>(std::min(m, n))), there = here;
        const Integer info = small_lu(small.view(), std::span<Integer>(here));
        EXPECT_EQ(info, library_getrf<TypeParam>(static_cast<Integer>(m), static_cast<Integer>(n),
                                                 large.view(), std::span<Integer>(there)));
        EXPECT_EQ(here, there);
        this->expect_near(small, large);
      }
    }
  }
}

TYPED_TEST(SmallMatricesTest, TriangularSystemsHaveTheSolutionsOfTheLibrary) {
  const LibraryCall call;
  for (const std::int64_t n : {1, 2, 7, 16, 40}) {
    for (const std::int64_t others : {1, 3, 16}) {
      for (const char side : {'L', 'R'}) {
        for (const char triangle : {'L', 'U'}) {
          for (const char transposed : {'N', 'T', 'C'}) {
            for (const char diagonal : {'N', 'U'}) {
              const char letters[] = {side, triangle, transposed, diagonal, 0};
              SCOPED_TRACE(letters + std::to_string(n));
              Owned<TypeParam> a = this->random(n, n);
              for (TypeParam& x : a.data) x /= 8;  // solutions stay small
              for (std::int64_t i = 0; i < n; ++i) a.view()(i, i) += 2;
              Owned<TypeParam> small =
                  side == 'L' ? this->random(n, others) : this->random(others, n);
              Owned<TypeParam> large = small;
              const Matrix<TypeParam> x = large.view();
              small_triangular_solve(side, triangle, transposed, diagonal, a.view(), small.view());
              library_trsm<TypeParam>.call(side, triangle, transposed, diagonal, x.m(), x.n(),
                                           TypeParam(1), a.view(), x);
              this->expect_near(small, large);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace millrace::devices::cpu::linalg
