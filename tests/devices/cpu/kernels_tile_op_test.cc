#include "millrace/devices/cpu/kernels/functions/tile_op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "millrace/devices/cpu/kernels/base/element.h"

namespace millrace::devices::cpu {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr std::int32_t kMin32 = std::numeric_limits<std::int32_t>::min();

template <class Out, class In>
std::vector<Out> apply(TileOp op, DType in, DType out, std::vector<std::vector<In>> operands,
                       std::uint32_t param = 0) {
  const TileLoop loop = find_tile_loop(op, in, out);
  if (loop == nullptr) throw std::runtime_error("no loop");
  std::vector<Out> result(operands[0].size());
  const void* ins[3] = {operands[0].data(), operands[operands.size() > 1 ? 1 : 0].data(),
                        operands.back().data()};
  loop(result.data(), ins, static_cast<int>(result.size()), param);
  return result;
}
std::vector<float> f32(TileOp op, std::vector<std::vector<float>> operands) {
  return apply<float, float>(op, DType::kF32, DType::kF32, std::move(operands));
}
std::vector<std::int32_t> i32(TileOp op, std::vector<std::vector<std::int32_t>> operands) {
  return apply<std::int32_t, std::int32_t>(op, DType::kI32, DType::kI32, std::move(operands));
}

TEST(TileOpTest, MaximumAndMinimumPropagateNanFromEitherSide) {
  for (const TileOp op : {TileOp::kMaximum, TileOp::kMinimum}) {
    for (float x : f32(op, {{kNan, 1, kNan, kInf}, {1, kNan, kNan, kNan}}))
      EXPECT_TRUE(std::isnan(x));
  }
  EXPECT_EQ(f32(TileOp::kMaximum, {{-1, 2}, {1, -kInf}}), (std::vector<float>{1, 2}));
}

TEST(TileOpTest, PositiveZeroIsAboveNegativeZero) {
  const std::vector<std::vector<float>> zeros = {{0.0f, -0.0f, -0.0f, 0.0f},
                                                 {-0.0f, 0.0f, -0.0f, 0.0f}};
  const auto larger = f32(TileOp::kMaximum, zeros), smaller = f32(TileOp::kMinimum, zeros);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(std::signbit(larger[i]), i == 2) << i;
    EXPECT_EQ(std::signbit(smaller[i]), i != 3) << i;
  }
}

TEST(TileOpTest, SignOfZeroAndNanIsKept) {
  const auto s = f32(TileOp::kSign, {{-0.0f, 0.0f, -3, 4, kNan, -kInf}});
  EXPECT_TRUE(std::signbit(s[0]) && s[0] == 0);
  EXPECT_FALSE(std::signbit(s[1]));
  EXPECT_EQ(s[2], -1);
  EXPECT_EQ(s[3], 1);
  EXPECT_TRUE(std::isnan(s[4]));
  EXPECT_EQ(s[5], -1);
}

TEST(TileOpTest, IntegerDivisionByZeroAndOverflowAreDefined) {
  EXPECT_EQ(i32(TileOp::kDivide, {{7, kMin32, -7, 0}, {0, -1, 2, 0}}),
            (std::vector<std::int32_t>{-1, kMin32, -3, -1}));
  EXPECT_EQ(i32(TileOp::kRemainder, {{7, kMin32, -7, 0}, {0, -1, 2, 0}}),
            (std::vector<std::int32_t>{7, 0, -1, 0}));
  const auto u = apply<std::uint32_t, std::uint32_t>(TileOp::kDivide, DType::kU32, DType::kU32,
                                                     {{7, 9}, {0, 2}});
  EXPECT_EQ(u, (std::vector<std::uint32_t>{0xffffffffu, 4}));
}

