#include "millrace/devices/cpu/shape_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace millrace::devices::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class ShapeCacheTest : public ::testing::Test {
 protected:
  // The product of the rows, made once per set of shapes.
  Result<int> get(const std::vector<std::int64_t>& rows) {
    std::vector<Shape> shapes;
    for (const std::int64_t n : rows) shapes.emplace_back(DType::kF32, std::span(&n, 1));
    const auto at = [&](std::size_t i) -> const Shape& { return shapes[i]; };
    const auto make = [this](std::span<const Shape> made) -> Result<int> {
      ++made_;
      int product = 1;
      for (const Shape& s : made) product *= static_cast<int>(s.dim(0));
      if (product == 0) return fail(ErrorCode::kInvalidArgument, "no rows");
      return product;
    };
    return cache_.get({.size = shapes.size(), .at = at}, make);
  }

  ShapeCache<int> cache_{3};
  std::atomic<int> made_{0};
};

TEST_F(ShapeCacheTest, WhatWasMadeIsFoundByAllShapes) {
  EXPECT_EQ(get({2, 3}).value(), 6);
  EXPECT_EQ(get({2, 3}).value(), 6);
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(get({3, 2}).value(), 6);
  EXPECT_EQ(get({3}).value(), 3);
  EXPECT_EQ(made_, 3);
}

TEST_F(ShapeCacheTest, TheLeastRecentlyUsedGoes) {
  for (const std::int64_t n : {1, 2, 3}) EXPECT_TRUE(get({n}));
  EXPECT_TRUE(get({1}));
  EXPECT_TRUE(get({4}));
  EXPECT_EQ(cache_.size(), 3u);
  EXPECT_EQ(made_, 4);
  for (const std::int64_t n : {1, 3, 4}) EXPECT_TRUE(get({n}));
  EXPECT_EQ(made_, 4);
  EXPECT_TRUE(get({2}));
  EXPECT_EQ(made_, 5);
}

TEST_F(ShapeCacheTest, AnErrorIsNotKept) {
  EXPECT_FALSE(get({0}));
  EXPECT_EQ(cache_.size(), 0u);
  EXPECT_FALSE(get({0}));
  EXPECT_EQ(made_, 2);
}

TEST_F(ShapeCacheTest, OlderOnesAreThoseNotUsedLately) {
  for (const std::int64_t n : {1, 2, 3}) EXPECT_TRUE(get({n}));
  EXPECT_TRUE(get({1}));
  EXPECT_THAT(cache_.older(1), UnorderedElementsAre(2, 3));
  EXPECT_THAT(cache_.older(2), ElementsAre(2));
}

// Real threads, because the lock is what is tested.
TEST_F(ShapeCacheTest, OneThreadMakesAPlanThatManyNeed) {
  std::latch all(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      all.arrive_and_wait();
      for (std::int64_t n = 1; n <= 3; ++n) EXPECT_EQ(get({n, n}).value(), n * n);
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(made_, 3);
}

}  // namespace
}  // namespace millrace::devices::cpu
