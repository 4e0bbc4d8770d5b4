#include "millrace/devices/memory_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace millrace::devices {
namespace {

TEST(MemoryPoolTest, BlocksAreAlignedAndUsedAgain) {
  auto pool = make_ref<MemoryPool>();
  for (const std::size_t size : {1u, 1000u, 3u << 20}) {
    const std::byte* first = nullptr;
    {
      const Ref<Block> block = pool->allocate(size).value();
      first = block->data();
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % kBlockAlignment, 0u);
      EXPECT_EQ(block->size(), size);
    }
    EXPECT_EQ((*pool->allocate(size))->data(), first);
  }
  EXPECT_EQ(pool->system_allocations(), 3);
}

TEST(MemoryPoolTest, LimitIsOfWhatIsInUse) {
  auto pool = make_ref<MemoryPool>(128);
  Ref<Block> one = pool->allocate(64).value();
  const Ref<Block> two = pool->allocate(64).value();
  const auto refused = pool->allocate(1);
  EXPECT_EQ(refused.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(pool->stats().bytes_limit, 128);
  one = nullptr;
  EXPECT_TRUE(pool->allocate(1).has_value());
  EXPECT_EQ(pool->stats().peak_bytes_in_use, 128);
}

TEST(MemoryPoolTest, WhatIsNoBlockCountsForAsLongAsItIsUsed) {
  auto pool = make_ref<MemoryPool>(128);
  const Ref<Block> block = pool->allocate(64).value();
  {
    const auto use = pool->use(60);
    ASSERT_TRUE(use);
    EXPECT_EQ(pool->stats().bytes_in_use, 124);
    EXPECT_EQ(pool->use(5).error().code(), ErrorCode::kResourceExhausted);
    EXPECT_EQ(pool->allocate(64).error().code(), ErrorCode::kResourceExhausted);
  }
  EXPECT_EQ(pool->stats().bytes_in_use, 64);
  EXPECT_EQ(pool->stats().peak_bytes_in_use, 124);
  EXPECT_TRUE(pool->use(64).has_value());
}

TEST(MemoryPoolTest, OwnerGivesItsBlockBackAndOthersNone) {
  auto pool = make_ref<MemoryPool>();
  const Ref<Block> block = pool->allocate(64).value();
  EXPECT_EQ(block_of(make_owner(block)).get(), block.get());
  EXPECT_FALSE(block_of(std::make_shared<int>(1)));
  EXPECT_FALSE(block_of(nullptr));
}

TEST(MemoryPoolTest, WhatTheCacheCannotHoldGoesBackToTheSystem) {
  auto pool = make_ref<MemoryPool>(0, 64);
  {
    const Ref<Block> one = pool->allocate(64).value(), two = pool->allocate(64).value();
  }
  const Ref<Block> three = pool->allocate(64).value(), four = pool->allocate(64).value();
  EXPECT_EQ(pool->system_allocations(), 3);
}

TEST(MemoryPoolTest, BlocksOutliveTheirPoolsOwner) {
  Ref<Block> block;
  {
    auto pool = make_ref<MemoryPool>();
    block = pool->allocate(100).value();
  }
  block->data()[99] = std::byte{1};
  EXPECT_TRUE(block->unique());
}

TEST(MemoryPoolTest, ImpossibleSizesAreRefused) {
  auto pool = make_ref<MemoryPool>();
  EXPECT_EQ(pool->allocate(~std::size_t{0}).error().code(), ErrorCode::kResourceExhausted);
}

}  // namespace
}  // namespace millrace::devices
