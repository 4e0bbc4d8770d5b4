#include "millrace/core/combinators.h"

#include <gtest/gtest.h>

#include <vector>

#include "millrace/core/timer_queue.h"
#include "tests/support/allocation_count.h"

namespace millrace {
namespace {

using namespace std::chrono_literals;

TEST(WhenAllTest, LowestIndexWinsAndInputsAreLetGo) {
  std::vector<Promise<int>> promises(5);
  std::vector<Future<int>> futures;
  for (Promise<int>& p : promises) futures.push_back(p.future());
  const Ref<Cell<int>> first = futures[0].cell();
  const Future<void> all = when_all(futures);
  futures.clear();
  promises[3].set_error(Error(ErrorCode::kDataLoss, "three"));
  promises[1].set_error(Error(ErrorCode::kAborted, "one"));
  for (const int i : {4, 0, 2}) {
    EXPECT_FALSE(all.ready());
    promises[static_cast<std::size_t>(i)].set(i);
  }
  ASSERT_TRUE(all.ready());
  EXPECT_EQ(all.result().error().code(), ErrorCode::kAborted);
  EXPECT_TRUE(first->unique()) << "it is kept alive by nobody else";
}

TEST(WhenAllTest, OfNothingIsThereAtOnce) {
  EXPECT_TRUE(when_all(std::span<const Ref<AsyncValue>>()).ready());
}

TEST(WhenAllTest, AllocatesNothingInTheSteadyState) {
  if (!testing::kAllocationsCountable) GTEST_SKIP() << "a sanitizer sees every pooled block";
  constexpr std::size_t kMany = 300;
  PooledVector<Promise<int>> promises(kMany);
  const auto once = [&] {
    PooledVector<Future<int>> futures;
    for (Promise<int>& p : promises) {
      p = Promise<int>();
      futures.push_back(p.future());
    }
    const Future<void> all = when_all(futures);
    const Future<std::size_t> any = when_any(futures);
    for (Promise<int>& p : promises) p.set(1);
    return all.ready() && any.ready();
  };
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(once());
  testing::AllocationCount allocations;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(once());
  EXPECT_EQ(allocations.count(), 0) << allocations.stacks();
}

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
