// Products of matrices of floats, complex numbers and integers against sums by hand, for every
// shape of tile that is cut, every layout, and any number of threads.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/cpu/kernels/contraction/contraction.h"
#include "millrace/devices/cpu/kernels/contraction/gemm.h"
#include "tests/devices/cpu/run_support.h"

namespace millrace::devices::cpu::testing {
namespace {

struct Size {
  std::int64_t batch, m, n, k;
};
// Vectors, tiles that are not full, several blocks of rows, of columns and of terms, and batches
// that are split or not, of small matrices and with vectors, too.
constexpr Size kSizes[] = {{1, 1, 1, 1},    {1, 9, 7, 300},    {1, 8, 24, 16},   {1, 203, 49, 513},
                           {1, 5, 2000, 3}, {1, 300, 130, 90}, {40, 13, 21, 34}, {2, 130, 130, 130},
                           {41, 3, 3, 3},   {500, 16, 16, 16}, {9, 1, 16, 5},    {70, 1, 1, 64},
                           {6, 1, 40, 33},  {600, 40, 1, 33}};

MatmulSpec spec_of(const Size& s, bool a_transposed, bool b_transposed) {
  return {.batch = s.batch,
          .m = s.m,
          .n = s.n,
          .k = s.k,
          .a_batch = s.m * s.k,
          .a_row = a_transposed ? 1 : s.k,
          .a_column = a_transposed ? s.m : 1,
          .b_batch = s.n * s.k,
          .b_row = b_transposed ? 1 : s.n,
          .b_column = b_transposed ? s.k : 1,
          .c_batch = s.m * s.n,
          .c_row = s.n};
}

// Small whole numbers, whose sums are exact in every type or wrap the same.
template <class T>
T number(std::int64_t i) {
  const std::int64_t x = i * 7 % 23 - 11;
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(x);
  else
    return T(static_cast<typename T::value_type>(x),
             static_cast<typename T::value_type>(i * 5 % 17 - 8));
}
template <class T>
std::vector<T> numbers(std::int64_t n, std::int64_t seed) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(number<T>(i + seed));
  return values;
}

template <class L, class T>
std::vector<T> by_hand(const MatmulSpec& s, const std::vector<L>& a, const std::vector<L>& b) {
  std::vector<T> c;
  for (std::int64_t i = 0; i < s.batch * s.m * s.n; ++i) {
    const std::int64_t batch = i / (s.m * s.n), row = i / s.n % s.m, column = i % s.n;
    T sum{};
    for (std::int64_t k = 0; k < s.k; ++k) {
      const auto x =
          a[static_cast<std::size_t>(batch * s.a_batch + row * s.a_row + k * s.a_column)];
      const auto y =
          b[static_cast<std::size_t>(batch * s.b_batch + k * s.b_row + column * s.b_column)];
      if constexpr (std::is_integral_v<T>) {
        // Wrapping, without the overflow of int that narrow types are promoted to.
        const auto wide = [](auto v) { return static_cast<std::uint64_t>(static_cast<T>(v)); };
        sum = static_cast<T>(wide(sum) + wide(x) * wide(y));
      } else {
        sum = sum + static_cast<T>(x) * static_cast<T>(y);
      }
    }
    c.push_back(sum);
  }
  return c;
}

template <class L, class T>
std::vector<T> product(const Gemm& gemm, const MatmulSpec& s, const std::vector<L>& a,
                       const std::vector<L>& b, Parallel& parallel, T before) {
  std::vector<T> c(static_cast<std::size_t>(s.batch * s.m * s.n), before);
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> scratch(gemm.scratch_bytes() / sizeof(Line) + 1);
  gemm.run(a.data(), b.data(), c.data(), scratch.front().bytes, parallel);
  return c;
}

template <class L, class T>
void check_all(DType operand, DType result, T before) {
  const auto serial = make_serial_parallel();
  for (const Size& size : kSizes) {
    for (int layout = 0; layout < 4; ++layout) {
      SCOPED_TRACE(std::to_string(size.m) + " x " + std::to_string(size.n) + " x " +
                   std::to_string(size.k) + ", layout " + std::to_string(layout));
      const MatmulSpec spec = spec_of(size, layout % 2 != 0, layout / 2 != 0);
      const auto a = numbers<L>(size.batch * size.m * size.k, 1),
                 b = numbers<L>(size.batch * size.n * size.k, 5);
      const Gemm gemm(spec, operand, operand, result);
      ASSERT_EQ(product(gemm, spec, a, b, *serial, before), (by_hand<L, T>(spec, a, b)));
    }
  }
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The result holds NaN before: it is written, never read.
TEST(GemmTest, DoublesAreTheSumsByHand) {
  check_all<double, double>(DType::kF64, DType::kF64, kNaN);
}
TEST(GemmTest, FloatsAreTheSumsByHand) {
  check_all<float, float>(DType::kF32, DType::kF32, static_cast<float>(kNaN));
}
TEST(GemmTest, FloatsWithADoubleResultAreTheSumsByHand) {
  check_all<float, double>(DType::kF32, DType::kF64, kNaN);
}
TEST(GemmTest, ComplexNumbersAreTheSumsByHand) {
  check_all<std::complex<float>, std::complex<float>>(DType::kC64, DType::kC64,
                                                      static_cast<float>(kNaN));
  check_all<std::complex<double>, std::complex<double>>(DType::kC128, DType::kC128, kNaN);
}
TEST(GemmTest, IntegersWrapAsTheSumsByHand) {
  check_all<std::int8_t, std::int32_t>(DType::kI8, DType::kI32, 77);
  check_all<std::int8_t, std::int8_t>(DType::kI8, DType::kI8, 77);
  check_all<std::uint16_t, std::uint16_t>(DType::kU16, DType::kU16, 77);
  check_all<std::int32_t, std::int32_t>(DType::kI32, DType::kI32, 77);
  check_all<std::int64_t, std::int64_t>(DType::kI64, DType::kI64, 77);
  check_all<std::int16_t, std::int64_t>(DType::kI16, DType::kI64, 77);
}

// Blocks of integers of 8 bits are summed in f32: their largest sums must be exact there.
template <class L, class T>
void check_extremes(DType operand, DType result, L x, L y) {
  const auto serial = make_serial_parallel();
  const Size size{.batch = 1, .m = 5, .n = 19, .k = 1000};
  const MatmulSpec spec = spec_of(size, false, false);
  const Gemm gemm(spec, operand, operand, result);
  std::vector<L> a(static_cast<std::size_t>(size.m * size.k), x);
  const std::vector<L> b(static_cast<std::size_t>(size.n * size.k), y);
  EXPECT_EQ(product(gemm, spec, a, b, *serial, T{77}), (by_hand<L, T>(spec, a, b)));
  for (std::size_t i = 0; i < a.size(); i += 3) --a[i];
  EXPECT_EQ(product(gemm, spec, a, b, *serial, T{77}), (by_hand<L, T>(spec, a, b)));
}
TEST(GemmTest, LargestSumsOfSmallIntegersAreExact) {
  check_extremes<std::uint8_t, std::uint32_t>(DType::kU8, DType::kU32, 255, 255);
  check_extremes<std::uint8_t, std::uint64_t>(DType::kU8, DType::kU64, 255, 255);
  check_extremes<std::uint8_t, std::uint8_t>(DType::kU8, DType::kU8, 255, 255);
  check_extremes<std::int8_t, std::int32_t>(DType::kI8, DType::kI32, -127, -128);
  check_extremes<std::int8_t, std::int64_t>(DType::kI8, DType::kI64, -127, 127);
}

TEST(GemmTest, OtherTypesAreRefused) {
  EXPECT_FALSE(can_gemm(DType::kF8E5M2, DType::kF8E5M2, DType::kI32));
  EXPECT_FALSE(can_gemm(DType::kF32, DType::kF32, DType::kI32));
  EXPECT_FALSE(can_gemm(DType::kC128, DType::kC128, DType::kF64));
  EXPECT_FALSE(can_gemm(DType::kF64, DType::kF64, DType::kF32));
  EXPECT_FALSE(can_gemm(DType::kI64, DType::kI32, DType::kI32));
  EXPECT_FALSE(can_gemm(DType::kI1, DType::kI1, DType::kI1));
  EXPECT_FALSE(can_gemm(DType::kC128, DType::kC64, DType::kC128));
}

// Numbers whose sums are rounded at every term.
template <class T>
std::vector<T> fractions(std::int64_t n, double step) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < n; ++i)
    values.push_back(static_cast<T>(std::sin(step * static_cast<double>(i + 1))));
  return values;
}

