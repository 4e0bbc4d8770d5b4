// Each loop over complex numbers beside the function of single elements that it stands for, over
// all pairs of the numbers that matter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "millrace/devices/cpu/kernels/functions/scalar_op.h"
#include "millrace/devices/cpu/kernels/functions/tile_op.h"

namespace millrace::devices::cpu::definition {
namespace {

using ir::OpKind;

template <class T>
std::vector<T> numbers() {
  using L = std::numeric_limits<T>;
  const T third = T(1) / 3;
  return {
      T(0),          -T(0),          T(1),           -third,   L::max(),        L::lowest(),
      L::infinity(), -L::infinity(), L::quiet_NaN(), L::min(), L::denorm_min(), -L::denorm_min(),
      L::max() / 3,  T(1e-20),       T(3),           T(-4)};
}

// Elements of `in`, as bytes: pairs of all numbers; the second operand goes through them otherwise.
template <class T>
std::vector<T> operand(DType in, bool second) {
  const std::vector<T> all = numbers<T>();
  std::vector<T> parts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      parts.push_back(all[second ? (5 * i + 3 * j + 1) % all.size() : i]);
      if (is_complex(in)) parts.push_back(all[second ? (7 * j + i) % all.size() : j]);
    }
  }
  return parts;
}

struct Case {
  TileOp op;
  OpKind kind;
  DType in, out;
};
constexpr DType kC64 = DType::kC64, kC128 = DType::kC128, kF32 = DType::kF32, kF64 = DType::kF64;

// What the loop makes of all operands, and what the function does.
struct Made {
  std::vector<std::byte> loops, functions;
  std::size_t elements;
};
template <class T>
Made make(const Case& c) {
  const TileLoop loop = find_tile_loop(c.op, c.in, c.out);
  if (loop == nullptr) throw std::runtime_error("no loop");
  const std::vector<T> a = operand<T>(c.in, false), b = operand<T>(c.in, true);
  const std::size_t n = a.size() / (is_complex(c.in) ? 2 : 1), width = byte_width(c.out);
  Made made{std::vector<std::byte>(n * width), std::vector<std::byte>(n * width), n};
  const void* const ins[] = {a.data(), b.data()};
  loop(made.loops.data(), ins, static_cast<int>(n), 0);
  const bool wide = std::is_same_v<T, double>;
  const ScalarFunction function = c.kind == OpKind::kConvert
                                      ? convert_function(form_of(c.in), form_of(c.out))
                                  : is_complex(c.in) ? complex_function(c.kind, wide)
                                                     : real_function(c.kind, wide);
  const auto element = [&](const std::vector<T>& x, std::size_t i) {
    return load(c.in, reinterpret_cast<const std::byte*>(x.data()) + i * byte_width(c.in));
  };
  for (std::size_t i = 0; i < n; ++i) {
    const Scalar operands[2] = {element(a, i), element(b, i)};
    const ScalarInfo info{.in = c.in,
                          .out = c.out,
                          .direction = c.op == TileOp::kNe ? ir::ComparisonDirection::kNe
                                                           : ir::ComparisonDirection::kEq};
    store(c.out, function(operands, info), made.functions.data() + i * width);
  }
  return made;
}

template <class T>
void expect_same_bits(const Case& c) {
  SCOPED_TRACE(std::string(to_string(c.op)) + " of " + std::string(to_string(c.in)));
  const Made made = make<T>(c);
  const std::size_t width = byte_width(c.out);
  for (std::size_t i = 0; i < made.elements; ++i) {
    ASSERT_EQ(std::memcmp(made.loops.data() + i * width, made.functions.data() + i * width, width),
              0)
        << "element " << i;
  }
}

// `other`: complex numbers of the other width.
template <class T>
void expect_the_functions(DType whole, DType part, DType other) {
  for (const Case& c : {Case{TileOp::kAdd, OpKind::kAdd, whole, whole},
                        Case{TileOp::kSubtract, OpKind::kSubtract, whole, whole},
                        Case{TileOp::kNegate, OpKind::kNegate, whole, whole},
                        Case{TileOp::kChloConj, OpKind::kChloConj, whole, whole},
                        Case{TileOp::kReal, OpKind::kReal, whole, part},
                        Case{TileOp::kImag, OpKind::kImag, whole, part},
                        Case{TileOp::kEq, OpKind::kCompare, whole, DType::kI1},
                        Case{TileOp::kNe, OpKind::kCompare, whole, DType::kI1},
                        Case{TileOp::kConvert, OpKind::kConvert, whole, other},
                        Case{TileOp::kComplex, OpKind::kComplex, part, whole},
                        Case{TileOp::kConvert, OpKind::kConvert, part, whole}})
    expect_same_bits<T>(c);
}
TEST(ComplexLoopsTest, AreTheFunctionsOfSingleElements) {
  expect_the_functions<float>(kC64, kF32, kC128);
  expect_the_functions<double>(kC128, kF64, kC64);
  // Those of c128 are computed in long double.
  expect_same_bits<float>({TileOp::kMultiply, OpKind::kMultiply, kC64, kC64});
  expect_same_bits<float>({TileOp::kAbs, OpKind::kAbs, kC64, kF32});
}

