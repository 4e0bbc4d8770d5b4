#include "millrace/collectives/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "millrace/collectives/tree.h"
#include "millrace/core/exec/make_executor.h"

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

// Lengths around the blocks and the parts that a large array is cut into, of every type: the same
// as each element reduced alone.
TEST(ReduceTest, LengthAndCoresDoNotChangeABit) {
  const auto threads = make_executor(ExecutorBackend::kThreads, 3, "reduce");
  const auto parallel = make_parallel_on(*threads, 4);
  constexpr std::size_t kPart = std::size_t{256} << 10;
  std::mt19937_64 random(7);
  RecordProperty("seed", 7);
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8,
                            DType::kI16, DType::kI32, DType::kI64, DType::kU8, DType::kU16,
                            DType::kU32, DType::kU64, DType::kC64, DType::kC128, DType::kI1}) {
    const std::size_t size = static_cast<std::size_t>(devices::Shape(dtype, {1}).size_bytes());
    for (const std::size_t count : {std::size_t{1023}, std::size_t{1024}, std::size_t{1025},
                                    kPart / size - 1, kPart / size + 1, 3 * kPart / size + 3}) {
      const std::size_t size_of_group = count % 2 == 0 ? 2 : 3;
      std::vector<std::vector<std::byte>> ranks(size_of_group,
                                                std::vector<std::byte>(count * size));
      std::vector<const std::byte*> inputs;
      for (auto& rank : ranks) {
        for (std::byte& b : rank) {
          b = static_cast<std::byte>(random());
          if (dtype == DType::kI1) b &= std::byte{1};
        }
        inputs.push_back(rank.data());
      }
      for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMin, ReduceOp::kMax}) {
        if (!check_reducible(op, dtype)) continue;
        std::vector<std::byte> whole(count * size), parts(count * size);
        reduce(op, dtype, inputs, whole);
        reduce(op, dtype, inputs, parts, parallel.get());
        ASSERT_EQ(whole, parts) << to_string(op) << " of " << count << " "
                                << devices::to_string(dtype);
        // Each of a sample alone: the first, the last, and those around a block's end.
        for (const std::size_t i : {std::size_t{0}, std::size_t{1022}, count - 2, count - 1,
                                    count / 2, std::min<std::size_t>(1024, count - 1)}) {
          std::vector<const std::byte*> one;
          for (const std::byte* input : inputs) one.push_back(input + i * size);
          std::vector<std::byte> alone(size);
          reduce(op, dtype, one, alone);
          ASSERT_EQ(std::memcmp(alone.data(), whole.data() + i * size, size), 0)
              << to_string(op) << ", element " << i << " of " << count << " "
              << devices::to_string(dtype);
        }
      }
    }
  }
}

TEST(ReduceTest, ArraysMayLieAtAnyByte) {
  const std::vector<float> ones(1000, 1.0F);
  std::vector<std::byte> shifted(1 + 4000), out(3 + 4000);
  std::memcpy(shifted.data() + 1, ones.data(), 4000);
  const std::byte* const inputs[] = {shifted.data() + 1, shifted.data() + 1, shifted.data() + 1};
  for (const std::size_t ranks : {2, 3}) {
    reduce(ReduceOp::kSum, DType::kF32, std::span(inputs).first(ranks), std::span(out).subspan(3));
    std::vector<float> sums(1000);
    std::memcpy(sums.data(), out.data() + 3, 4000);
    EXPECT_EQ(sums, std::vector<float>(1000, static_cast<float>(ranks)));
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