TEST(GemmTest, AnyNumberOfThreadsGivesTheSameBits) {
  const auto executor = make_executor(ExecutorBackend::kThreads, 3, "gemm");
  const auto serial = make_serial_parallel(), several = make_parallel_on(*executor, 4);
  for (const Size& size : {Size{1, 203, 449, 513}, Size{40, 33, 41, 54}, Size{1, 3, 2000, 600},
                           Size{1, 900, 1, 1200}, Size{3, 1, 1000, 1200}}) {
    const MatmulSpec spec = spec_of(size, false, false);
    const auto a = fractions<double>(size.batch * size.m * size.k, 0.7),
               b = fractions<double>(size.batch * size.n * size.k, 1.3);
    const Gemm gemm(spec, DType::kF64, DType::kF64, DType::kF64);
    const auto alone = product(gemm, spec, a, b, *serial, 0.0);
    EXPECT_EQ(product(gemm, spec, a, b, *several, 0.0), alone);
    // As good as sums in order are.
    const auto sums = by_hand<double, double>(spec, a, b);
    for (std::size_t i = 0; i < sums.size(); ++i)
      ASSERT_NEAR(alone[i], sums[i], 1e-13 * static_cast<double>(size.k)) << i;
  }
}

TEST(GemmTest, ZeroTimesInfinityIsNaNAndSpoilsOnlyItsRow) {
  const Size size{1, 20, 30, 40};
  const MatmulSpec spec = spec_of(size, false, false);
  std::vector<double> a(800, 0.0);
  std::vector<double> b(1200, 1.0);
  b[5 * 30 + 7] = kInfinity;  // term 5 of column 7
  a[3 * 40 + 5] = 2;          // term 5 of row 3
  const auto serial = make_serial_parallel();
  const Gemm gemm(spec, DType::kF64, DType::kF64, DType::kF64);
  const auto c = product(gemm, spec, a, b, *serial, 0.0);
  for (std::int64_t i = 0; i < 20; ++i) {
    for (std::int64_t j = 0; j < 30; ++j) {
      const double x = c[static_cast<std::size_t>(i * 30 + j)];
      if (j != 7)
        EXPECT_EQ(x, i == 3 ? 2 : 0);
      else if (i == 3)
        EXPECT_EQ(x, kInfinity);
      else
        EXPECT_TRUE(std::isnan(x)) << i;
    }
  }
}

