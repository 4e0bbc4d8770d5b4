#include "millrace/core/async/combinators.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "millrace/core/async/timer_queue.h"
#include "tests/support/allocation_count.h"

namespace millrace {
namespace {

using namespace std::chrono_literals;

TEST(WhenAllTest, LowestIndexWinsAndInputsAreReleased) {
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
  EXPECT_TRUE(first->unique()) << "no other reference keeps it alive";
}

TEST(WhenAllTest, EmptyListIsReadyAtOnce) {
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

TEST(TimerQueueTest, CloseEndsSleepsAndDeadlinesOnceAndWhatComesLaterAtOnce) {
  ManualClock clock;
  TimerQueue timers(clock);
  Promise<int> promise;
  std::stop_source stop;
  const Future<void> sleep = sleep_until(clock.now() + 5ms, timers, stop.get_token());
  const Future<int> limited = with_deadline(promise.future(), clock.now() + 5ms, timers);
  int dropped = 0;
  struct Count final : Work {
    int* count;
    explicit Count(int* c) : count(c) {}
    void run() noexcept override { ADD_FAILURE(); }
    void drop() noexcept override { ++*count; }
  } early(&dropped), late(&dropped);
  timers.schedule(clock.now() + 5ms, &early);
  timers.close();
  EXPECT_EQ(sleep.result().error().code(), ErrorCode::kAborted);
  EXPECT_EQ(limited.result().error().code(), ErrorCode::kAborted);
  EXPECT_EQ(dropped, 1);
  timers.close();
  const TimerQueue::Id id = timers.schedule(clock.now() + 5ms, &late);
  EXPECT_EQ(dropped, 2);
  EXPECT_FALSE(timers.cancel(id));
  EXPECT_EQ(sleep_until(clock.now() + 5ms, timers).result().error().code(), ErrorCode::kAborted);
  EXPECT_EQ(with_deadline(promise.future(), clock.now() + 5ms, timers).result().error().code(),
            ErrorCode::kAborted);
  promise.set(1);
  stop.request_stop();
  clock.advance(10ms);
  EXPECT_EQ(timers.run_due(), 0u);
  EXPECT_EQ(dropped, 2);
}

TEST(TimerQueueTest, DropPendingLeavesItOpen) {
  ManualClock clock;
  TimerQueue timers(clock);
  const Future<void> before = sleep_until(clock.now() + 5ms, timers);
  timers.drop_pending();
  EXPECT_EQ(before.result().error().code(), ErrorCode::kAborted);
  const Future<void> after = sleep_until(clock.now() + 5ms, timers);
  clock.advance(5ms);
  timers.run_due();
  EXPECT_TRUE(after.result());
}

TEST(TimerQueueTest, DropWaitsEndsSleepsAndDeadlinesAndLeavesTheRest) {
  ManualClock clock;
  TimerQueue timers(clock);
  Promise<int> promise;
  int ran = 0;
  timers.schedule(clock.now() + 4ms, [&] { ++ran; });
  const Future<void> sleep = sleep_until(clock.now() + 5ms, timers);
  const Future<int> limited = with_deadline(promise.future(), clock.now() + 3ms, timers);
  timers.schedule(clock.now() + 6ms, [&] { ++ran; });
  timers.drop_waits();
  EXPECT_EQ(sleep.result().error().code(), ErrorCode::kAborted);
  EXPECT_EQ(limited.result().error().code(), ErrorCode::kAborted);
  EXPECT_EQ(timers.pending(), 2u);
  EXPECT_EQ(timers.next_deadline(), clock.now() + 4ms);
  const Future<void> after = sleep_until(clock.now() + 5ms, timers);
  clock.advance(10ms);
  EXPECT_EQ(timers.run_due(), 3u);
  EXPECT_EQ(ran, 2);
  EXPECT_TRUE(after.result());
  promise.set(1);
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
  EXPECT_EQ(timers.pending(), 0u) << "the timer was cancelled";
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

struct ThrowingCopy {
  ThrowingCopy() = default;
  ThrowingCopy(ThrowingCopy&&) = default;
  ThrowingCopy(const ThrowingCopy& /*other*/) { throw std::runtime_error("no copy"); }
};

TEST(CombinatorsTest, AValueWhoseCopyThrowsIsAnError) {
  TimerQueue timers(steady_clock());
  Promise<ThrowingCopy> promise, other;
  const auto timed =
      with_deadline(promise.future(), steady_clock().now() + std::chrono::hours(1), timers);
  const auto nested =
      make_ready().then(inline_executor(), [&](const Status&) { return other.future(); });
  promise.set(ThrowingCopy());
  other.set(ThrowingCopy());
  EXPECT_EQ(timed.result().error().code(), ErrorCode::kInternal);
  EXPECT_EQ(nested.result().error().code(), ErrorCode::kInternal);
  timers.close();
}

}  // namespace
}  // namespace millrace
