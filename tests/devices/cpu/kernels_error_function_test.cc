// Values are those of XLA's CPU client of JAX 0.10.2; where they are far from the mathematical ones
// (erfc(24.9) by 243 ULP) the argument of an exponential was rounded.
#include "millrace/devices/stablehlo/expand/error_function.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "millrace/devices/cpu/kernels/functions/tile_op.h"

namespace millrace::devices::cpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The distance of two numbers of the same sign.
template <class T, class Bits>
std::int64_t ulps(T a, T b) {
  return std::abs(std::int64_t{std::bit_cast<Bits>(a)} - std::int64_t{std::bit_cast<Bits>(b)});
}

TEST(ErrorFunctionTest, ErfcIsXlasToThreeUlps) {
  constexpr double kRows[][2] = {{0.25, 0.7236736098317631},     {0.75, 0.2888443663464849},
                                 {-0.5, 1.5204998778130465},     {1.25, 0.07709987174354176},
                                 {3.3, 3.057709796438165e-06},   {5.7, 7.566211621862486e-16},
                                 {7.3, 5.502573750691912e-25},   {7.9, 5.572718056952556e-29},
                                 {9.7, 7.936107563214487e-43},   {11.7, 1.7025329069808675e-61},
                                 {13.9, 4.980313741199439e-86},  {19.3, 4.953762402956084e-164},
                                 {22.7, 4.049256016045701e-226}, {24.9, 1.2244878020839745e-271},
                                 {25.9, 1.0202833184732474e-293}};
  const TileLoop loop = find_tile_loop(TileOp::kChloErfc, DType::kF64, DType::kF64);
  for (const auto& [x, y] : kRows) {
    EXPECT_LE((ulps<double, std::int64_t>(stablehlo::expand::chlo_erfc(x), y)), 3) << x;
    double from_loop = 0;
    const void* in[] = {&x, &x, &x};
    loop(&from_loop, in, 1, 0);
    EXPECT_EQ(from_loop, stablehlo::expand::chlo_erfc(x)) << x;
  }
  EXPECT_EQ(stablehlo::expand::chlo_erfc(0), 1);
  EXPECT_EQ(stablehlo::expand::chlo_erfc(27), 0);
  EXPECT_EQ(stablehlo::expand::chlo_erfc(kInfinity), 0);
  EXPECT_EQ(stablehlo::expand::chlo_erfc(-kInfinity), 2);
  EXPECT_TRUE(std::isnan(stablehlo::expand::chlo_erfc(std::nan(""))));
}

TEST(ErrorFunctionTest, ErfInvIsXlasToThreeUlps) {
  constexpr double kRows[][2] = {{0.25, 0.22531205501217808},
                                 {-0.875, -1.084787040069283},
                                 {0.99, 1.8213863677184494},
                                 {0.9999, 2.7510639057121233},
                                 {-0.999999, -3.4589107372739605},
                                 {0.9999999990686774, 4.328028275748485},
                                 {0.9999999999999991, 5.686128441310392}};
  for (const auto& [x, y] : kRows)
    EXPECT_LE((ulps<double, std::int64_t>(stablehlo::expand::chlo_erf_inv(x), y)), 3) << x;
  constexpr float kNarrow[][2] = {{0.25F, 0.225312069F},    {0.5F, 0.476936281F},
                                  {-0.99F, -1.82138669F},   {0.9999F, 2.75102687F},
                                  {0.999999F, 3.45707464F}, {0.99999994F, 3.83250666F}};
  for (const auto& [x, y] : kNarrow)
    EXPECT_LE((ulps<float, std::int32_t>(stablehlo::expand::chlo_erf_inv(x), y)), 3) << x;
  EXPECT_EQ(stablehlo::expand::chlo_erf_inv(1.0), kInfinity);
  EXPECT_EQ(stablehlo::expand::chlo_erf_inv(-1.0F), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(stablehlo::expand::chlo_erf_inv(1.5)));
  EXPECT_TRUE(std::isnan(stablehlo::expand::chlo_erf_inv(-1.5F)));
}

}  // namespace
}  // namespace millrace::devices::cpu