template <class T>
void check_divisions(DType type) {
  constexpr T kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
  std::vector<T> edges = {0,
                          1,
                          2,
                          3,
                          kLeast,
                          kMost,
                          static_cast<T>(kLeast + 1),
                          static_cast<T>(-1),
                          static_cast<T>(kMost - 1),
                          static_cast<T>(kMost / 2)};
  std::mt19937_64 random(5);
  for (int i = 0; i < 300; ++i) edges.push_back(static_cast<T>(random() >> (random() % 64)));
  std::vector<T> a, b;
  for (T x : edges) {
    for (T y : edges) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const auto quotients = apply<T, T>(TileOp::kDivide, type, type, {a, b}),
             rests = apply<T, T>(TileOp::kRemainder, type, type, {a, b});
  for (std::size_t i = 0; i < a.size(); ++i) {
    // In 64 bits, which hold each quotient but that of the least number of as many.
    const bool overflows = std::is_signed_v<T> && b[i] == static_cast<T>(-1);
    const T q = b[i] == 0   ? static_cast<T>(-1)
                : overflows ? static_cast<T>(0 - static_cast<std::uint64_t>(a[i]))
                            : static_cast<T>(a[i] / b[i]);
    const T r = b[i] == 0 ? a[i] : overflows ? T(0) : static_cast<T>(a[i] % b[i]);
    ASSERT_EQ(quotients[i], q) << +a[i] << " / " << +b[i];
    ASSERT_EQ(rests[i], r) << +a[i] << " % " << +b[i];
  }
}

TEST(TileOpTest, IntegerDivisionIsExact) {
  check_divisions<std::int8_t>(DType::kI8);
  check_divisions<std::uint8_t>(DType::kU8);
  check_divisions<std::int16_t>(DType::kI16);
  check_divisions<std::uint16_t>(DType::kU16);
  check_divisions<std::int32_t>(DType::kI32);
  check_divisions<std::uint32_t>(DType::kU32);
  check_divisions<std::int64_t>(DType::kI64);
  check_divisions<std::uint64_t>(DType::kU64);
}

TEST(TileOpTest, IntegersWrapWithoutUndefinedBehaviour) {
  EXPECT_EQ(i32(TileOp::kAdd, {{2147483647}, {1}}), (std::vector<std::int32_t>{kMin32}));
  EXPECT_EQ(i32(TileOp::kMultiply, {{65536, -1}, {65536, kMin32}}),
            (std::vector<std::int32_t>{0, kMin32}));
  EXPECT_EQ(i32(TileOp::kNegate, {{kMin32}}), (std::vector<std::int32_t>{kMin32}));
  const auto b =
      apply<std::uint8_t, std::uint8_t>(TileOp::kMultiply, DType::kU8, DType::kU8, {{255}, {255}});
  EXPECT_EQ(b[0], 1);
}

TEST(TileOpTest, ShiftsByTheWidthOrMoreGiveZeroOrTheSign) {
  EXPECT_EQ(i32(TileOp::kShiftLeft, {{1, 1, 1}, {31, 32, -1}}),
            (std::vector<std::int32_t>{kMin32, 0, 0}));
  EXPECT_EQ(i32(TileOp::kShiftRightLogical, {{-1, -1}, {28, 32}}),
            (std::vector<std::int32_t>{15, 0}));
  EXPECT_EQ(i32(TileOp::kShiftRightArithmetic, {{-8, -8, 8}, {2, 99, 99}}),
            (std::vector<std::int32_t>{-2, -1, 0}));
}

TEST(TileOpTest, IntegerPowerOfNegativeExponentIsZeroButForOnes) {
  EXPECT_EQ(i32(TileOp::kPower, {{2, 1, -1, -1, 3, 0}, {-1, -5, -2, -3, 4, 0}}),
            (std::vector<std::int32_t>{0, 1, 1, -1, 81, 1}));
}

// Compares all bases and exponents of eight bits with repeated multiplication.
TEST(TileOpTest, IntegerPowerIsTheProduct) {
  std::vector<std::int8_t> a, b, want;
  for (int base = -128; base < 128; ++base) {
    std::uint8_t product = 1;
    for (int exponent = 0; exponent < 128; ++exponent) {
      a.push_back(static_cast<std::int8_t>(base));
      b.push_back(static_cast<std::int8_t>(exponent));
      want.push_back(static_cast<std::int8_t>(product));
      product = static_cast<std::uint8_t>(product * base);
    }
  }
  const TileLoop loop = find_tile_loop(TileOp::kPower, DType::kI8, DType::kI8);
  std::vector<std::int8_t> got(a.size());
  for (std::size_t i = 0; i < a.size(); i += kTileElements) {
    const void* const in[] = {a.data() + i, b.data() + i};
    loop(got.data() + i, in, kTileElements, 0);
  }
  EXPECT_EQ(got, want);
}

TEST(TileOpTest, ConvertSaturatesAndTurnsNanIntoZero) {
  const auto c = apply<std::int32_t, float>(TileOp::kConvert, DType::kF32, DType::kI32,
                                            {{kNan, kInf, -kInf, 3e9f, -1.9f, 2.5f}});
  EXPECT_EQ(c, (std::vector<std::int32_t>{0, 2147483647, kMin32, 2147483647, -1, 2}));
  const auto u =
      apply<std::uint8_t, float>(TileOp::kConvert, DType::kF32, DType::kU8, {{-1, 256, 255, kNan}});
  EXPECT_EQ(u, (std::vector<std::uint8_t>{0, 255, 255, 0}));
  const auto b = apply<std::uint8_t, float>(TileOp::kConvert, DType::kF32, DType::kI1,
                                            {{0, -0.0f, kNan, 0.1f}});
  EXPECT_EQ(b, (std::vector<std::uint8_t>{0, 0, 1, 1}));
}

TEST(TileOpTest, ComparisonWithNanIsFalseButNotEqual) {
  for (const TileOp op : {TileOp::kEq, TileOp::kGe, TileOp::kGt, TileOp::kLe, TileOp::kLt}) {
    EXPECT_EQ((apply<std::uint8_t, float>(op, DType::kF32, DType::kI1, {{kNan, 1}, {kNan, kNan}})),
              (std::vector<std::uint8_t>{0, 0}));
  }
  EXPECT_EQ((apply<std::uint8_t, float>(TileOp::kNe, DType::kF32, DType::kI1, {{kNan}, {kNan}}))[0],
            1);
}

TEST(TileOpTest, TotalOrderPutsNegativeZeroFirstAndNanLast) {
  const auto lt =
      apply<std::uint8_t, float>(TileOp::kTotalLt, DType::kF32, DType::kI1,
                                 {{-0.0f, kInf, -kNan, 0.0f}, {0.0f, kNan, -kInf, -0.0f}});
  EXPECT_EQ(lt, (std::vector<std::uint8_t>{1, 1, 1, 0}));
}

TEST(TileOpTest, ClampKeepsNanAndTheUpperBoundWins) {
  const auto c = f32(TileOp::kClamp, {{0, 0, 0, 5}, {-1, 2, kNan, 3}, {1, 1, 1, 4}});
  EXPECT_EQ(c[0], 0);
  EXPECT_EQ(c[1], 1);
  EXPECT_TRUE(std::isnan(c[2]));
  EXPECT_EQ(c[3], 4);
}

TEST(TileOpTest, HalfPrecisionRoundsToNearestEven) {
  EXPECT_EQ(Half(65520.0f).bits, 0x7c00);  // halfway to 2^16: infinity
  EXPECT_EQ(Half(65519.0f).bits, 0x7bff);
  EXPECT_EQ(Half(5.9604645e-8f).bits, 1);                    // the smallest denormal
  EXPECT_EQ(Half(2.9802322e-8f).bits, 0);                    // half of it: to even
  EXPECT_EQ(BFloat16(1.00390625f).bits, 0x3f80);             // 1 + 2^-8: to even
  EXPECT_EQ(BFloat16(1.0 + 0x1p-8 + 0x1p-40).bits, 0x3f81);  // no double rounding by way of f32
}

TEST(TileOpTest, EveryHalfSurvivesAWayThroughFloat) {
  for (std::uint32_t i = 0; i < 65536; ++i) {
    Half h;
    h.bits = static_cast<std::uint16_t>(i);
    const float f = h;
    if (f == f) {
      EXPECT_EQ(Half(f).bits, h.bits);
    }
  }
}

// By tiles of an odd size, so that every loop ends with a few elements on their own.
template <class Out, class In>
std::vector<Out> by_tiles(TileOp op, DType in, DType out, const std::vector<In>& operand) {
  constexpr std::size_t kTile = 509;
  std::vector<Out> all;
  for (std::size_t at = 0; at < operand.size(); at += kTile) {
    const std::vector<In> tile(
        operand.begin() + static_cast<std::ptrdiff_t>(at),
        operand.begin() + static_cast<std::ptrdiff_t>(std::min(at + kTile, operand.size())));
    const auto some = apply<Out, In>(op, in, out, {tile});
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::vector<std::uint16_t> all_bits() {
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  return bits;
}

template <class T>
void check_conversions(DType type) {
  const auto bits = all_bits();
  const auto wide = by_tiles<float>(TileOp::kConvert, type, DType::kF32, bits);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    T x;
    x.bits = bits[i];
    const float want = x;
    if (want != want) {
      EXPECT_TRUE(std::isnan(wide[i])) << i;
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(wide[i]), std::bit_cast<std::uint32_t>(want)) << i;
    }
  }
  std::vector<float> floats = {0,       -0.0f,    kInf,  -kInf,           kNan,    -kNan,
                               65519.f, 65520.0f, 1e-8f, 2.9802322e-8f,   6.1e-5f, 3.4e38f,
                               1e-45f,  -1e-40f,  2048,  1.0f + 0x1p-11f, 2049,    2051};
  std::mt19937 random(11);
  for (int i = 0; i < 200000; ++i) {
    floats.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    floats.push_back(
        std::ldexp(static_cast<float>(random() % 8192), static_cast<int>(i % 40) - 36));
  }
  const auto narrow = by_tiles<std::uint16_t>(TileOp::kConvert, DType::kF32, type, floats);
  for (std::size_t i = 0; i < floats.size(); ++i)
    EXPECT_EQ(narrow[i], T(floats[i]).bits) << floats[i];
}

TEST(TileOpTest, SmallFloatsAreConvertedAsTheirTypesDo) {
  check_conversions<Half>(DType::kF16);
  check_conversions<BFloat16>(DType::kBF16);
}

template <class T>
void check_arithmetic(DType type) {
  const auto bits = all_bits();
  const auto of = [](std::uint16_t b) {
    T x;
    x.bits = b;
    return static_cast<float>(x);
  };
  // The operand is both sides: x + x, x * x.
  const auto sums = by_tiles<std::uint16_t>(TileOp::kAdd, type, type, bits),
             products = by_tiles<std::uint16_t>(TileOp::kMultiply, type, type, bits),
             roots = by_tiles<std::uint16_t>(TileOp::kSqrt, type, type, bits);
  const auto equal = by_tiles<std::uint8_t>(TileOp::kEq, type, DType::kI1, bits);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const float x = of(bits[i]);
    EXPECT_EQ(equal[i], x == x ? 1 : 0) << i;
    const float wants[] = {x + x, x * x, std::sqrt(x)};
    const std::uint16_t got[] = {sums[i], products[i], roots[i]};
    for (int k = 0; k < 3; ++k) {
      if (wants[k] != wants[k]) {
        EXPECT_TRUE(std::isnan(of(got[k]))) << i;
      } else {
        EXPECT_EQ(got[k], T(wants[k]).bits) << i;
      }
    }
  }
}

