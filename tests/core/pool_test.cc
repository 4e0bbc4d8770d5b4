#include "millrace/core/base/pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/allocation_count.h"

namespace millrace {
namespace {

using testing::AllocationCount;
using testing::kAllocationsCountable;

const std::vector<std::size_t> kSizes = {1,    64,   65,    128,   1000,  1024, 1025,
                                         2048, 2049, 32768, 65535, 65536, 65537};

TEST(PoolTest, BlocksOfEverySizeAreWholeApartAndAligned) {
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (int round = 0; round < 100; ++round) {
    for (std::size_t size : kSizes) {
      auto* const block = static_cast<unsigned char*>(pool_allocate(size));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignof(std::max_align_t), 0U);
      std::memset(block, static_cast<int>(blocks.size()), size);
      blocks.emplace_back(block, size);
    }
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [block, size] = blocks[i];
    EXPECT_EQ(block[0], static_cast<unsigned char>(i));
    EXPECT_EQ(std::memcmp(block, block + 1, size - 1), 0) << "size " << size;
    pool_free(block, size);
  }
}

TEST(PoolTest, BlocksComeBackFromTheThreadThatFreedThemWithoutNewMemory) {
  if (!kAllocationsCountable) GTEST_SKIP() << "a sanitizer sees every block as its own";
  constexpr int kBlocks = 10000;  // far more than a thread keeps
  std::vector<void*> blocks(kBlocks);
  std::int64_t counted = 0;
  std::thread other([&] {
    pool_free(pool_allocate(200), 200);  // the end of a thread is announced with its first block
    for (int round = 0; round < 4; ++round) {
      std::thread([&] {
        for (void*& block : blocks) block = pool_allocate(200);
      }).join();
      AllocationCount allocations;
      for (void* block : blocks) pool_free(block, 200);
      for (void*& block : blocks) block = pool_allocate(200);
      for (void* block : blocks) pool_free(block, 200);
      counted += allocations.count();
    }
  });
  other.join();
  EXPECT_EQ(counted, 0);
}

TEST(PoolTest, NoBlockIsGivenTwiceWhenListsPassThroughTheDepot) {
  std::set<void*> seen;
  std::vector<void*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(pool_allocate(300));
  for (void* block : blocks) pool_free(block, 300);
  for (int i = 0; i < 2000; ++i) {
    blocks.resize(static_cast<std::size_t>(i) + 1);
    blocks.back() = pool_allocate(300);
    EXPECT_TRUE(seen.insert(blocks.back()).second);
  }
  for (void* block : blocks) pool_free(block, 300);
}

// A thread_local that outlives what the pool keeps for the thread, which is made after it.
struct Late {
  void* block = nullptr;
  ~Late() {
    if (block == nullptr) return;
    pool_free(block, 100);
    void* const other = pool_allocate(100);
    std::memset(other, 1, 100);
    pool_free(other, 100);
  }
};
thread_local Late late;

TEST(PoolTest, WorksAtTheVeryEndOfAThread) {
  std::thread([] {
    late.block = nullptr;  // made before the thread's first block
    late.block = pool_allocate(100);
  }).join();
  void* const block = pool_allocate(100);
  std::memset(block, 2, 100);
  pool_free(block, 100);
}

}  // namespace
}  // namespace millrace
