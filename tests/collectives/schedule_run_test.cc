// One step at a time; whole schedules are in schedule_test.cc.
#include "millrace/collectives/schedule_run.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace millrace::collectives {
namespace {

using Bytes = std::vector<std::byte>;
using Place = Slice::Place;

Bytes counted(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

// Runs have an input and an output of 100 bytes each.
class ScheduleRunTest : public ::testing::Test {
 protected:
  ScheduleRun run(std::vector<Step> steps, std::vector<Slice> slices) {
    ScheduleArrays arrays;
    arrays.inputs.emplace_back(input_);
    arrays.outputs.emplace_back(output_);
    return ScheduleRun({.steps = std::move(steps), .slices = std::move(slices), .scratch_bytes = 4},
                       std::move(arrays), {});
  }
  const Bytes input_ = counted(100);
  Bytes output_ = Bytes(100);
};

TEST_F(ScheduleRunTest, AMessageOfOneLongPieceIsGivenWhereItLies) {
  const Step send{.kind = Step::Kind::kSend, .peer = 3, .count = 1};
  ScheduleRun one = run({send}, {{Place::kInput, 0, 10, 40}});
  ASSERT_EQ(one.advance(), ScheduleRun::Next::kSend);
  EXPECT_EQ(one.peer(), 3);
  EXPECT_TRUE(one.whole_message(41).empty()) << "it is shorter";
  const auto whole = one.whole_message(40);
  EXPECT_EQ(whole.data(), input_.data() + 10);
  EXPECT_EQ(whole.size(), 40U);
  EXPECT_EQ(one.advance(), ScheduleRun::Next::kDone);
}

TEST_F(ScheduleRunTest, AMessageOfSeveralPiecesIsPutTogether) {
  const Step send{.kind = Step::Kind::kSend, .peer = 3, .count = 2};
  ScheduleRun two = run({send}, {{Place::kInput, 0, 50, 2}, {Place::kInput, 0, 7, 1}});
  ASSERT_EQ(two.advance(), ScheduleRun::Next::kSend);
  EXPECT_TRUE(two.whole_message(0).empty());
  EXPECT_EQ(two.message(), (Bytes{std::byte{50}, std::byte{51}, std::byte{7}}));
  EXPECT_EQ(two.advance(), ScheduleRun::Next::kDone);
}

TEST_F(ScheduleRunTest, AMessageOfAnotherLengthIsRefusedAndNothingOfItIsRead) {
  const Step receive{.kind = Step::Kind::kReceive, .peer = 3, .count = 1};
  ScheduleRun takes = run({receive}, {{Place::kOutput, 0, 10, 3}});
  ASSERT_EQ(takes.advance(), ScheduleRun::Next::kReceive);
  net::Frame longer{.payload = counted(4)}, message{.payload = counted(3)};
  EXPECT_EQ(takes.take(longer).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(output_, Bytes(100));
  EXPECT_TRUE(takes.take(message));
  EXPECT_EQ(output_[12], std::byte{2});
  EXPECT_EQ(takes.advance(), ScheduleRun::Next::kDone);
}

TEST_F(ScheduleRunTest, AMessageIsFoldedWhereItCameTo) {
  const Step receive{.kind = Step::Kind::kReceive, .peer = 3, .count = 2};
  const Step fold{.kind = Step::Kind::kFold, .last = true, .first = 2, .count = 4};
  ScheduleRun folds = run({receive, fold}, {{Place::kMessage, 0, 0, 8},
                                            {Place::kMessage, 0, 8, 8},
                                            {Place::kOutput, 0, 20, 8},
                                            {Place::kMessage, 0, 8, 8},
                                            {Place::kInput, 0, 30, 8},
                                            {Place::kMessage, 0, 0, 8}});
  ASSERT_EQ(folds.advance(), ScheduleRun::Next::kReceive);
  const Bytes came = counted(16);
  net::Frame message{.lent = came};
  ASSERT_TRUE(folds.take(message));
  EXPECT_TRUE(message.payload.empty()) << "no copy of it is made";
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_EQ(output_[20 + i], static_cast<std::byte>(i + (8 + i) + (30 + i)));
  EXPECT_EQ(folds.advance(), ScheduleRun::Next::kDone);
}

TEST_F(ScheduleRunTest, AMessageThatIsNeededLaterIsKept) {
  const Step receive{.kind = Step::Kind::kReceive, .peer = 3, .count = 1};
  const Step send{.kind = Step::Kind::kSend, .peer = 3, .count = 1};
  ScheduleRun keeps = run({receive, send}, {{Place::kScratch, 0, 0, 4}});
  ASSERT_EQ(keeps.advance(), ScheduleRun::Next::kReceive);
  Bytes came = counted(4);
  net::Frame message{.lent = came};
  ASSERT_TRUE(keeps.take(message));
  came.assign(4, std::byte{99});
  ASSERT_EQ(keeps.advance(), ScheduleRun::Next::kSend);
  EXPECT_EQ(keeps.message(), counted(4));
}

}  // namespace
}  // namespace millrace::collectives
