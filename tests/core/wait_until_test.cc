#include "millrace/core/async/blocking.h"

#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <thread>

namespace millrace {
namespace {

TEST(WaitUntilTest, WhatHasEndedHasHoweverItDid) {
  EXPECT_TRUE(wait_until(make_ready(), Duration(0)));
  EXPECT_TRUE(wait_until(Future<void>(Error(ErrorCode::kCancelled, "scripted")), Duration(0)));
}

TEST(WaitUntilTest, WhatDoesNotEndIsLeftAndMayEndLater) {
  Promise<void> promise;
  EXPECT_FALSE(wait_until(promise.future(), Duration(0)));
  promise.set_value();
}

TEST(WaitUntilTest, AnotherThreadsEndIsWaitedFor) {
  Promise<void> promise;
  const Future<void> end = promise.future();
  std::latch begun(1);
  std::thread other([&] {
    begun.wait();
    promise.set_value();
  });
  begun.count_down();
  EXPECT_TRUE(wait_until(end, std::chrono::hours(1)));
  EXPECT_TRUE(end.ready());
  other.join();
}

TEST(WaitUntilTest, StopEndsTheWaitAndNotWhatIsWaitedFor) {
  Promise<void> promise;
  const Future<void> end = promise.future();
  std::stop_source stop;
  std::latch begun(1);
  std::thread other([&] {
    begun.wait();
    stop.request_stop();
  });
  begun.count_down();
  EXPECT_FALSE(wait_until(end, {.stop = stop.get_token(), .deadline = kNoDeadline}));
  other.join();
  EXPECT_FALSE(wait_until(end, {.stop = stop.get_token(), .deadline = kNoDeadline})) << "again";
  promise.set_value();
  EXPECT_TRUE(wait_until(end, {.stop = stop.get_token(), .deadline = kNoDeadline}));
}

TEST(WaitUntilTest, DeadlineEndsTheWait) {
  Promise<void> promise;
  const Future<void> end = promise.future();
  const TimePoint soon = steady_clock().now() + std::chrono::milliseconds(1);
  EXPECT_FALSE(wait_until(end, {.stop = {}, .deadline = soon}));
  EXPECT_GE(steady_clock().now(), soon);
  promise.set_value();
  EXPECT_TRUE(wait_until(end, {.stop = {}, .deadline = soon})) << "though it has passed";
}

}  // namespace
}  // namespace millrace
