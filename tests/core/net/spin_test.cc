#include "millrace/core/net/spin.h"

#include <gtest/gtest.h>

namespace millrace::net {
namespace {

TEST(SpinTest, WhatIsDoneAtOnceIsSeenAndWhatIsNotEnds) {
  EXPECT_TRUE(spin([] { return true; }));
  EXPECT_FALSE(spin([] { return false; }));
}

TEST(SpinTest, SpinsInVainBecomeRareUntilOneIsWorthIt) {
  SpinChance chance;
  const auto passes = [&chance] {
    int passes = 0;
    while (!chance.take()) ++passes;
    return passes;
  };
  for (const int expected : {0, 1, 3, 7, 15, 31, 63, 127, 255, 255}) {
    EXPECT_EQ(passes(), expected);
    chance.record(false);
  }
  EXPECT_EQ(passes(), 255);
  chance.record(true);
  EXPECT_EQ(passes(), 0);
  chance.record(true);
  EXPECT_EQ(passes(), 0);
  chance.record(false);
  EXPECT_EQ(passes(), 1);
}

}  // namespace
}  // namespace millrace::net
