#include "millrace/core/async/scope.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/core/exec/make_executor.h"

namespace millrace {
namespace {

// Holds taken by threads of their own, one after the other, so that every stripe has some.
std::vector<StripedScope::Hold> holds_of_threads(StripedScope& scope, int threads) {
  std::vector<StripedScope::Hold> holds;
  for (int t = 0; t < threads; ++t) std::thread([&] { holds.push_back(scope.hold()); }).join();
  return holds;
}

TEST(StripedScopeTest, ClosesAtOnceWithoutHoldersAndTakesNoneThen) {
  StripedScope scope("a scope");
  EXPECT_FALSE(scope.closing());
  const Future<void> closed = scope.close();
  EXPECT_TRUE(scope.closing());
  EXPECT_TRUE(closed.ready());
  EXPECT_TRUE(scope.close().ready());
  EXPECT_FALSE(scope.hold());
  EXPECT_FALSE(scope.hold_late());
  EXPECT_EQ(scope.closed_error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(scope.closed_error().message(), "a scope is closed and takes no new work");
}

TEST(StripedScopeTest, ClosesWithTheLastHolderOfWhateverThread) {
  StripedScope scope("a scope");
  std::vector<StripedScope::Hold> holds = holds_of_threads(scope, 40);
  EXPECT_EQ(scope.holders(), 40U);
  holds.erase(holds.begin(), holds.begin() + 7);
  const Future<void> closed = scope.close();
  while (!holds.empty()) {
    EXPECT_FALSE(closed.ready()) << holds.size();
    EXPECT_EQ(scope.holders(), holds.size());
    holds.pop_back();
  }
  EXPECT_TRUE(closed.ready());
  EXPECT_TRUE(closed.result().has_value());
}

TEST(StripedScopeTest, LateHoldIsTakenWhileAnotherHolds) {
  StripedScope scope("a scope");
  StripedScope::Hold first = scope.hold();
  EXPECT_TRUE(scope.hold_late()) << "before the close, too";
  const Future<void> closed = scope.close();
  EXPECT_FALSE(scope.hold());
  StripedScope::Hold late = scope.hold_late();
  ASSERT_TRUE(late);
  EXPECT_EQ(scope.holders(), 2U);
  first.reset();
  EXPECT_FALSE(closed.ready());
  StripedScope::Hold later = scope.hold_late();
  late = std::move(later);  // ends the one before
  EXPECT_FALSE(closed.ready());
  EXPECT_EQ(scope.holders(), 1U);
  late.reset();
  EXPECT_TRUE(closed.ready());
  EXPECT_FALSE(scope.hold_late());
}

TEST(StripedScopeTest, TheWaiterForTheEndMayDestroyIt) {
  auto scope = std::make_unique<StripedScope>("a scope");
  StripedScope::Hold hold = scope->hold();
  scope->close().then(inline_executor(), [&](const Status&) { scope.reset(); }).ignore();
  EXPECT_NE(scope, nullptr);
  hold.reset();
  EXPECT_EQ(scope, nullptr);
}

// Threads enter and leave while others close: the end comes once, when no thread is inside.
TEST(StripedScopeTest, EndsOnceUnderManyThreads) {
  constexpr int kThreads = 6;
  for (int round = 0; round < 40; ++round) {
    StripedScope scope("a scope");
    std::atomic<int> inside{0}, ends{0}, taken{0};
    std::barrier start(kThreads + 2);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        while (true) {
          StripedScope::Hold hold = scope.hold();
          if (!hold) return;
          inside.fetch_add(1);
          taken.fetch_add(1);
          StripedScope::Hold more = scope.hold_late();
          EXPECT_TRUE(more);
          hold.reset();
          inside.fetch_sub(1);
        }
      });
    }
    for (int c = 0; c < 2; ++c) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        while (taken.load() < round) std::this_thread::yield();
        scope.close()
            .then(inline_executor(),
                  [&](const Status&) {
                    EXPECT_EQ(inside.load(), 0);
                    ends.fetch_add(1);
                  })
            .ignore();
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(ends.load(), 2) << "one of each close";
    EXPECT_EQ(scope.holders(), 0U);
  }
}

}  // namespace
}  // namespace millrace
