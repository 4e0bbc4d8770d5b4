#include "millrace/core/trace.h"

#include <gtest/gtest.h>

#include <thread>

namespace millrace {
namespace {

using std::chrono::microseconds;

TEST(TraceRecorderTest, ScopeRecordsItsTimesOnItsLane) {
  ManualClock clock;
  TraceRecorder recorder(clock);
  const TraceLane lane = recorder.lane("device 0");
  const TraceName name = recorder.name("grad");
  clock.advance(microseconds(5));
  {
    TraceScope scope(&recorder, lane, name, 7);
    clock.advance(microseconds(10));
    scope.set_value(3);
  }

  const auto events = recorder.events();

  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].begin.time_since_epoch(), microseconds(5));
  EXPECT_EQ(events[0].end.time_since_epoch(), microseconds(15));
  EXPECT_EQ(events[0].flow, 7u);
  EXPECT_EQ(events[0].value, 3);
  EXPECT_EQ(recorder.lane_text(events[0].lane), "device 0");
  EXPECT_EQ(recorder.name_text(events[0].name), "grad");
}

TEST(TraceRecorderTest, FullRingKeepsTheNewestAndCountsTheRest) {
  ManualClock clock;
  TraceRecorder recorder(clock, 4);
  for (int i = 0; i < 10; ++i) {
    TraceScope scope(&recorder, TraceLane{0}, TraceName{0});
    scope.set_value(i);
    clock.advance(microseconds(1));
  }
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events.front().value, 6);
  EXPECT_EQ(events.back().value, 9);
  EXPECT_EQ(recorder.lost(), 6u);
  EXPECT_EQ(recorder.complete_since(), recorder.events().front().end);
}

TEST(TraceRecorderTest, NoRecorderNoEvent) {
  TraceScope scope(nullptr, TraceLane{0}, TraceName{0});
  scope.set_value(1);
}

TEST(TraceRecorderTest, SameTextIsTheSameNumber) {
  TraceRecorder recorder(steady_clock());
  EXPECT_EQ(recorder.name("a"), recorder.name("a"));
  EXPECT_NE(recorder.name("a"), recorder.name("b"));
}

TEST(TraceRecorderStressTest, ThreadsRecordWhileAnotherReads) {
  TraceRecorder recorder(steady_clock(), 1000);
  constexpr int kThreads = 4;
  constexpr int kEvents = 5000;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&recorder, t] {
        const TraceLane lane = recorder.lane("thread " + std::to_string(t));
        for (int i = 0; i < kEvents; ++i) TraceScope scope(&recorder, lane, TraceName{0});
      });
    }
    for (int i = 0; i < 50; ++i) EXPECT_LE(recorder.events().size(), kThreads * 1000u);
  }
  EXPECT_EQ(recorder.events().size() + recorder.lost(),
            static_cast<std::uint64_t>(kThreads) * kEvents);
}

}  // namespace
}  // namespace millrace
