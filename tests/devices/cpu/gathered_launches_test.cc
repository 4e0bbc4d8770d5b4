#include "millrace/devices/cpu/gathered_launches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace millrace::devices::cpu {
namespace {

using ::testing::ElementsAre;

// Launches are numbers, in the order of their first calls.
class GatheredLaunchesTest : public ::testing::Test {
 protected:
  int join(std::size_t device) {
    return launches_.join(device, [this]() -> Result<int> { return made_++; }).value();
  }
  std::vector<std::size_t> missing() const {
    std::vector<std::size_t> list;
    for (const auto& open : launches_.open()) list.push_back(open.missing);
    return list;
  }

  GatheredLaunches<int> launches_{3};
  int made_ = 0;
};

TEST_F(GatheredLaunchesTest, TheKthCallOfEachDeviceBelongsToTheKthLaunch) {
  EXPECT_EQ(join(0), 0);
  EXPECT_EQ(join(0), 1);
  EXPECT_EQ(join(1), 0);
  EXPECT_THAT(missing(), ElementsAre(1U, 2U));
  EXPECT_EQ(join(2), 0);
  EXPECT_THAT(missing(), ElementsAre(2U));
  EXPECT_EQ(join(2), 1);
  EXPECT_EQ(join(2), 2);
  EXPECT_EQ(join(1), 1);
  EXPECT_THAT(missing(), ElementsAre(2U));
  EXPECT_EQ(join(1), 2);
  EXPECT_EQ(join(0), 2);
  EXPECT_TRUE(launches_.open().empty());
  EXPECT_EQ(made_, 3);
}

TEST_F(GatheredLaunchesTest, ACallWhoseLaunchCannotBeMadeWasNone) {
  const auto refuse = []() -> Result<int> { return fail(ErrorCode::kInternal, "none"); };
  EXPECT_FALSE(launches_.join(1, refuse));
  EXPECT_TRUE(launches_.open().empty());
  EXPECT_EQ(join(1), 0);
  EXPECT_EQ(join(0), 0);
}

TEST_F(GatheredLaunchesTest, CallsInAnyOrderMeetTheirLaunch) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    GatheredLaunches<int> launches(3);
    int made = 0;
    std::vector<int> calls(3);
    for (int i = 0; i < 60; ++i) {
      const std::size_t device = random() % 3;
      EXPECT_EQ(launches.join(device, [&]() -> Result<int> { return made++; }).value(),
                calls[device]++);
    }
    EXPECT_EQ(made, *std::ranges::max_element(calls));
    EXPECT_EQ(std::ssize(launches.open()), made - *std::ranges::min_element(calls));
  }
}

}  // namespace
}  // namespace millrace::devices::cpu
