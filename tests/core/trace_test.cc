#include "millrace/core/observe/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

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

TEST(TraceRecorderTest, CursorGivesEachEventOnceAndCountsWhatItMissed) {
  ManualClock clock;
  TraceRecorder recorder(clock, 4);
  TraceCursor cursor;
  const auto record = [&](int n) {
    for (int i = 0; i < n; ++i) recorder.record({.value = i});
  };
  record(3);
  EXPECT_EQ(recorder.events_since(cursor).events.size(), 3u);
  record(2);
  const TraceBatch second = recorder.events_since(cursor);
  EXPECT_EQ(second.events.size(), 2u);
  EXPECT_EQ(second.lost, 0u);
  record(10);
  const TraceBatch third = recorder.events_since(cursor);
  ASSERT_EQ(third.events.size(), 4u);
  EXPECT_EQ(third.events.front().value, 6);
  EXPECT_EQ(third.lost, 6u);
  EXPECT_TRUE(recorder.events_since(cursor).events.empty());
}

TEST(TraceRecorderTest, EveryFieldOfAnEventComesBack) {
  ManualClock clock;
  TraceRecorder recorder(clock);
  recorder.record({.lane = TraceLane{5},
                   .name = TraceName{7},
                   .begin = TimePoint(microseconds(3)),
                   .end = TimePoint(microseconds(9)),
                   .flow = (std::uint64_t{1} << 48) - 1,
                   .value = -42,
                   .flows = 3});
  const TraceEvent e = recorder.events().at(0);
  EXPECT_EQ(e.lane, TraceLane{5});
  EXPECT_EQ(e.name, TraceName{7});
  EXPECT_EQ(e.begin.time_since_epoch(), microseconds(3));
  EXPECT_EQ(e.end.time_since_epoch(), microseconds(9));
  EXPECT_EQ(e.flow, (std::uint64_t{1} << 48) - 1);
  EXPECT_EQ(e.value, -42);
  EXPECT_EQ(e.flows, 3);
}

// Real time and threads from here on: ticks of the processor, and rings that threads leave behind,
// are what is tested.
TEST(TraceRecorderTest, ScopesOfTheSteadyClockAgreeWithItsReadings) {
  TraceRecorder recorder(steady_clock());
  std::vector<std::pair<TimePoint, TimePoint>> around;
  for (int i = 0; i < 1000; ++i) {
    const TimePoint before = steady_clock().now();
    {
      TraceScope scope(&recorder, TraceLane{0}, TraceName{0});
    }
    around.emplace_back(before, steady_clock().now());
  }
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), around.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_LE(events[i].begin, events[i].end);
    EXPECT_GE(events[i].begin, around[i].first - microseconds(20)) << i;
    EXPECT_LE(events[i].end, around[i].second + microseconds(20)) << i;
  }
}

TEST(TraceRecorderTest, ThreadsThatComeAndGoShareARing) {
  TraceRecorder recorder(steady_clock(), 4);
  for (int i = 0; i < 10; ++i) {
    std::jthread([&recorder] { recorder.record({.value = 1}); }).join();
  }
  EXPECT_EQ(recorder.events().size(), 4u);  // as one thread's would be
  EXPECT_EQ(recorder.lost(), 6u);
}

TEST(TickScaleTest, TicksLieBetweenTheReadingsAroundThem) {
  if (!ticks_usable()) GTEST_SKIP() << "this processor's counter is no clock";
  TickScale scale(steady_clock());
  struct Reading {
    TimePoint before;
    std::uint64_t ticks;
    TimePoint after;
  };
  std::vector<Reading> readings;
  for (int i = 0; i < 2000; ++i) {  // more anchors than are kept
    const TimePoint before = steady_clock().now();
    const std::uint64_t ticks = read_ticks();
    readings.push_back({before, ticks, steady_clock().now()});
    scale.anchor();
  }
  std::vector<Duration> errors;
  for (const Reading& reading : readings) {
    const TimePoint at = scale.at(reading.ticks);
    errors.push_back(std::max({Duration(), reading.before - at, at - reading.after}));
  }
  std::ranges::sort(errors);
  EXPECT_LT(errors[errors.size() / 2], microseconds(1));
  EXPECT_TRUE(std::ranges::is_sorted(
      readings, {}, [&scale](const Reading& reading) { return scale.at(reading.ticks); }));
}

// A reader that comes while the writer goes round and round gets whole events or none.
TEST(TraceRecorderStressTest, EventsAreWholeWhileTheyAreOverwritten) {  // TR-1
  TraceRecorder recorder(steady_clock(), 8);
  const std::jthread writer([&](const std::stop_token& stop) {
    for (std::int64_t i = 1; !stop.stop_requested(); ++i) {
      recorder.record({.lane = TraceLane{static_cast<std::uint32_t>(i)},
                       .begin = TimePoint(Duration(i)),
                       .end = TimePoint(Duration(i)),
                       .flow = static_cast<std::uint64_t>(i),
                       .value = i});
    }
  });
  TraceCursor cursor;
  std::uint64_t seen = 0;
  std::int64_t last = 0;
  while (seen < 3000) {
    for (const TraceEvent& e : recorder.events_since(cursor).events) {
      ++seen;
      ASSERT_GT(e.value, last);
      last = e.value;
      ASSERT_EQ(e.begin.time_since_epoch().count(), e.value);
      ASSERT_EQ(e.end, e.begin);
      ASSERT_EQ(e.flow, static_cast<std::uint64_t>(e.value));
      ASSERT_EQ(e.lane, TraceLane{static_cast<std::uint32_t>(e.value)});
    }
  }
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