TEST(TileOpTest, SmallFloatsAreComputedInFloatAndRoundedOnce) {
  check_arithmetic<Half>(DType::kF16);
  check_arithmetic<BFloat16>(DType::kBF16);
}

// Units in the last place of the float nearest to `exact`.
double ulps(float got, double exact) {
  const auto nearest = static_cast<float>(exact);
  if (std::isnan(nearest)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(nearest) || std::isinf(got)) return got == nearest ? 0 : INFINITY;
  const double unit =
      std::max<double>(std::nextafter(std::fabs(nearest), kInf) - std::fabs(nearest), 0x1p-149);
  return std::fabs(static_cast<double>(got) - exact) / unit;
}

struct MathCase {
  TileOp op;
  double (*exact)(double);
  double bound;
};

class MathTest : public ::testing::TestWithParam<MathCase> {};

TEST_P(MathTest, FloatIsWithinItsBoundEverywhere) {
  std::vector<float> x = {0,      -0.0f,  1,       -1,      kInf,   -kInf,  kNan,   88.72f,
                          88.73f, -87.3f, -103.9f, -104.1f, 1e-45f, 1e-38f, 3.4e38f};
  std::mt19937 random(7);
  for (int i = 0; i < 400000; ++i) {
    const float f = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    x.push_back(f);
    x.push_back(std::fmod(f, 20.0f));
  }
  const auto y = f32(GetParam().op, {x});
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = ulps(y[i], GetParam().exact(static_cast<double>(x[i])));
    worst = std::max(worst, u);
    ASSERT_LE(u, GetParam().bound) << to_string(GetParam().op) << "(" << x[i] << ") = " << y[i];
  }
  RecordProperty("worst_ulps", std::to_string(worst));
}

