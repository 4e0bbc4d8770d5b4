// Timers of one user of a loop that others use too. The loop is polled, on a clock that the test
// moves.
#include "millrace/core/loop/loop_timers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "millrace/core/async/combinators.h"

namespace millrace {
namespace {

using namespace std::chrono_literals;

class LoopTimersTest : public ::testing::Test {
 protected:
  void advance(Duration by) {
    clock_.advance(by);
    while (loop_->timers().next_deadline() && *loop_->timers().next_deadline() <= clock_.now())
      loop_->timers().run_due();
  }
  TimePoint in(Duration time) const { return clock_.now() + time; }

  ManualClock clock_;
  const std::unique_ptr<EventLoop> loop_ = create_uv_event_loop(clock_).value();
  std::unique_ptr<LoopTimers> mine_ = std::make_unique<LoopTimers>(*loop_);
};

TEST_F(LoopTimersTest, WorkRunsAtItsDeadlineInOrder) {
  std::vector<int> ran;
  mine_->timers().schedule(in(2s), [&] { ran.push_back(2); });
  mine_->timers().schedule(in(1s), [&] {
    ran.push_back(1);
    mine_->timers().schedule(in(500ms), [&] { ran.push_back(15); });
  });
  EXPECT_EQ(loop_->timers().pending(), 1U) << "one timer of the loop";
  advance(1s);
  EXPECT_EQ(ran, std::vector<int>({1}));
  advance(500ms);
  advance(500ms);
  EXPECT_EQ(ran, std::vector<int>({1, 15, 2}));
  EXPECT_EQ(loop_->timers().pending(), 0U);
}

TEST_F(LoopTimersTest, ACloseEndsItsOwnAlone) {
  LoopTimers others(*loop_);
  const Future<void> mine = sleep_until(in(1s), mine_->timers());
  const Future<void> of_others = sleep_until(in(1s), others.timers());
  const Future<void> of_the_loop = sleep_until(in(1s), loop_->timers());
  EXPECT_TRUE(mine_->close().ready());
  EXPECT_EQ(mine.result().error().code(), ErrorCode::kAborted);
  EXPECT_EQ(sleep_until(in(1s), mine_->timers()).result().error().code(), ErrorCode::kAborted);
  EXPECT_EQ(loop_->timers().pending(), 2U) << "its timer of the loop is gone";
  advance(1s);
  EXPECT_TRUE(of_others.result());
  EXPECT_TRUE(of_the_loop.result());
  EXPECT_TRUE(others.close().ready());
}

TEST_F(LoopTimersTest, ACloseFromItsOwnWorkCompletesAfterThat) {
  Future<void> closed;
  bool ready_inside = true;
  mine_->timers().schedule(in(1s), [&] {
    closed = mine_->close();
    ready_inside = closed.ready();
  });
  advance(1s);
  EXPECT_FALSE(ready_inside);
  EXPECT_TRUE(closed.ready());
}

TEST_F(LoopTimersTest, ItsQueueRefusesAlsoOnceItIsGone) {
  TimerQueue& timers = mine_->timers();
  EXPECT_TRUE(mine_->close().ready());
  mine_.reset();
  EXPECT_EQ(sleep_until(in(1s), timers).result().error().code(), ErrorCode::kAborted);
}

}  // namespace
}  // namespace millrace
