#include "millrace/tools/train/epoch_share.h"

#include <gtest/gtest.h>

namespace millrace::train {
namespace {

TEST(EpochShareTest, PayloadReadsBackExactly) {
  EpochShare share{.epoch = 3};
  share.add(0.1, 64);
  share.add(1.0 / 3, 63);
  const auto back = EpochShare::parse(share.to_payload());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->epoch, 3u);
  EXPECT_EQ(back->steps, 2u);
  EXPECT_EQ(back->rows, 127);
  EXPECT_EQ(back->loss_sum, share.loss_sum);
}

TEST(EpochShareTest, WhatIsNoShareIsRefused) {
  for (const char* text : {"", "1", "1 2 3", "1 2 3 0x1p+0 ", "1 2 3 0x1p+0 4", "a b c d"}) {
    EXPECT_FALSE(EpochShare::parse(text)) << text;
  }
}

TEST(EpochShareTest, SharesOfTheSameEpochAddUp) {
  EpochShare a{.epoch = 1, .steps = 2, .rows = 30, .loss_sum = 15};
  EpochShare b{.epoch = 1, .steps = 2, .rows = 10, .loss_sum = 25};
  const auto total = combine_shares({a.to_payload(), b.to_payload()});
  ASSERT_TRUE(total);
  EXPECT_EQ(total->rows, 40);
  EXPECT_EQ(total->mean_loss(), 1.0);
}

TEST(EpochShareTest, RanksThatAreElsewhereAreNamed) {
  const EpochShare here{.epoch = 1, .steps = 2};
  const EpochShare ahead{.epoch = 1, .steps = 3};
  const EpochShare later{.epoch = 2, .steps = 2};
  for (const EpochShare& other : {ahead, later}) {
    const auto total = combine_shares({here.to_payload(), here.to_payload(), other.to_payload()});
    ASSERT_FALSE(total);
    EXPECT_NE(total.error().message().find("rank 2"), std::string::npos);
  }
}

TEST(TrainEpochShareTest, SumsOfOtherRanksAreTheFirstOnes) {
  std::vector<RankState> ranks(3);
  for (std::size_t r = 0; r < 3; ++r) {
    const auto part = static_cast<double>(r + 1);
    ranks[r].epoch_share = {.epoch = 2, .steps = 5, .rows = 10, .loss_sum = part};
    ranks[r].run_share = {.epoch = 2, .steps = 9, .rows = 20, .loss_sum = 10 * part};
  }
  EXPECT_EQ(spread_over(ranks, 3)[2].run_share.loss_sum, 30) << "as they were";
  for (const std::size_t world : {2U, 5U}) {
    const std::vector<RankState> spread = spread_over(ranks, world);
    ASSERT_EQ(spread.size(), world);
    EXPECT_EQ(spread[0].epoch_share.rows, 30);
    EXPECT_EQ(spread[0].epoch_share.loss_sum, 6);
    EXPECT_EQ(spread[0].run_share.rows, 60);
    EXPECT_EQ(spread[0].run_share.loss_sum, 60);
    for (std::size_t r = 1; r < world; ++r) {
      EXPECT_EQ(spread[r].epoch_share.rows, 0);
      EXPECT_EQ(spread[r].run_share.loss_sum, 0);
      EXPECT_EQ(spread[r].epoch_share.steps, 5U);
      EXPECT_EQ(spread[r].run_share.epoch, 2U);
    }
  }
}

}  // namespace
}  // namespace millrace::train
