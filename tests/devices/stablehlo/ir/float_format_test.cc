#include "millrace/devices/stablehlo/ir/float_format.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace millrace::devices::stablehlo::ir {
namespace {

constexpr DType kSmall[] = {DType::kF8E5M2,        DType::kF8E4M3,     DType::kF8E4M3FN,
                            DType::kF8E4M3B11FNUZ, DType::kF8E5M2FNUZ, DType::kF8E4M3FNUZ,
                            DType::kF8E3M4,        DType::kF8E8M0FNU,  DType::kF4E2M1FN,
                            DType::kF6E2M3FN,      DType::kF6E3M2FN,   DType::kF16,
                            DType::kBF16};

TEST(FloatFormat, EveryBitPatternOfTheSmallFormatsSurvivesTheRoundTrip) {
  for (DType type : kSmall) {
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << bit_width(type)); ++bits) {
      const double value = decode_float(type, bits);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decode_float(type, encode_float(type, value))))
            << to_string(type) << ' ' << bits;
      } else {
        EXPECT_EQ(encode_float(type, value), bits) << to_string(type) << ' ' << value;
      }
    }
  }
}

TEST(FloatFormat, TiesGoToEvenAndOverflowGoesWhereTheFormatSays) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(encode_float(DType::kBF16, 1.0 + 0x1p-8), 0x3F80u);
  EXPECT_EQ(encode_float(DType::kBF16, 1.0 + 3 * 0x1p-8), 0x3F82u);
  EXPECT_EQ(encode_float(DType::kF16, 65519), 0x7BFFu);
  EXPECT_EQ(encode_float(DType::kF16, 65520), 0x7C00u);
  EXPECT_EQ(encode_float(DType::kF16, 0x1p-25), 0u);
  EXPECT_EQ(encode_float(DType::kF16, -0x1.8p-25), 0x8001u);
  EXPECT_EQ(encode_float(DType::kF8E4M3FN, inf), 0x7Fu);
  EXPECT_EQ(encode_float(DType::kF8E4M3FNUZ, 1e9), 0x80u);
  EXPECT_EQ(encode_float(DType::kF4E2M1FN, -100), 0xFu);
  EXPECT_EQ(encode_float(DType::kF64, -0.0), 0x8000000000000000u);
}

// No value of the format is nearer, and the even one of two as near is taken.
TEST(FloatFormat, NothingIsNearerThanWhatIsEncoded) {
  constexpr unsigned kSeed = 7;
  std::mt19937_64 random(kSeed);
  for (const DType type : kSmall) {
    if (type == DType::kF8E8M0FNU) continue;  // no ties to even: below
    const std::uint64_t count = std::uint64_t{1} << bit_width(type);
    double most = 0;
    for (std::uint64_t bits = 0; bits < count; ++bits) {
      if (const double value = decode_float(type, bits); std::isfinite(value))
        most = std::max(most, value);
    }
    const int samples = bit_width(type) > 8 ? 20 : 2000;
    for (int i = 0; i < samples; ++i) {
      const double spread = std::ldexp(most, -static_cast<int>(random() % 20));
      double x = std::uniform_real_distribution(-spread, spread)(random);
      if (i % 2 == 0) {  // just between two values, often
        const double low = decode_float(type, random() % (count / 2 - 1));
        const double high = decode_float(type, encode_float(type, low) + 1);
        if (!std::isfinite(low) || !std::isfinite(high)) continue;
        x = (low + high) / 2;
      }
      const std::uint64_t bits = encode_float(type, x);
      const double error = std::fabs(decode_float(type, bits) - x);
      for (std::uint64_t other = 0; other < count; ++other) {
        const double value = decode_float(type, other);
        if (!std::isfinite(value) || value == decode_float(type, bits)) continue;
        const double other_error = std::fabs(value - x);
        ASSERT_TRUE(error < other_error || (error == other_error && bits % 2 == 0))
            << to_string(type) << ' ' << x << ": " << bits << " or " << other << ", seed " << kSeed;
      }
    }
  }
}

TEST(FloatFormat, AScaleIsThePowerOfTwoThatIsNearest) {
  const auto scale = [](double x) { return encode_float(DType::kF8E8M0FNU, x); };
  EXPECT_EQ(scale(1), 127U);
  EXPECT_EQ(scale(1.49), 127U);
  EXPECT_EQ(scale(1.5), 128U);
  EXPECT_EQ(scale(0x1p127), 0xFEU);
  EXPECT_EQ(scale(0x1p-127), 0U);
  // What has no power near it.
  for (const double x : {0.0, -0.0, -1.0, 0x1p128, std::numeric_limits<double>::infinity()})
    EXPECT_EQ(scale(x), 0xFFU) << x;
}

TEST(FloatFormat, BFloat16IsTheTopHalfOfFloat) {
  for (std::uint32_t high = 0; high < 0x7F80; high += 7) {
    float value = 0;
    const std::uint32_t bits = high << 16;
    static_assert(sizeof value == sizeof bits);
    __builtin_memcpy(&value, &bits, sizeof value);
    EXPECT_EQ(encode_float(DType::kBF16, value), high);
  }
}

}  // namespace
}  // namespace millrace::devices::stablehlo::ir
