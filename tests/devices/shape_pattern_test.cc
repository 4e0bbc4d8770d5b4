#include "millrace/devices/shape.h"

#include <gtest/gtest.h>

namespace millrace::devices {
namespace {

const Shape kPattern(DType::kF32, {kUnknownDimension, 4});

TEST(ShapePatternTest, AnUnknownDimensionIsWrittenAsAQuestionMark) {
  EXPECT_EQ(kPattern.to_string(), "tensor<?x4xf32>");
  EXPECT_FALSE(is_complete(kPattern));
  EXPECT_TRUE(is_complete(Shape(DType::kF32, {0, 4})));
}

TEST(ShapePatternTest, AnySizeFitsIt) {
  EXPECT_TRUE(admits(kPattern, Shape(DType::kF32, {0, 4})));
  EXPECT_TRUE(admits(kPattern, Shape(DType::kF32, {7, 4})));
  EXPECT_FALSE(admits(kPattern, Shape(DType::kF32, {7, 5})));
  EXPECT_FALSE(admits(kPattern, Shape(DType::kF32, {4})));
  EXPECT_FALSE(admits(kPattern, Shape(DType::kF64, {7, 4})));
}

TEST(ShapePatternTest, AMisfitSaysWhichDimension) {
  EXPECT_EQ(misfit(kPattern, Shape(DType::kF32, {7, 5})),
            "should be tensor<?x4xf32>: dimension 1 is 5, not 4");
  EXPECT_EQ(misfit(kPattern, Shape(DType::kF32, {4})),
            "should be tensor<?x4xf32>: it has 1 dimension, not 2");
  EXPECT_EQ(misfit(kPattern, Shape(DType::kF64, {7, 4})), "should be tensor<?x4xf32>");
  EXPECT_EQ(misfit(Shape(DType::kF32, {2}), Shape(DType::kF32, {3})), "should be tensor<2xf32>");
}

}  // namespace
}  // namespace millrace::devices
