#include "millrace/core/net/spare_bytes.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace millrace::net {
namespace {

using Bytes = std::vector<std::byte>;

TEST(SpareBytesTest, GivesTheMemoryThatWasGivenLastAndHasRoom) {
  Bytes first(kLeastSpare), second(4 * kLeastSpare);
  const std::byte* const of_first = first.data();
  const std::byte* const of_second = second.data();
  give_spare_bytes(std::move(second));
  give_spare_bytes(std::move(first));
  Bytes large = take_spare_bytes(3 * kLeastSpare);
  EXPECT_TRUE(large.empty());
  EXPECT_EQ(large.data(), of_second);
  Bytes small = take_spare_bytes(kLeastSpare);
  EXPECT_EQ(small.data(), of_first);
  EXPECT_GE(small.capacity(), kLeastSpare);
}

// Its sizes are those that no other test gives.
TEST(SpareBytesTest, KeepsNoMoreThanItsBound) {
  while (take_spare_bytes(kLeastSpare).capacity() > kLeastSpare) {
  }  // what was there before
  constexpr std::size_t kSize = kMostSpare / 4;
  for (int i = 0; i < 10; ++i) give_spare_bytes(Bytes(kSize));
  // Less than it keeps is asked for: what is new has no more than that.
  int kept = 0;
  while (take_spare_bytes(kSize / 2).capacity() >= kSize) ++kept;
  EXPECT_GE(kept, 3);
  EXPECT_LE(kept, 4);
}

TEST(SpareBytesTest, LeavesShortOnesToTheAllocator) {
  Bytes bytes(kLeastSpare - 1);
  give_spare_bytes(std::move(bytes));
  EXPECT_EQ(take_spare_bytes(10).capacity(), 10u);
}

}  // namespace
}  // namespace millrace::net
