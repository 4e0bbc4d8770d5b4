#include "millrace/devices/launch_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::devices {
namespace {

using ::testing::HasSubstr;

Status submit(LaunchSequencer& sequencer, LaunchOrder order) {
  return sequencer.submit(order, [] {});
}

TEST(LaunchSequencerTest, SequencesOfEachGroupCountUp) {
  LaunchSequencer sequencer;
  LaunchOrder orders[] = {{.group = 1}, {.group = 2}, {.group = 1}};
  for (LaunchOrder& order : orders) ASSERT_TRUE(sequencer.submit(order, [] {}));
  EXPECT_EQ(orders[0].sequence, 0u);
  EXPECT_EQ(orders[1].sequence, 0u);
  EXPECT_EQ(orders[2].sequence, 1u);
}

TEST(LaunchSequencerTest, SequenceThatIsNotDueDoesNotEnter) {
  LaunchSequencer sequencer;
  ASSERT_TRUE(submit(sequencer, {.sequence = 0}));
  bool entered = false;
  LaunchOrder order{.sequence = 2};
  const Status status = sequencer.submit(order, [&] { entered = true; });
  EXPECT_EQ(status.error().code(), ErrorCode::kFailedPrecondition);
  EXPECT_THAT(status.error().message(), HasSubstr("has sequence 2, but 1 is due"));
  EXPECT_FALSE(entered);
  EXPECT_TRUE(submit(sequencer, {.sequence = 1}));
}

TEST(LaunchSequencerTest, LaterEpochStartsAgainAndEndsTheOlder) {
  LaunchSequencer sequencer;
  ASSERT_TRUE(submit(sequencer, {.epoch = 1}));
  ASSERT_TRUE(submit(sequencer, {.epoch = 3, .sequence = 0}));
  EXPECT_THAT(submit(sequencer, {.epoch = 1}).error().message(),
              HasSubstr("the group is in epoch 3"));
}

}  // namespace
}  // namespace millrace::devices
