#include "millrace/collectives/scratch.h"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace millrace::collectives {
namespace {

std::shared_ptr<net::Bytes> message_of(std::size_t bytes, int value) {
  return std::make_shared<net::Bytes>(bytes, static_cast<std::byte>(value));
}

TEST(ScratchTest, AMessageIsReadWhereItCameAndGoesWithTheLastRangeOfIt) {
  Scratch scratch(100);
  auto message = message_of(20, 7);
  const std::span<const std::byte> bytes = *message;
  scratch.put(10, message, bytes.first(12));
  scratch.put(50, message, bytes.subspan(12));
  const std::weak_ptr<net::Bytes> lives = message;
  message.reset();
  EXPECT_EQ(scratch.read(10, 12).data(), bytes.data());
  EXPECT_EQ(scratch.read(12, 3).data(), bytes.data() + 2);
  EXPECT_EQ(scratch.read(50, 8).data(), bytes.data() + 12);
  scratch.put(10, message_of(12, 8), *message_of(12, 8));
  EXPECT_FALSE(lives.expired());
  scratch.write(50, 8);
  EXPECT_TRUE(lives.expired());
  scratch.clear();
  EXPECT_EQ(scratch.messages(), 0u);
}

// Against an array into which all is copied, as the schedules mean it.
TEST(ScratchTest, GivesWhatAPlainArrayGives) {
  constexpr std::size_t kSize = 64;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    Scratch scratch(kSize);
    std::vector<std::byte> plain(kSize);
    for (int step = 1; step < 60; ++step) {
      const std::size_t begin = random() % kSize, bytes = random() % (kSize - begin + 1);
      const auto there = std::span(plain).subspan(begin, bytes);
      const auto value = static_cast<std::byte>(step);
      switch (random() % 3) {
        case 0: {
          const auto message = message_of(bytes, step);
          scratch.put(begin, message, *message);
          std::ranges::fill(there, value);
          break;
        }
        case 1: {
          const auto written = scratch.write(begin, bytes);
          ASSERT_TRUE(std::ranges::equal(written, there));
          std::ranges::fill(written, value);
          std::ranges::fill(there, value);
          break;
        }
        default:
          ASSERT_TRUE(std::ranges::equal(scratch.read(begin, bytes), there));
      }
    }
    ASSERT_TRUE(std::ranges::equal(scratch.read(0, kSize), plain));
  }
}

TEST(ScratchDeathTest, RefusesARangeBeyondItsEnd) {
  Scratch scratch(8);
  EXPECT_DEATH(scratch.read(4, 5), "stays within its arrays");
  EXPECT_DEATH(scratch.write(9, 0), "stays within its arrays");
}

}  // namespace
}  // namespace millrace::collectives
