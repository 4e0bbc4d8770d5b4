#include "millrace/devices/shape.h"

#include <gtest/gtest.h>

namespace millrace::devices {
namespace {

TEST(ShapeTest, PrintsAsStableHloDoes) {
  EXPECT_EQ(Shape(DType::kU8, {64, 28, 28}).to_string(), "tensor<64x28x28xui8>");
  EXPECT_EQ(Shape(DType::kF32, {}).to_string(), "tensor<f32>");
}

TEST(ShapeTest, CountsElementsAndBytes) {
  EXPECT_EQ(Shape(DType::kC64, {2, 3}).size_bytes(), 48u);
  EXPECT_EQ(Shape(DType::kI1, {5}).size_bytes(), 5u);
  EXPECT_EQ(Shape(DType::kF32, {4, 0}).elements(), 0);
  EXPECT_EQ(Shape(DType::kF32, {}).elements(), 1);
}

// What 64 bits do not hold is more than can be had, never little.
TEST(ShapeTest, ProductsThatOverflowStayLarge) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 32;
  EXPECT_GT(Shape(DType::kF32, {kLarge, kLarge}).elements(), std::int64_t{1} << 60);
  EXPECT_GT(Shape(DType::kF32, {3, 6148914691236517206}).size_bytes(), std::size_t{1} << 60);
  EXPECT_GT(Shape(DType::kC128, {kLarge, kLarge / 4}).size_bytes(), std::size_t{1} << 60);
  EXPECT_EQ(Shape(DType::kF32, {kLarge, kLarge, 0}).size_bytes(), 0U);
}

TEST(DTypeTest, EveryNameReadsBack) {
  for (int i = 1; i <= static_cast<int>(DType::kToken); ++i) {
    const auto type = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_string(to_string(type)), type) << to_string(type);
  }
  EXPECT_FALSE(dtype_from_string("f31").has_value());
}

}  // namespace
}  // namespace millrace::devices