// A sum of numbers that vanish is the same zero whatever the vectors of the processor.
TEST(GemmTest, ASumThatVanishesIsPlusZeroWhereTermsAreFilledUp) {
  const Size size{1, 1, 1, 40};
  const MatmulSpec spec = spec_of(size, false, false);
  const std::vector<float> a(40, 1e-30F), b(40, -1e-30F);
  const auto serial = make_serial_parallel();
  const Gemm gemm(spec, DType::kF32, DType::kF32, DType::kF32);
  const auto c = product(gemm, spec, a, b, *serial, 1.0F);
  EXPECT_EQ(c[0], 0);
  EXPECT_FALSE(std::signbit(c[0]));
}

TEST(GemmTest, AProgramMultipliesABatchOfSmallMatricesOfFloats) {
  TestProgram program(R"(
func.func @main(%a: tensor<3x2x200x2xf32>, %b: tensor<2x4x200x3xf32>) -> tensor<200x2x4xf32> {
  %r = stablehlo.dot_general %a, %b, batching_dims = [2] x [2], contracting_dims = [0, 1] x [3, 0]
    : (tensor<3x2x200x2xf32>, tensor<2x4x200x3xf32>) -> tensor<200x2x4xf32>
  return %r : tensor<200x2x4xf32>
})");
  EXPECT_EQ(program.step_names(), std::vector<std::string>{"stablehlo.dot_general as gemm"});
  const auto a = numbers<float>(3 * 2 * 200 * 2, 1), b = numbers<float>(2 * 4 * 200 * 3, 2);
  std::vector<float> sums;
  for (std::size_t batch = 0; batch < 200; ++batch) {
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        float sum = 0;
        for (std::size_t p = 0; p < 3; ++p) {
          for (std::size_t q = 0; q < 2; ++q)
            sum += a[((p * 2 + q) * 200 + batch) * 2 + i] * b[((q * 4 + j) * 200 + batch) * 3 + p];
        }
        sums.push_back(sum);
      }
    }
  }
  EXPECT_EQ(program.run({bytes_of(a), bytes_of(b)})[0], bytes_of(sums));
}

