#include "millrace/core/base/short_wait.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(ShortWaitTest, WhatIsDoneIsSeenAndWhatIsNotEnds) {
  ShortWait wait;
  EXPECT_TRUE(wait.wait_for([] { return true; }));
  EXPECT_FALSE(wait.wait_for([] { return false; }));
}

TEST(ShortWaitTest, ItLooksAloneFirstUnlessOtherThreadsHadTurns) {
  ShortWait wait;
  int looks = 0;
  const auto third = [&] { return ++looks == 3; };
  EXPECT_TRUE(wait.wait_for(third, std::chrono::hours(1)));
  wait.others_ran();
  while (wait.leave_out()) {
  }
  looks = 1;  // one look in vain would be for ever
  EXPECT_FALSE(wait.wait_for([&] { return looks == 0; }, std::chrono::hours(1)));
}

int left_out(ShortWait& wait) {
  int waits = 0;
  while (wait.leave_out()) ++waits;
  return waits;
}

TEST(ShortWaitTest, WaitsInVainBecomeRareUntilOneIsWorthIt) {
  ShortWait wait;
  EXPECT_EQ(left_out(wait), 0);
  for (const int expected : {1, 3, 7, 15, 31, 63, 64, 64}) {
    wait.failed();
    EXPECT_EQ(left_out(wait), expected);
  }
  wait.succeeded();
  EXPECT_EQ(left_out(wait), 0);
  wait.failed();
  EXPECT_EQ(left_out(wait), 1);
}

TEST(ShortWaitTest, TurnsOfOtherThreadsMakeTriesRareUntilManyWereWorthIt) {
  ShortWait wait;
  for (const int expected : {8, 32, 128, 512, 512}) {
    wait.others_ran();
    EXPECT_EQ(left_out(wait), expected);
  }
  for (int i = 0; i < 511; ++i) wait.succeeded();
  wait.others_ran();
  EXPECT_EQ(left_out(wait), 512);
  for (int i = 0; i < 2 * 512; ++i) wait.succeeded();
  wait.others_ran();
  EXPECT_EQ(left_out(wait), 128);
  for (int i = 0; i < 4 * 512; ++i) wait.succeeded();
  wait.others_ran();
  EXPECT_EQ(left_out(wait), 8);
}

}  // namespace
}  // namespace millrace
