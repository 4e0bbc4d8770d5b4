#include "millrace/core/base/philox.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace millrace {
namespace {

// Known answers published with the paper's reference implementation (philox4x32, 10 rounds).
TEST(PhiloxTest, KnownAnswersAreMet) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(PhiloxTest, EachSeedDeviceAndStepHasItsOwnNumbers) {
  std::set<std::vector<std::uint32_t>> seen;
  for (std::uint64_t seed : {0ull, 1ull, 1ull << 32}) {
    for (std::uint32_t device = 0; device < 4; ++device) {
      for (std::uint64_t step : {0ull, 1ull, 2ull, 1ull << 40}) {
        RandomStream stream(seed, device, step);
        std::vector<std::uint32_t> words(6);
        for (std::uint32_t& word : words) word = stream.next();
        EXPECT_TRUE(seen.insert(words).second) << seed << ' ' << device << ' ' << step;
      }
    }
  }
}

TEST(PhiloxTest, AStreamAskedAgainGivesTheSameBytes) {
  std::vector<std::byte> one(37);
  std::vector<std::byte> two(37);
  RandomStream(7, 1, 9).fill(one);
  RandomStream(7, 1, 9).fill(two);
  EXPECT_EQ(one, two);
}

TEST(PhiloxTest, FloatsAreUniformInTheUnitInterval) {
  RandomStream stream(3, 0, 0);
  std::vector<int> bins(10);
  for (int i = 0; i < 100'000; ++i) {
    const float value = stream.next_float();
    ASSERT_GE(value, 0.0f);
    ASSERT_LT(value, 1.0f);
    ++bins[static_cast<std::size_t>(value * 10)];
  }
  for (int count : bins) EXPECT_NEAR(count, 10'000, 500);  // five standard deviations
}

}  // namespace
}  // namespace millrace
