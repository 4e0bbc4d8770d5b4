#include "millrace/core/async/future.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/async/timer_queue.h"

namespace millrace {
namespace {

static_assert(std::is_nothrow_move_constructible_v<Future<int>>);
static_assert(!std::is_copy_constructible_v<Promise<int>>);

TEST(FutureTest, ContinuationSeesTheValueOnItsExecutor) {
  SerialExecutor executor{SerialExecutor::InOrder{}};
  Promise<int> promise;
  Future<std::string> text =
      promise.future().then(executor, [](Result<int> r) { return std::to_string(*r); });

  promise.set(7);
  EXPECT_FALSE(text.ready());
  executor.run_until_idle();

  EXPECT_EQ(*text.result(), "7");
}

TEST(FutureTest, DroppedPromiseGivesAborted) {
  Future<int> future;
  {
    future = Promise<int>().future();
  }
  EXPECT_EQ(future.result().error().code(), ErrorCode::kAborted);
}

TEST(FutureTest, FutureOfFutureIsFlattened) {
  SerialExecutor executor{SerialExecutor::InOrder{}};
  Promise<int> inner;
  Future<int> outer = make_ready().then(executor, [&](Status) { return inner.future(); });
  executor.run_until_idle();
  EXPECT_FALSE(outer.ready());

  inner.set(3);

  EXPECT_EQ(*outer.result(), 3);
}

TEST(FutureTest, ThrowingContinuationGivesInternal) {
  Future<int> future = make_ready(1).then(
      inline_executor(), [](Result<int>) -> int { throw std::runtime_error("boom"); });
  EXPECT_EQ(future.result().error().code(), ErrorCode::kInternal);
  EXPECT_NE(future.result().error().message().find("boom"), std::string::npos);
}

TEST(FutureTest, ExecutorThatClosesGivesAborted) {
  Future<int> future;
  {
    SerialExecutor executor{SerialExecutor::InOrder{}};
    future = make_ready(1).then(executor, [](Result<int> r) { return *r; });
  }
  EXPECT_EQ(future.result().error().code(), ErrorCode::kAborted);
}

TEST(FutureTest, MoveOnlyValueReachesItsOneConsumer) {
  Future<std::unique_ptr<int>> future(std::make_unique<int>(4));
  Future<int> out =
      future.then(inline_executor(), [](Result<std::unique_ptr<int>> r) { return **r; });
  EXPECT_EQ(*out.result(), 4);
}

TEST(FutureTest, LongInlineChainDoesNotGrowTheStack) {  // AV-4
  Promise<int> first;
  Future<int> last = first.future();
  for (int i = 0; i < 200000; ++i) {
    last = last.then(inline_executor(), [](Result<int> r) { return *r + 1; });
  }
  first.set(0);
  EXPECT_EQ(*last.result(), 200000);
}

// Tells when the value that was set goes, of which the others are copies.
struct Original {
  explicit Original(bool& flag) : gone(&flag) {}
  Original(const Original& /*original*/) {}
  Original(Original&& other) noexcept : gone(std::exchange(other.gone, nullptr)) {}
  Original& operator=(const Original&) = delete;
  ~Original() {
    if (gone != nullptr) *gone = true;
  }
  bool* gone = nullptr;
};

// Every one of them, put off until the outermost returns, has a reference to the value: one of its
// own, the last that of the promise.
TEST(FutureTest, WaitersBeyondTheInlineDepthRunOnceInOrderAndLeaveNothingBehind) {
  AsyncValue::set_counting(true);
  bool gone = false;
  {
    std::vector<int> ran;
    std::size_t ran_inside = 99;
    Promise<Original> deep;
    {
      const Future<Original> value = deep.future();
      for (int i = 0; i < 3; ++i) {
        value
            .then(inline_executor(),
                  [&, i](const Result<Original>& copy) {
                    EXPECT_TRUE(copy);
                    EXPECT_TRUE(i == 2 || !gone) << "before the last has read it";
                    ran.push_back(i);
                  })
            .ignore();
      }
    }
    std::vector<Promise<void>> levels(AsyncValue::kMaxInlineDepth);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      levels[i]
          .future()
          .then(inline_executor(),
                [&, i](const Status&) {
                  if (i + 1 < levels.size()) return levels[i + 1].set_value();
                  deep.set(Original(gone));
                  ran_inside = ran.size();
                })
          .ignore();
    }
    levels[0].set_value();
    EXPECT_EQ(ran_inside, 0U) << "this is not deep enough";
    EXPECT_EQ(ran, (std::vector<int>{0, 1, 2}));
    EXPECT_TRUE(gone);
  }
  EXPECT_EQ(AsyncValue::counts().alive, 0);
  EXPECT_EQ(AsyncValue::counts().pending, 0);
  AsyncValue::set_counting(false);
}

// A thread of a foreign library wakes who waits; what runs or ends code of others is elsewhere.
TEST(FutureTest, OnAForeignThreadOnlyWhatIsBriefIsNotified) {  // AV-5
  SerialExecutor others{SerialExecutor::InOrder{}}, home{SerialExecutor::InOrder{}};
  Promise<int> promise;
  const Future<int> value = promise.future();
  std::vector<std::string> ran;
  const auto note = [&](const char* what) {
    return [&ran, what](const Result<int>& r) {
      ran.emplace_back(what);
      return *r;
    };
  };
  value.then(inline_executor(), note("first")).ignore();
  const Future<int> brief = value.then(brief_executor(), note("brief"));
  brief.then(inline_executor(), note("behind the brief one")).ignore();
  value.then(home, note("home")).ignore();
  value.then(inline_executor(), note("second")).ignore();
  std::jthread blocked([&] { EXPECT_EQ(*wait_blocking(brief), 7); });
  {
    const ForeignThreadScope scope(others);
    EXPECT_TRUE(ForeignThreadScope::here());
    promise.set(7);
  }
  EXPECT_FALSE(ForeignThreadScope::here());
  blocked.join();  // no executor has run
  EXPECT_EQ(ran, std::vector<std::string>{"brief"});
  home.run_until_idle();
  EXPECT_EQ(ran.size(), 1U) << "to submit may drop it";
  others.run_until_idle();
  home.run_until_idle();
  EXPECT_EQ(ran,
            (std::vector<std::string>{"brief", "first", "second", "behind the brief one", "home"}));
}

// Whether the executor runs them or has closed (AV-3).
TEST(FutureTest, WaitersLeftByAForeignThreadAreNotifiedWhenTheirExecutorCloses) {
  int notified = 0;
  Promise<int> promise;
  promise.future().then(inline_executor(), [&](Result<int>) { ++notified; }).ignore();
  {
    SerialExecutor others{SerialExecutor::InOrder{}};
    const ForeignThreadScope scope(others);
    promise.set(7);
    EXPECT_EQ(notified, 0);
  }
  EXPECT_EQ(notified, 1);
}

TEST(CombinatorsTest, DeadlineBeforeTheResultGivesDeadlineExceeded) {
  ManualClock clock;
  TimerQueue timers(clock);
  Promise<int> promise;
  Future<int> limited =
      with_deadline(promise.future(), clock.now() + std::chrono::milliseconds(5), timers);

  clock.advance(std::chrono::milliseconds(5));
  timers.run_due();

  EXPECT_EQ(limited.result().error().code(), ErrorCode::kDeadlineExceeded);
  promise.set(1);
}

TEST(CombinatorsTest, StopGivesCancelled) {
  std::stop_source stop;
  Promise<int> promise;
  Future<int> limited = with_stop(promise.future(), stop.get_token());
  stop.request_stop();
  EXPECT_EQ(limited.result().error().code(), ErrorCode::kCancelled);
}

TEST(ScopeTest, CloseWaitsForHoldersAndRefusesNew) {
  Scope scope("test scope");
  Scope::Hold hold = scope.hold();
  Future<void> closed = scope.close();
  EXPECT_FALSE(closed.ready());
  EXPECT_FALSE(scope.hold());
  hold.reset();
  EXPECT_TRUE(closed.ready());
  EXPECT_TRUE(scope.close().ready());
}

}  // namespace
}  // namespace millrace
