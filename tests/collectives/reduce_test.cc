#include "millrace/collectives/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "millrace/collectives/tree.h"

namespace millrace::collectives {
namespace {

using devices::DType;

template <class T>
std::vector<T> reduced(ReduceOp op, DType dtype, const std::vector<std::vector<T>>& ranks) {
  std::vector<const std::byte*> inputs;
  for (const auto& rank : ranks) inputs.push_back(reinterpret_cast<const std::byte*>(rank.data()));
  std::vector<T> out(ranks[0].size());
  reduce(op, dtype, inputs, std::as_writable_bytes(std::span<T>(out)));
  return out;
}

TEST(ReduceTest, EveryOperationOnFloats) {
  const std::vector<std::vector<float>> ranks = {{1, 5, -2}, {3, 4, -8}};
  EXPECT_EQ(reduced(ReduceOp::kSum, DType::kF32, ranks), (std::vector<float>{4, 9, -10}));
  EXPECT_EQ(reduced(ReduceOp::kMean, DType::kF32, ranks), (std::vector<float>{2, 4.5F, -5}));
  EXPECT_EQ(reduced(ReduceOp::kMin, DType::kF32, ranks), (std::vector<float>{1, 4, -8}));
  EXPECT_EQ(reduced(ReduceOp::kMax, DType::kF32, ranks), (std::vector<float>{3, 5, -2}));
}

TEST(ReduceTest, NaNWinsAndZerosAreOrdered) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::vector<float>> ranks = {{nan, 1, 0.0F}, {1, nan, -0.0F}};
  for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax}) {
    const auto out = reduced(op, DType::kF32, ranks);
    EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1]));
    EXPECT_EQ(std::signbit(out[2]), op == ReduceOp::kMin);
  }
}

TEST(ReduceTest, IntegersWrapAndKeepTheirWidth) {
  EXPECT_EQ((reduced<std::uint8_t>(ReduceOp::kSum, DType::kU8, {{250}, {10}})[0]), 4);
  EXPECT_EQ((reduced<std::int32_t>(ReduceOp::kSum, DType::kI32, {{2147483647}, {1}})[0]),
            INT32_MIN);
  EXPECT_EQ((reduced<std::int64_t>(ReduceOp::kMin, DType::kI64, {{-7}, {3}, {5}})[0]), -7);
  EXPECT_EQ((reduced<std::uint8_t>(ReduceOp::kSum, DType::kI1, {{1, 0}, {1, 0}})),
            (std::vector<std::uint8_t>{1, 0}));
}

TEST(ReduceTest, HalfFloatsRoundToNearestEven) {
  // f16: 1 + 2^-11 is a tie between 1 (0x3C00) and the next (0x3C01): even wins. Values as bits.
  EXPECT_EQ((reduced<std::uint16_t>(ReduceOp::kSum, DType::kF16, {{0x3C00}, {0x1000}})[0]), 0x3C00);
  EXPECT_EQ((reduced<std::uint16_t>(ReduceOp::kSum, DType::kF16, {{0x3C01}, {0x1000}})[0]), 0x3C02);
  // 65504 + 65504 overflows; two smallest subnormals make the next.
  EXPECT_EQ((reduced<std::uint16_t>(ReduceOp::kSum, DType::kF16, {{0x7BFF}, {0x7BFF}})[0]), 0x7C00);
  EXPECT_EQ((reduced<std::uint16_t>(ReduceOp::kSum, DType::kF16, {{0x0001}, {0x0001}})[0]), 0x0002);
  // bf16: 1 + 2^-8 is a tie as well.
  EXPECT_EQ((reduced<std::uint16_t>(ReduceOp::kSum, DType::kBF16, {{0x3F80}, {0x3B80}})[0]),
            0x3F80);
  EXPECT_EQ((reduced<std::uint16_t>(ReduceOp::kMax, DType::kBF16, {{0x3F80}, {0xC000}})[0]),
            0x3F80);
}

TEST(ReduceTest, EveryHalfFloatSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const bool nan = (bits & 0x7C00) == 0x7C00 && (bits & 0x3FF) != 0;
    if (nan) continue;
    const auto half = static_cast<std::uint16_t>(bits);
    ASSERT_EQ((reduced<std::uint16_t>(ReduceOp::kSum, DType::kF16, {{half}})[0]), half) << bits;
  }
}

TEST(ReduceTest, CombinesInTheOrderOfTheRanks) {
  // In f32, (1e8 + -1e8) + 1 is 1 but 1e8 + (-1e8 + 1) is 0.
  EXPECT_EQ((reduced<float>(ReduceOp::kSum, DType::kF32, {{1e8F}, {-1e8F}, {1}})[0]), 1.0F);
}

TEST(ReduceTest, WhatHasNoMeaningIsRefused) {
  EXPECT_FALSE(check_reducible(ReduceOp::kMean, DType::kI32));
  EXPECT_FALSE(check_reducible(ReduceOp::kMin, DType::kC64));
  EXPECT_FALSE(check_reducible(ReduceOp::kSum, DType::kF8E4M3FN));
  EXPECT_TRUE(check_reducible(ReduceOp::kSum, DType::kC128));
}

TEST(TreeTest, EveryPositionIsTheChildOfItsParentOnce) {
  for (const int size : {1, 2, 8, 9, 10, 73, 74, 65536}) {
    std::vector<int> seen(static_cast<std::size_t>(size), 0);
    for (int p = 0; p < size; ++p) {
      const TreeChildren children = tree_children(p, size);
      for (int c = children.first; c < children.first + children.count; ++c) {
        ASSERT_EQ(tree_parent(c), p);
        ++seen[static_cast<std::size_t>(c)];
      }
    }
    EXPECT_EQ(seen[0], 0);
    for (int p = 1; p < size; ++p) ASSERT_EQ(seen[static_cast<std::size_t>(p)], 1) << p;
  }
}

}  // namespace
}  // namespace millrace::collectives