TEST(TileOpTest, TanhOfDoublesIsWithinTwoUlpAndKeepsTheSignOfZero) {
  std::vector<double> x = {0.0, -0.0, 0.625, -0.625, 22, -22, 1e308, -1e308, 5e-324, INFINITY};
  std::mt19937_64 random(11);
  for (int i = 0; i < 200000; ++i) {
    const auto d = std::bit_cast<double>(random());
    x.push_back(d);
    x.push_back(std::fmod(d, 25.0));
    x.push_back(std::ldexp(static_cast<double>(random() >> 11), -52));
  }
  std::vector<double> y(x.size());
  const TileLoop loop = find_tile_loop(TileOp::kTanh, DType::kF64, DType::kF64);
  for (std::size_t i = 0; i < x.size(); i += 500) {
    const void* const in[] = {x.data() + i};
    loop(y.data() + i, in, static_cast<int>(std::min<std::size_t>(500, x.size() - i)), 0);
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) {
      ASSERT_TRUE(std::isnan(y[i]));
      continue;
    }
    const long double exact = std::tanh(static_cast<long double>(x[i]));
    const auto near = static_cast<double>(std::fabs(exact));
    const double unit = std::nextafter(near, INFINITY) - near;
    ASSERT_LE(std::fabs(static_cast<double>(static_cast<long double>(y[i]) - exact)), 2 * unit)
        << x[i];
    ASSERT_EQ(std::signbit(y[i]), std::signbit(x[i])) << x[i];
  }
  EXPECT_EQ(std::signbit(f32(TileOp::kTanh, {{-0.0F}})[0]), true);
}

