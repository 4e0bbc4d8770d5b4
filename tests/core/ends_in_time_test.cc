#include "millrace/core/ends_in_time.h"

#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <thread>

namespace millrace {
namespace {

TEST(EndsInTimeTest, WhatHasEndedHasHoweverItDid) {
  EXPECT_TRUE(ends_in_time(make_ready(), Duration(0)));
  EXPECT_TRUE(ends_in_time(Future<void>(Error(ErrorCode::kCancelled, "scripted")), Duration(0)));
}

TEST(EndsInTimeTest, WhatDoesNotEndIsLeftAndMayEndLater) {
  Promise<void> promise;
  EXPECT_FALSE(ends_in_time(promise.future(), Duration(0)));
  promise.set_value();
}

TEST(EndsInTimeTest, AnotherThreadsEndIsWaitedFor) {
  Promise<void> promise;
  const Future<void> end = promise.future();
  std::latch begun(1);
  std::thread other([&] {
    begun.wait();
    promise.set_value();
  });
  begun.count_down();
  EXPECT_TRUE(ends_in_time(end, std::chrono::hours(1)));
  EXPECT_TRUE(end.ready());
  other.join();
}

TEST(EndsInTimeTest, StopEndsTheWaitAndNotWhatIsWaitedFor) {
  Promise<void> promise;
  const Future<void> end = promise.future();
  std::stop_source stop;
  std::latch begun(1);
  std::thread other([&] {
    begun.wait();
    stop.request_stop();
  });
  begun.count_down();
  EXPECT_FALSE(ends_in_time(end, {.stop = stop.get_token(), .deadline = kNoDeadline}));
  other.join();
  EXPECT_FALSE(ends_in_time(end, {.stop = stop.get_token(), .deadline = kNoDeadline})) << "again";
  promise.set_value();
  EXPECT_TRUE(ends_in_time(end, {.stop = stop.get_token(), .deadline = kNoDeadline}));
}

TEST(EndsInTimeTest, DeadlineEndsTheWait) {
  Promise<void> promise;
  const Future<void> end = promise.future();
  const TimePoint soon = steady_clock().now() + std::chrono::milliseconds(1);
  EXPECT_FALSE(ends_in_time(end, {.stop = {}, .deadline = soon}));
  EXPECT_GE(steady_clock().now(), soon);
  promise.set_value();
  EXPECT_TRUE(ends_in_time(end, {.stop = {}, .deadline = soon})) << "though it has passed";
}

}  // namespace
}  // namespace millrace