// So small that a call of oneDNN takes longer.
TEST(GemmTest, AProgramMultipliesSmallMatricesAndVectorsOfFloats) {
  TestProgram program(R"(
func.func @main(%a: tensor<5x40xf32>, %x: tensor<40xf32>) -> (tensor<5xf32>, tensor<5x5xf32>) {
  %y = stablehlo.dot %a, %x : (tensor<5x40xf32>, tensor<40xf32>) -> tensor<5xf32>
  %s = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1]
    : (tensor<5x40xf32>, tensor<5x40xf32>) -> tensor<5x5xf32>
  return %y, %s : tensor<5xf32>, tensor<5x5xf32>
})");
  EXPECT_EQ(program.step_names(),
            (std::vector<std::string>{"stablehlo.dot as gemm", "stablehlo.dot_general as gemm"}));
  const auto a = numbers<float>(200, 1), x = numbers<float>(40, 2);
  std::vector<float> y, squares;
  for (std::size_t i = 0; i < 5; ++i) {
    y.push_back(0);
    for (std::size_t k = 0; k < 40; ++k) y.back() += a[i * 40 + k] * x[k];
    for (std::size_t j = 0; j < 5; ++j) {
      squares.push_back(0);
      for (std::size_t k = 0; k < 40; ++k) squares.back() += a[i * 40 + k] * a[j * 40 + k];
    }
  }
  const auto made = program.run({bytes_of(a), bytes_of(x)});
  EXPECT_EQ(made[0], bytes_of(y));
  EXPECT_EQ(made[1], bytes_of(squares));
}

// Through a program: dimensions that are no matrix are copied first.
TEST(GemmTest, AProgramContractsSeveralDimensionsOfBatches) {
  TestProgram program(R"(
func.func @main(%a: tensor<6x3x8x5xf64>, %b: tensor<8x7x6x3xf64>) -> tensor<3x5x7xf64> {
  %r = stablehlo.dot_general %a, %b, batching_dims = [1] x [3], contracting_dims = [0, 2] x [2, 0]
    : (tensor<6x3x8x5xf64>, tensor<8x7x6x3xf64>) -> tensor<3x5x7xf64>
  return %r : tensor<3x5x7xf64>
})");
  const auto a = numbers<double>(6 * 3 * 8 * 5, 1), b = numbers<double>(8 * 7 * 6 * 3, 2);
  std::vector<double> sums;
  for (std::size_t batch = 0; batch < 3; ++batch) {
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t j = 0; j < 7; ++j) {
        double sum = 0;
        for (std::size_t p = 0; p < 6; ++p) {
          for (std::size_t q = 0; q < 8; ++q)
            sum += a[((p * 3 + batch) * 8 + q) * 5 + i] * b[((q * 7 + j) * 6 + p) * 3 + batch];
        }
        sums.push_back(sum);
      }
    }
  }
  EXPECT_EQ(program.run({bytes_of(a), bytes_of(b)})[0], bytes_of(sums));
}

TEST(GemmTest, AProgramMultipliesComplexMatrices) {
  TestProgram program(R"(
func.func @main(%a: tensor<20x30xcomplex<f64>>, %b: tensor<30x25xcomplex<f64>>)
    -> tensor<20x25xcomplex<f64>> {
  %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<20x30xcomplex<f64>>, tensor<30x25xcomplex<f64>>) -> tensor<20x25xcomplex<f64>>
  return %r : tensor<20x25xcomplex<f64>>
})");
  using Z = std::complex<double>;
  const auto a = numbers<Z>(600, 1), b = numbers<Z>(750, 2);
  const MatmulSpec spec = spec_of({1, 20, 25, 30}, false, false);
  EXPECT_EQ(program.run({bytes_of(a), bytes_of(b)})[0], bytes_of(by_hand<Z, Z>(spec, a, b)));
}

}  // namespace
}  // namespace millrace::devices::cpu::testing
