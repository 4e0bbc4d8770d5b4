#include "millrace/tools/train/step_plan.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace millrace::train {
namespace {

TEST(TrainStepPlanTest, AWholeRunGoesThroughItsEpochs) {
  const StepPlan plan({}, 22, 4, 3, {});
  EXPECT_EQ(plan.steps_per_epoch(), 5U);
  EXPECT_EQ(plan.last_step(), 15U);
  EXPECT_FALSE(plan.is_past_end() || plan.leaves_epoch());
  for (std::uint64_t step = 0; step < 15; ++step) {
    EXPECT_EQ(plan.epoch_of(step), step / 5);
    EXPECT_EQ(plan.ends_epoch(step), step % 5 == 4);
    EXPECT_EQ(plan.at(step), (Position{.step = step, .epoch = step / 5, .item = step % 5 * 4}));
  }
  EXPECT_EQ(plan.at(15), (Position{.step = 15, .epoch = 3}));
}

TEST(TrainStepPlanTest, ResumesWithTheSameBatchAsIfItHadNotStopped) {
  const StepPlan whole({}, 22, 4, 3, {});
  for (std::uint64_t step = 0; step <= 15; ++step) {
    const StepPlan rest(whole.at(step), 22, 4, 3, {});
    EXPECT_EQ(rest.last_step(), 15U);
    EXPECT_FALSE(rest.is_past_end());
    for (std::uint64_t later = step; later <= 15; ++later)
      EXPECT_EQ(rest.at(later), whole.at(later));
    for (std::uint64_t later = step; later < 15; ++later)
      EXPECT_EQ(rest.ends_epoch(later), whole.ends_epoch(later));
  }
}

TEST(TrainStepPlanTest, GoesOnWithAnotherBatchWhereTheItemsAre) {
  // After 8 of 22 items, three a step: 4 steps are left of this epoch, and 7 are in the next.
  const StepPlan plan({.step = 2, .epoch = 1, .item = 8}, 22, 3, 3, {});
  EXPECT_EQ(plan.last_step(), 2U + 4 + 7);
  EXPECT_EQ(plan.at(5), (Position{.step = 5, .epoch = 1, .item = 17}));
  EXPECT_TRUE(plan.ends_epoch(5));
  EXPECT_EQ(plan.at(6), (Position{.step = 6, .epoch = 2, .item = 0}));
  EXPECT_EQ(plan.at(8), (Position{.step = 8, .epoch = 2, .item = 6}));
  EXPECT_TRUE(plan.ends_epoch(12));
}

TEST(TrainStepPlanTest, WhatIsLeftOfAnEpochMayBeLessThanABatch) {
  const StepPlan plan({.step = 6, .epoch = 0, .item = 18}, 22, 8, 3, {});
  EXPECT_TRUE(plan.leaves_epoch());
  EXPECT_EQ(plan.start(), (Position{.step = 6, .epoch = 1, .item = 0}));
  EXPECT_EQ(plan.last_step(), 6U + 2 * 2);
  const StepPlan last({.step = 6, .epoch = 2, .item = 18}, 22, 8, 3, {});
  EXPECT_EQ(last.last_step(), 6U);
  EXPECT_FALSE(last.is_past_end());
}

TEST(TrainStepPlanTest, KnowsTheEndOfARun) {
  struct Case {
    Position start;
    std::optional<std::uint64_t> most;
    std::uint64_t last;
    bool past;
  };
  const Case cases[] = {
      {{}, 7, 7, false},
      {{}, 99, 15, false},
      {{.step = 15, .epoch = 3}, {}, 15, false},
      {{.step = 16, .epoch = 3, .item = 4}, {}, 16, true},
      {{.step = 20, .epoch = 4}, {}, 20, true},
      {{.step = 8, .epoch = 1, .item = 12}, 7, 8, true},
      {{.step = 7, .epoch = 1, .item = 8}, 7, 7, false},
  };
  for (const Case& c : cases) {
    const StepPlan plan(c.start, 22, 4, 3, c.most);
    EXPECT_EQ(plan.last_step(), c.last) << c.start.step;
    EXPECT_EQ(plan.is_past_end(), c.past) << c.start.step;
  }
}

}  // namespace
}  // namespace millrace::train