// Within a rounding of the parts; what is no number or infinite is so in both.
TEST(ComplexLoopsTest, QuotientsOfEveryNumberAreThoseOfTheFunction) {
  const Made made = make<float>({TileOp::kDivide, OpKind::kDivide, kC64, kC64});
  std::vector<float> got(made.elements * 2), want = got;
  std::memcpy(got.data(), made.loops.data(), made.loops.size());
  std::memcpy(want.data(), made.functions.data(), made.functions.size());
  int infinite = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE("part " + std::to_string(i) + ": " + std::to_string(got[i]) + ", not " +
                 std::to_string(want[i]));
    infinite += std::isinf(want[i]) ? 1 : 0;
    if (std::isfinite(want[i]))
      EXPECT_LE(std::abs(got[i] - want[i]), 0x1p-23F * std::abs(want[i]) + 0x1p-149F);
    else
      EXPECT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])));
  }
  EXPECT_GT(infinite, 10);
}

// On every processor; and each loop may write over an operand.
TEST(ComplexLoopsTest, PartsOfAProductAreRoundedAsSumsOfRealProducts) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  constexpr std::size_t kParts = 2 * kTileElements;
  std::vector<double> x(kParts), y(kParts), made(kParts);
  for (double& part : x) part = normal(random);
  for (double& part : y) part = normal(random);
  const void* const ins[] = {x.data(), y.data()};
  find_tile_loop(TileOp::kMultiply, kC128, kC128)(made.data(), ins, kTileElements, 0);
  for (std::size_t i = 0; i < kParts; i += 2) {
    ASSERT_EQ(made[i], x[i] * y[i] - x[i + 1] * y[i + 1]);
    ASSERT_EQ(made[i + 1], x[i] * y[i + 1] + x[i + 1] * y[i]);
  }
}
TEST(ComplexLoopsTest, WriteOverAnOperandWhatTheyWriteElsewhere) {
  std::mt19937_64 random(6);
  std::normal_distribution<float> normal;
  std::vector<std::complex<float>> x(kTileElements), y(kTileElements), made(kTileElements);
  for (auto* const each : {&x, &y})
    for (std::complex<float>& z : *each) z = {normal(random), normal(random)};
  y[7] = 0;  // a quotient that is not finite
  for (const TileOp op : {TileOp::kAdd, TileOp::kMultiply, TileOp::kDivide, TileOp::kChloConj}) {
    SCOPED_TRACE(to_string(op));
    const TileLoop loop = find_tile_loop(op, kC64, kC64);
    const void* ins[] = {x.data(), y.data()};
    loop(made.data(), ins, kTileElements, 0);
    for (const std::size_t over : {0, 1}) {
      std::vector<std::complex<float>> left = x, right = y;
      const void* const both[] = {left.data(), right.data()};
      std::vector<std::complex<float>>& to = over == 0 ? left : right;
      if (over == 1 && op == TileOp::kChloConj) continue;  // it has one operand
      loop(to.data(), both, kTileElements, 0);
      for (std::size_t i = 0; i < to.size(); ++i) {
        if (i != 7) {
          ASSERT_EQ(to[i], made[i]) << i;
        }
      }
    }
  }
}

// Their definitions compute in long double.
TEST(ComplexLoopsTest, WiderNumbersAreRightToTheRoundingsOfDouble) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  const std::size_t n = 200;
  std::vector<std::complex<double>> x(n), y(n), made(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = {normal(random), normal(random)};
    y[i] = {normal(random), normal(random)};
  }
  x[0] = {3e200, 4e200};  // whose square overflows
  const void* const ins[] = {x.data(), y.data()};
  using Wide = std::complex<long double>;
  const auto apply = [&](TileOp op, DType out, void* to) {
    find_tile_loop(op, kC128, out)(to, ins, static_cast<int>(n), 0);
  };
  apply(TileOp::kDivide, kC128, made.data());
  for (std::size_t i = 0; i < n; ++i)
    EXPECT_LE(std::abs(Wide(made[i]) - Wide(x[i]) / Wide(y[i])), 8e-16L * std::abs(x[i] / y[i]));
  std::vector<double> sizes(n);
  apply(TileOp::kAbs, kF64, sizes.data());
  for (std::size_t i = 0; i < n; ++i)
    EXPECT_LE(std::abs(sizes[i] - std::abs(Wide(x[i]))), 3e-16L * std::abs(Wide(x[i])));
}

TEST(ComplexLoopsTest, AChoiceMovesBits) {
  const std::uint8_t which[] = {1, 0};
  const std::uint32_t a[] = {1, 0x7FC00001, 2, 3}, b[] = {4, 5, 0x80000000, 0xFFC00002};
  std::uint32_t made[4] = {};
  const void* const ins[] = {which, a, b};
  find_tile_loop(TileOp::kSelect, kC64, kC64)(made, ins, 2, 0);
  EXPECT_THAT(made, ::testing::ElementsAre(1, 0x7FC00001, 0x80000000, 0xFFC00002));
}

}  // namespace
}  // namespace millrace::devices::cpu::definition
