#include "millrace/core/async/key_value_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/timer_queue.h"
#include "tests/support/allocation_count.h"

namespace millrace {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class KeyValueStoreTest : public ::testing::Test {
 protected:
  ManualClock clock_;
  TimerQueue timers_{clock_};
  LocalKeyValueStore store_{timers_};
};

TEST_F(KeyValueStoreTest, GetWaitsForThePutAndTryGetDoesNot) {
  const std::string value("a\0b", 3);
  const Future<std::string> first = store_.get("key");
  const Future<std::string> second = store_.get("key");
  EXPECT_EQ(store_.try_get("key").result().error().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(store_.put("other", "x").result());
  EXPECT_FALSE(first.ready());
  EXPECT_TRUE(store_.put("key", value).result());
  EXPECT_EQ(first.result().value(), value);
  EXPECT_EQ(second.result().value(), value);
  EXPECT_EQ(store_.get("key").result().value(), value);
  EXPECT_EQ(store_.try_get("key").result().value(), value);
}

TEST_F(KeyValueStoreTest, KeyKeepsItsFirstValue) {
  EXPECT_TRUE(store_.put("key", "one").result());
  EXPECT_TRUE(store_.put("key", "one").result()) << "again the same";
  const Future<void> other = store_.put("key", "two");
  EXPECT_EQ(other.result().error().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(store_.get("key").result().value(), "one");
}

TEST_F(KeyValueStoreTest, DeadlineNamesTheKeyAndStopEndsTheWait) {
  const Future<std::string> late = store_.get("late", {.deadline = clock_.now() + 5s});
  std::stop_source stop;
  const Future<std::string> stopped = store_.get("late", {.stop = stop.get_token()});
  clock_.advance(4s);
  timers_.run_due();
  EXPECT_FALSE(late.ready());
  clock_.advance(1s);
  timers_.run_due();
  ASSERT_TRUE(late.ready());
  EXPECT_EQ(late.result().error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(late.result().error().message(), HasSubstr("the key 'late' was not put"));
  stop.request_stop();
  ASSERT_TRUE(stopped.ready());
  EXPECT_EQ(stopped.result().error().code(), ErrorCode::kCancelled);
  EXPECT_TRUE(store_.put("late", "x").result()) << "no get waits any more";
}

TEST_F(KeyValueStoreTest, AGetThatComesTooLateAlwaysFails) {
  EXPECT_TRUE(store_.put("there", "x").result());
  std::stop_source stop;
  stop.request_stop();
  for (const char* key : {"there", "missing"}) {
    const Future<std::string> late = store_.get(key, {.deadline = clock_.now()});
    ASSERT_TRUE(late.ready() && !late.result());
    EXPECT_EQ(late.result().error().code(), ErrorCode::kDeadlineExceeded);
    EXPECT_THAT(late.result().error().message(), HasSubstr(key));
    const Future<std::string> stopped = store_.get(key, {.stop = stop.get_token()});
    ASSERT_TRUE(stopped.ready() && !stopped.result());
    EXPECT_EQ(stopped.result().error().code(), ErrorCode::kCancelled);
  }
}

TEST_F(KeyValueStoreTest, GetsThatEndEarlyLeaveNothingBehind) {
  if (!testing::kAllocationsCountable) GTEST_SKIP() << "the sanitizer has the allocator";
  const auto allocations_of = [this](int gets) {
    const testing::AllocationCount allocations;
    for (int i = 0; i < gets; ++i) {
      const Future<std::string> late = store_.get("late", {.deadline = clock_.now() + 1s});
      clock_.advance(1s);
      timers_.run_due();
      EXPECT_FALSE(late.result());
    }
    return allocations.count();
  };
  allocations_of(100);
  EXPECT_EQ(allocations_of(1000), 1000 * allocations_of(1)) << "what waits in the store grows";
}

TEST_F(KeyValueStoreTest, WhatWaitsWhenTheStoreGoesIsAborted) {
  std::optional<LocalKeyValueStore> store(std::in_place, timers_);
  const Future<std::string> waiting = store->get("key");
  store.reset();
  ASSERT_TRUE(waiting.ready());
  EXPECT_EQ(waiting.result().error().code(), ErrorCode::kAborted);
}

// Real threads: it is what processes' threads do to it.
TEST(KeyValueStoreStressTest, EveryGetOfEveryThreadSeesTheOneValue) {
  ManualClock clock;
  TimerQueue timers(clock);
  LocalKeyValueStore store(timers);
  constexpr int kThreads = 4;
  constexpr int kKeys = 500;
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kKeys; ++i) {
        const std::string key = std::to_string(i);
        if (i % kThreads == t) static_cast<void>(store.put(key, key + "!").result());
        if (wait_blocking(store.get(key)).value() == key + "!") ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kThreads * kKeys);
}

}  // namespace
}  // namespace millrace