TEST(TileOpTest, PowerOfFloatsIsRoundedOnceAndHasLibmsSpecialCases) {
  const std::vector<float> edges = {0,       -0.0f, 1,     -1,   2,      -2,      0.5f,  3,
                                    -3,      kInf,  -kInf, kNan, 1e-45f, 1e-38f,  3e38f, 2.5f,
                                    -1e-45f, 1e30f, 127,   -149, 0.99f,  1.0001f, 65536};
  std::vector<float> x, y;
  for (float a : edges) {
    for (float b : edges) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  std::mt19937 random(9);
  for (int i = 0; i < 200000; ++i) {
    x.push_back(std::fabs(std::bit_cast<float>(static_cast<std::uint32_t>(random()))));
    y.push_back(std::fmod(std::bit_cast<float>(static_cast<std::uint32_t>(random())), 40.0f));
  }
  for (std::size_t i = 0; i < x.size(); i += 500) {
    const std::size_t n = std::min<std::size_t>(500, x.size() - i);
    const auto at = static_cast<std::ptrdiff_t>(i), end = static_cast<std::ptrdiff_t>(i + n);
    const auto z =
        f32(TileOp::kPower, {{x.begin() + at, x.begin() + end}, {y.begin() + at, y.begin() + end}});
    for (std::size_t j = 0; j < n; ++j) {
      const double exact = std::pow(static_cast<double>(x[i + j]), static_cast<double>(y[i + j]));
      ASSERT_LE(ulps(z[j], exact), 0.51) << x[i + j] << " ** " << y[i + j] << " = " << z[j];
      ASSERT_TRUE(exact != 0 || std::signbit(z[j]) == std::signbit(exact)) << x[i + j];
    }
  }
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double rsqrt(double x) { return 1 / std::sqrt(x); }

INSTANTIATE_TEST_SUITE_P(All, MathTest,
                         ::testing::Values(MathCase{TileOp::kExponential, std::exp, 2.0},
                                           MathCase{TileOp::kLog, std::log, 2.0},
                                           MathCase{TileOp::kTanh, std::tanh, 2.0},
                                           MathCase{TileOp::kExponentialMinusOne, std::expm1, 0.51},
                                           MathCase{TileOp::kLogPlusOne, std::log1p, 0.51},
                                           MathCase{TileOp::kLogistic, logistic, 3.0},
                                           MathCase{TileOp::kChloErf, std::erf, 2.0},
                                           MathCase{TileOp::kChloErfc, std::erfc, 0.6},
                                           MathCase{TileOp::kSine, std::sin, 0.51},
                                           MathCase{TileOp::kCosine, std::cos, 0.51},
                                           MathCase{TileOp::kTan, std::tan, 0.51},
                                           MathCase{TileOp::kSqrt, std::sqrt, 0.5001},
                                           MathCase{TileOp::kRsqrt, rsqrt, 0.5001}),
                         [](const auto& info) { return std::string(to_string(info.param.op)); });

}  // namespace
}  // namespace millrace::devices::cpu
