// The contract of all bridges (completion_queue.h), on every kind of loop that a user may own. Real
// threads and descriptors: to be woken by another thread is what a bridge is for. Nothing sleeps.
#include <event2/event.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/core/loop/completion_fd.h"
#include "millrace/core/loop/event_bridge.h"
#include "millrace/core/loop/uv_bridge.h"
#include "tests/core/user_loop.h"
#include "tests/support/entries.h"

namespace millrace {
namespace {

using std::chrono::microseconds;
using testing::entries;
using testing::LoopKind;
using testing::threads_down_to;
using testing::UserLoop;

class BridgeTest : public ::testing::TestWithParam<LoopKind> {
 protected:
  std::unique_ptr<UserLoop> loop = GetParam().make();
  std::shared_ptr<LoopBridge> bridge = loop->make_bridge();
};

std::string kind_name(const ::testing::TestParamInfo<LoopKind>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Loops, BridgeTest, ::testing::ValuesIn(testing::loop_kinds()), kind_name);

ErrorCode code_of(const Future<int>& future) {
  if (!future.ready() || future.result()) return ErrorCode::kUnknown;
  return future.result().error().code();
}

TEST_P(BridgeTest, ContinuationsRunInOrderOnTheLoopAndNeverInside) {  // CQ-1
  std::vector<int> order;
  for (int i = 0; i < 5; ++i) {
    make_ready(i).then(*bridge, [&](Result<int> r) { order.push_back(*r); }).ignore();
  }
  EXPECT_TRUE(order.empty());
  loop->run();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_P(BridgeTest, SubmittedInsideACallbackRunsAfterIt) {
  std::vector<int> order;
  post(bridge->executor(), [&] {
    post(bridge->executor(), [&] { order.push_back(2); });
    make_ready(3).then(*bridge, [&](Result<int> r) { order.push_back(*r); }).ignore();
    order.push_back(1);
  });
  loop->run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST_P(BridgeTest, ValueOfAnotherThreadArrivesOnTheLoop) {
  Promise<int> promise;
  std::thread::id here;
  int seen = 0;
  promise.future()
      .then(*bridge,
            [&](Result<int> r) {
              here = std::this_thread::get_id();
              seen = *r;
            })
      .ignore();
  std::thread other;
  loop->call([&] { other = std::thread([&] { promise.set(7); }); });
  loop->run();
  other.join();
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(here, std::this_thread::get_id());
}

TEST_P(BridgeTest, ContinuationRunsInThePlaceOfItsValue) {
  std::vector<int> order;
  Promise<int> promise;
  promise.future().then(*bridge, [&](Result<int> r) { order.push_back(*r); }).ignore();
  promise.set(1);
  post(bridge->executor(), [&] { order.push_back(2); });
  loop->run();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_P(BridgeTest, ErrorsAndMoveOnlyValuesPass) {
  Promise<std::unique_ptr<int>> promise;
  Promise<int> failed;
  int value = 0;
  std::string words;
  promise.future().then(*bridge, [&](Result<std::unique_ptr<int>> r) { value = **r; }).ignore();
  failed.future().then(*bridge, [&](Result<int> r) { words = r.error().message(); }).ignore();
  promise.set(std::make_unique<int>(5));
  failed.set_error(Error(ErrorCode::kDataLoss, "lost"));
  EXPECT_EQ(value, 0);
  loop->run();
  EXPECT_EQ(value, 5);
  EXPECT_EQ(words, "lost");
}

Task<int> sum_of(std::vector<Future<int>> values, std::vector<std::thread::id>* threads) {
  int sum = 0;
  for (Future<int>& f : values) {
    const Result<int> r = co_await f;
    threads->push_back(std::this_thread::get_id());
    if (!r) co_return r.error();
    sum += *r;
  }
  co_return sum;
}

TEST_P(BridgeTest, CoroutineContinuesOnTheLoopAfterEveryAwait) {
  std::vector<Promise<int>> promises(3);
  std::vector<Future<int>> values;
  for (auto& p : promises) values.push_back(p.future());
  std::vector<std::thread::id> threads;
  const Future<int> sum = spawn(*bridge, sum_of(values, &threads));
  std::thread other;
  loop->call([&] {
    other = std::thread([&] {
      for (int i = 0; i < 3; ++i) promises[static_cast<std::size_t>(i)].set(i + 1);
    });
  });
  loop->run();
  other.join();
  EXPECT_EQ(sum.result().value(), 6);
  EXPECT_EQ(threads, std::vector<std::thread::id>(3, std::this_thread::get_id()));
}

TEST_P(BridgeTest, StopCancelsATaskOnTheLoop) {
  Promise<int> never;
  std::stop_source stop;
  std::vector<std::thread::id> threads;
  const Future<int> sum = spawn(*bridge, sum_of({never.future()}, &threads), stop.get_token());
  std::thread other;
  loop->call([&] { other = std::thread([&] { stop.request_stop(); }); });
  loop->run();
  other.join();
  EXPECT_EQ(code_of(sum), ErrorCode::kCancelled);
  EXPECT_EQ(threads, std::vector<std::thread::id>{std::this_thread::get_id()});
}

TEST_P(BridgeTest, WakeUpsAreCoalesced) {  // CQ-2
  loop->turn();
  const std::uint64_t before = bridge->stats().wake_ups;
  int ran = 0;
  for (int i = 0; i < 1000; ++i) post(bridge->executor(), [&] { ++ran; });
  EXPECT_EQ(bridge->stats().wake_ups, before + 1);
  loop->run();
  EXPECT_EQ(ran, 1000);
  // One more for each drain that its limit has ended.
  EXPECT_LE(bridge->stats().wake_ups, before + 1 + 1000 / DrainLimits().max + 1);
}

TEST_P(BridgeTest, DrainIsBoundedInCount) {  // CQ-3
  const auto bounded = loop->make_bridge({.limits = {.max = 10, .budget = Duration::max()}});
  loop->turn();
  int ran = 0, most = 0, turns = 0;
  for (int i = 0; i < 95; ++i) post(bounded->executor(), [&] { ++ran; });
  while (ran < 95 && turns < 1000) {
    const int before = ran;
    loop->turn();
    most = std::max(most, ran - before);
    ++turns;
  }
  EXPECT_EQ(ran, 95);
  EXPECT_EQ(most, 10);
}

TEST_P(BridgeTest, DrainIsBoundedInTime) {  // CQ-3
  ManualClock clock;
  const auto bounded =
      loop->make_bridge({.limits = {.max = 1000, .budget = microseconds(1000)}, .clock = &clock});
  loop->turn();
  int ran = 0, most = 0, turns = 0;
  for (int i = 0; i < 20; ++i) {
    post(bounded->executor(), [&] {
      ++ran;
      clock.advance(microseconds(400));
    });
  }
  while (ran < 20 && turns < 1000) {
    const int before = ran;
    loop->turn();
    most = std::max(most, ran - before);
    ++turns;
  }
  EXPECT_EQ(ran, 20);
  EXPECT_EQ(most, 3);  // the third begins before the millisecond is over
}

TEST_P(BridgeTest, IdleBridgeDoesNotKeepTheLoopAlive) {  // CQ-4
  loop->run();  // a loop that goes on would run into the time limit of the test
  int ran = 0;
  make_ready(1).then(*bridge, [&](Result<int>) { ++ran; }).ignore();
  loop->run();
  loop->run();
  EXPECT_EQ(ran, 1);
}

TEST_P(BridgeTest, PendingContinuationKeepsTheLoopAliveAlsoAfterAnIdleRun) {  // CQ-4
  loop->run();
  Promise<int> promise;
  int seen = 0;
  promise.future().then(*bridge, [&](Result<int> r) { seen = *r; }).ignore();
  EXPECT_EQ(bridge->stats().waiting, 1U);
  std::thread other;
  loop->call([&] { other = std::thread([&] { promise.set(3); }); });
  loop->run();  // returns when no coroutine waits
  other.join();
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(bridge->stats().waiting, 0U);
}

TEST_P(BridgeTest, IdleBridgeWakesForOtherThreadsWhileTheUsersOwnWorkKeepsTheLoopAlive) {
  loop->run();
  loop->hold(true);
  std::thread other;
  Promise<int> promise;
  loop->call([&] {
    other = std::thread([&] {
      // From here the wait is entered, the value set and work posted, all away from the loop.
      promise.future().then(*bridge, [&](Result<int>) { loop->hold(false); }).ignore();
      promise.set(1);
    });
  });
  loop->run();
  other.join();
}

TEST_P(BridgeTest, WaitOfAnotherThreadKeepsTheLoopAlive) {
  loop->run();
  loop->hold(true);
  Promise<int> promise;
  std::thread setter;
  int seen = 0;
  std::thread other;
  loop->call([&] {
    other = std::thread([&] {
      promise.future().then(*bridge, [&](Result<int> r) { seen = *r; }).ignore();
      // The loop's own reason to go on ends; only the wait is left.
      post(bridge->executor(), [&] {
        loop->hold(false);
        setter = std::thread([&] { promise.set(9); });
      });
    });
  });
  loop->run();
  other.join();
  setter.join();
  EXPECT_EQ(seen, 9);
}

TEST_P(BridgeTest, TwoBridgesOnOneLoopDoNotKnowOfEachOther) {
  const auto second = loop->make_bridge();
  Promise<int> promise;
  int first_seen = 0, second_seen = 0;
  promise.future().then(*bridge, [&](Result<int> r) { first_seen = r ? *r : -1; }).ignore();
  promise.future().then(*second, [&](Result<int> r) { second_seen = r ? *r : -1; }).ignore();
  const Future<void> closed = bridge->close();
  std::thread other;
  closed.then(*second, [&](const Status&) { other = std::thread([&] { promise.set(4); }); })
      .ignore();
  loop->run();
  other.join();
  EXPECT_EQ(first_seen, -1);
  EXPECT_EQ(second_seen, 4);
}

TEST_P(BridgeTest, CloseCancelsEveryWaiterOnTheLoopThenCompletesAndNothingRunsAfter) {  // CQ-5
  Promise<int> promise;
  std::vector<std::string> events;
  const auto note = [&](const char* who, const Result<int>& r) {
    EXPECT_TRUE(on_bridged_thread());
    events.push_back(std::string(who) + (r ? "" : ": " + std::string(to_string(r.error().code()))));
  };
  promise.future().then(*bridge, [&](Result<int> r) { note("first", r); }).ignore();
  promise.future().then(*bridge, [&](Result<int> r) { note("second", r); }).ignore();
  std::vector<std::thread::id> threads;
  const Future<int> task = spawn(*bridge, sum_of({promise.future()}, &threads));
  loop->turn();
  Future<void> closed;
  std::thread closer([&] { closed = bridge->close(); });
  closer.join();
  EXPECT_TRUE(events.empty());  // never inside the call
  closed.then(inline_executor(), [&](const Status&) { events.emplace_back("closed"); }).ignore();
  loop->run();
  EXPECT_EQ(events, (std::vector<std::string>{"first: CANCELLED", "second: CANCELLED", "closed"}));
  EXPECT_EQ(code_of(task), ErrorCode::kCancelled);
  EXPECT_EQ(threads, std::vector<std::thread::id>{std::this_thread::get_id()});
  // Late values, and work after the end.
  promise.set(1);
  const Future<int> late = make_ready(1).then(*bridge, [&](Result<int> r) {
    events.emplace_back("late");
    return *r;
  });
  loop->run();
  EXPECT_EQ(code_of(late), ErrorCode::kAborted);
  EXPECT_EQ(events.size(), 3U);
  EXPECT_TRUE(bridge->close().ready());
}

TEST_P(BridgeTest, CloseRunsWhatHasItsValueAndDropsWhatKeepsComing) {
  int ready = 0, again = 0;
  std::function<void()> forever = [&] {
    ++again;
    post(bridge->executor(), forever);
  };
  make_ready(1).then(*bridge, [&](Result<int> r) { ready = *r; }).ignore();
  post(bridge->executor(), forever);
  const Future<void> closed = bridge->close();
  loop->run();
  EXPECT_TRUE(closed.ready());
  EXPECT_EQ(ready, 1);
  EXPECT_GE(again, 1);
}

TEST_P(BridgeTest, ClosedInsideACallbackCompletes) {
  Promise<int> promise;
  bool cancelled = false;
  promise.future().then(*bridge, [&](Result<int> r) { cancelled = !r; }).ignore();
  Future<void> closed;
  post(bridge->executor(), [&] { closed = bridge->close(); });
  loop->run();
  EXPECT_TRUE(closed.ready());
  EXPECT_TRUE(cancelled);
}

TEST_P(BridgeTest, DestroyedWithWorkInItRunsNothing) {
  Promise<int> promise;
  int ran = 0;
  const Future<int> waiting = promise.future().then(*bridge, [&](Result<int>) { return ++ran; });
  const Future<int> queued = make_ready(1).then(*bridge, [&](Result<int>) { return ++ran; });
  std::vector<std::thread::id> threads;
  const Future<int> task = spawn(*bridge, sum_of({promise.future()}, &threads));
  bridge.reset();
  EXPECT_EQ(code_of(waiting), ErrorCode::kAborted);
  EXPECT_EQ(code_of(queued), ErrorCode::kAborted);
  EXPECT_EQ(code_of(task), ErrorCode::kAborted);
  promise.set(1);
  loop->run();
  EXPECT_EQ(ran, 0);
  EXPECT_TRUE(threads.empty());
}

TEST_P(BridgeTest, MayBeDestroyedByItsOwnCallback) {
  int after = 0;
  post(bridge->executor(), [&] { bridge.reset(); });
  post(bridge->executor(), [&] { ++after; });
  loop->run();
  EXPECT_EQ(bridge, nullptr);
  EXPECT_EQ(after, 0);
}

TEST(BridgeOfNothingTest, LoopThatIsANullPointerIsAnInvalidArgument) {
  EXPECT_EQ(UvBridge::create(nullptr).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(EventBridge::create(nullptr).error().code(), ErrorCode::kInvalidArgument);
}

TEST_P(BridgeTest, MadeAndDestroyedAThousandTimesLeaksNoDescriptorAndNoThread) {
  loop->run();
  const std::size_t descriptors = entries("/proc/self/fd"), threads = entries("/proc/self/task");
  Promise<int> never;  // outlives every bridge, which nevertheless keeps nothing
  for (int i = 0; i < 1000; ++i) {
    const auto next = loop->make_bridge();
    if (i % 3 != 0) never.future().then(*next, [](Result<int>) {}).ignore();
    if (i % 2 == 0) {
      const Future<void> closed = next->close();
      loop->run();
      ASSERT_TRUE(closed.ready());
    }
  }
  loop->run();
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
  EXPECT_LE(threads_down_to(threads), threads);
}

// Only Asio can say that no thread runs it.
bool counts_as_maker(const LoopKind& kind) { return std::string_view(kind.name) != "Asio"; }

TEST_P(BridgeTest, CallbackThatMakesABridgeRunsOnABridgedThread) {
  bridge.reset();
  bool before = true, inside = false, after = true;
  loop->call([&] {
    before = on_bridged_thread();
    auto made = loop->make_bridge();
    inside = on_bridged_thread();
    made.reset();
    after = on_bridged_thread();
  });
  loop->run();
  EXPECT_FALSE(before);
  EXPECT_TRUE(inside) << "before any drain";
  EXPECT_FALSE(after);
}

TEST_P(BridgeTest, ThreadCountsAsBridgedUntilTheClose) {
  EXPECT_EQ(on_bridged_thread(), counts_as_maker(GetParam()));
  loop->run();
  loop->turn();
  static_cast<void>(bridge->executor());
  post(bridge->executor(), [] { EXPECT_TRUE(on_bridged_thread()); });
  loop->run();
  EXPECT_TRUE(on_bridged_thread());
  bool elsewhere = true;
  std::thread([&] { elsewhere = on_bridged_thread(); }).join();
  EXPECT_FALSE(elsewhere);
  static_cast<void>(bridge->close());
  loop->run();
  EXPECT_FALSE(on_bridged_thread());
}

TEST_P(BridgeTest, ThreadThatOnlyMadeTheBridgeCountsUntilAnotherOneDrains) {
  EXPECT_EQ(on_bridged_thread(), counts_as_maker(GetParam()));
  bool there = false;
  std::thread([&] {
    EXPECT_FALSE(on_bridged_thread());
    post(bridge->executor(), [&] { there = on_bridged_thread(); });
    loop->run();
  }).join();
  EXPECT_TRUE(there);
  EXPECT_FALSE(on_bridged_thread());
}

TEST(BridgedThreadScopeTest, ThreadCountsAsBridgedUntilTheLastScopeIsGone) {
  EXPECT_FALSE(on_bridged_thread());
  {
    const BridgedThreadScope outer;
    BridgedThreadScope inner;
    const BridgedThreadScope moved = std::move(inner);
    EXPECT_TRUE(on_bridged_thread());
    bool elsewhere = true;
    std::thread([&] { elsewhere = on_bridged_thread(); }).join();
    EXPECT_FALSE(elsewhere);
  }
  EXPECT_FALSE(on_bridged_thread());
}

TEST_P(BridgeTest, WaitFromTheLoopEndsTheProcessWithASentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Promise<int> promise;
  const Future<int> future = promise.future();
  EXPECT_DEATH(
      {
        post(bridge->executor(), [&] { static_cast<void>(wait_blocking(future)); });
        loop->run();
      },
      "would stop the loop");
}

TEST_P(BridgeTest, AClosedBridgeIsDestroyedInTheChildOfAForkToo) {  // CQ-6
  const Future<void> closed = bridge->close();
  loop->run();
  ASSERT_TRUE(closed.ready());
  const pid_t child = fork();
  if (child == 0) {
    bridge.reset();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// What the child saw, as its exit code: a bit for each thing that was as it should be.
TEST_P(BridgeTest, ForkAfterCreateGivesAClearError) {  // CQ-6
  loop->run();
  Promise<int> promise;
  int seen = 0;
  promise.future().then(*bridge, [&](Result<int> r) { seen = *r; }).ignore();
  const pid_t child = fork();
  if (child == 0) {
    const auto refused = [](const Future<int>& f) {
      return code_of(f) == ErrorCode::kFailedPrecondition &&
             f.result().error().message().find("fork") != std::string::npos;
    };
    const auto f = [](Result<int> r) { return r.value_or(0); };
    Promise<int> mine;
    std::vector<std::thread::id> threads;
    int good = 0;
    if (refused(make_ready(1).then(*bridge, f))) good |= 1;
    if (refused(mine.future().then(*bridge, f))) good |= 2;
    if (refused(spawn(*bridge, sum_of({mine.future()}, &threads)))) good |= 4;
    const Future<void> closed = bridge->close();
    if (closed.ready() && closed.result().error().code() == ErrorCode::kFailedPrecondition)
      good |= 8;
    bridge.reset();
    if (!on_bridged_thread()) good |= 16;
    _exit(good);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 31);
  // The parent's bridge is as it was.
  std::thread other;
  loop->call([&] { other = std::thread([&] { promise.set(2); }); });
  loop->run();
  other.join();
  EXPECT_EQ(seen, 2);
}

TEST_P(BridgeTest, ChildThatRevivesTheLoopHasItWithoutTheBridgeAndTheParentKeepsIts) {  // CQ-6
  for (int reset_before = 0; reset_before < 3; ++reset_before) {
    auto shared = loop->make_bridge();
    int seen = 0;
    post(shared->executor(), [&] { ++seen; });  // a wake-up that both processes could hear
    const pid_t child = fork();
    if (child == 0) {
      bool called = false;
      if (reset_before == 0) shared.reset();
      loop->revive();
      if (reset_before == 1) shared.reset();
      loop->turn();
      if (reset_before == 2) shared.reset();
      loop->turn();
      loop->call([&] { called = true; });
      for (int turns = 0; turns < 10 && !called; ++turns) loop->turn();
      _exit(called && seen == 0 && !HasFailure() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    loop->turn();
    EXPECT_EQ(seen, 1);
  }
}

TEST_P(BridgeTest, AForkInsideItsWorkRunsNoMoreOfItInTheChild) {  // CQ-6
  for (const bool reset : {false, true}) {
    auto shared = loop->make_bridge();
    pid_t child = -1;
    int seen = 0;
    post(shared->executor(), [&] {
      child = fork();
      if (child == 0 && reset) shared.reset();
    });
    post(shared->executor(), [&] { ++seen; });
    for (int turns = 0; turns < 10 && (child == -1 || (child != 0 && seen == 0)); ++turns)
      loop->turn();
    if (child == 0) _exit(seen == 0 && !HasFailure() ? 0 : 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(seen, 1);
  }
}

}  // namespace
}  // namespace millrace
