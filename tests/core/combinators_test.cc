#include "millrace/core/combinators.h"

#include <gtest/gtest.h>

#include "millrace/core/timer_queue.h"

namespace millrace {
namespace {

using namespace std::chrono_literals;

TEST(SleepUntilTest, CompletesWhenTheClockIsThere) {
  ManualClock clock;
  TimerQueue timers(clock);
  const Future<void> slept = sleep_until(clock.now() + 3s, timers);
  clock.advance(2s);
  timers.run_due();
  EXPECT_FALSE(slept.ready());
  clock.advance(1s);
  timers.run_due();
  EXPECT_TRUE(slept.ready() && slept.result().has_value());
}

TEST(SleepUntilTest, StopGivesCancelledAtOnce) {
  ManualClock clock;
  TimerQueue timers(clock);
  std::stop_source stop;
  const Future<void> slept = sleep_until(clock.now() + 3s, timers, stop.get_token());
  stop.request_stop();
  ASSERT_TRUE(slept.ready());
  EXPECT_EQ(slept.result().error().code(), ErrorCode::kCancelled);
  EXPECT_EQ(timers.pending(), 0u) << "the timer was taken back";
}

TEST(SleepUntilTest, AQueueThatGoesAwayAbortsIt) {
  ManualClock clock;
  Future<void> slept;
  {
    TimerQueue timers(clock);
    slept = sleep_until(clock.now() + 3s, timers);
  }
  ASSERT_TRUE(slept.ready());
  EXPECT_EQ(slept.result().error().code(), ErrorCode::kAborted);
}

}  // namespace
}  // namespace millrace
