#include "millrace/core/async/blocking.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "millrace/core/base/clock.h"

namespace millrace {
namespace {

// Real threads: what is tested is how one of them sleeps and is woken.

TEST(BlockingTest, ValueThatIsThereIsTakenAtOnce) {
  EXPECT_EQ(wait_blocking(Future<int>(7)).value(), 7);
}

TEST(BlockingTest, ErrorIsTaken) {
  Promise<int> promise;
  Future<int> future = promise.future();
  std::thread other([&] { promise.set_error(Error(ErrorCode::kInternal, "broke")); });
  EXPECT_EQ(wait_blocking(future).error().message(), "broke");
  other.join();
}

// Completed before, while and after the waiter looks, and when it sleeps: after 0 to 150 us.
TEST(BlockingTest, EveryWaiterWakesWheneverItsValueComes) {
  constexpr int kRounds = 200;
  std::vector<Promise<int>> promises(kRounds);
  std::vector<Future<int>> futures;
  for (Promise<int>& promise : promises) futures.push_back(promise.future());
  std::atomic<int> begun{0};
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      while (begun.load() <= i) std::this_thread::yield();
      const TimePoint then = steady_clock().now() + std::chrono::microseconds(i % 151);
      while (steady_clock().now() < then) {
      }
      promises[static_cast<std::size_t>(i)].set(Result<int>(i));
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    begun.store(i + 1);
    ASSERT_EQ(wait_blocking(futures[static_cast<std::size_t>(i)]).value(), i);
  }
  other.join();
}

// Completes the promise at the second call.
class Completer final : public Executor {
 public:
  void submit(Work* work) noexcept override { work->drop(); }
  bool run_some() noexcept override {
    if (++calls == 2) promise.set(Result<int>(7));
    return calls == 2;
  }
  Promise<int> promise;
  int calls = 0;
};

TEST(BlockingTest, AThreadRunsWhatItsValueComesOf) {
  Completer completer;
  const Future<int> future = completed_on(completer, completer.promise.future());
  EXPECT_EQ(wait_blocking(future).value(), 7);
  EXPECT_EQ(completer.calls, 2);
  EXPECT_EQ(wait_blocking(future).value(), 7);
  EXPECT_EQ(completer.calls, 2);
}

// What completes there waits until the outermost notification is over (AV-4): whatever needs it to
// go on would wait for the one who waits.
TEST(BlockingTest, InsideANotificationAThreadRunsNothingMeanwhile) {
  Completer completer;
  const Future<int> future = completed_on(completer, completer.promise.future());
  Promise<int> begin;
  std::atomic<bool> waits{false};
  std::thread other([&] {
    while (!waits.load()) std::this_thread::yield();
    completer.promise.set(Result<int>(7));
  });
  const Future<int> waited = begin.future().then(inline_executor(), [&](const Result<int>&) {
    waits.store(true);
    return wait_blocking(future);
  });
  begin.set(Result<int>(1));
  EXPECT_EQ(waited.take().value(), 7);
  EXPECT_EQ(completer.calls, 0);
  other.join();
}

TEST(BlockingTest, ItHasItsErrorAndMayBeReleasedBefore) {
  Completer completer;
  Promise<int> promise;
  const Future<int> future = completed_on(completer, promise.future());
  completed_on(completer, promise.future()).ignore();
  promise.set_error(Error(ErrorCode::kInternal, "broke"));
  EXPECT_EQ(wait_blocking(future).error().message(), "broke");
  EXPECT_EQ(wait_blocking(completed_on(completer, future)).error().message(), "broke");
  EXPECT_EQ(completer.calls, 0);
}

TEST(BlockingTest, ManyThreadsWaitForOneValue) {
  for (int round = 0; round < 200; ++round) {
    Promise<int> promise;
    const Future<int> future = promise.future();
    std::vector<std::thread> waiters;
    for (int t = 0; t < 4; ++t) {
      waiters.emplace_back([&] { EXPECT_EQ(wait_blocking(future).value(), round); });
    }
    if (round % 2 == 0) std::this_thread::yield();
    promise.set(Result<int>(round));
    for (std::thread& waiter : waiters) waiter.join();
  }
}

}  // namespace
}  // namespace millrace
