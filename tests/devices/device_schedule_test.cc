// The schedule of a device as tables: what comes next, and what the limits hold back.
#include "millrace/devices/device_schedule.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>

#include "millrace/core/base/clock.h"

namespace millrace::devices {
namespace {

using Kind = DevicePlace::Kind;
using State = DevicePlace::State;

class DeviceScheduleTest : public ::testing::Test {
 protected:
  struct Given {
    Kind kind = Kind::kLaunch;
    std::size_t bytes = 1;
    bool inputs = true;
    bool spanning = false;
    bool waits_for_processes = false;
  };
  DevicePlace& enter(const Given& given) {
    DevicePlace& place = places_.emplace_back();
    place.kind = given.kind;
    place.bytes = given.bytes;
    place.inputs = given.inputs;
    place.spanning = given.spanning;
    place.waits_for_processes = given.waits_for_processes;
    schedule_.enter(place);
    return place;
  }
  // What may be granted is, and waits for the seat.
  void grant_all() {
    while (DevicePlace* const place = schedule_.grant()) schedule_.make_ready(*place);
  }
  // Who has the seat next, for a call that the device then works on.
  DevicePlace* call() {
    grant_all();
    DevicePlace* const place = schedule_.take_seat();
    if (place != nullptr) schedule_.begun(*place);
    return place;
  }

  ManualClock clock_;
  std::deque<DevicePlace> places_;
  DeviceSchedule schedule_{{.launches = 2, .bytes = 100}, clock_};
};

// DS-1
TEST_F(DeviceScheduleTest, OneCallHoldsTheSeat) {
  DevicePlace& first = enter({});
  DevicePlace& second = enter({.kind = Kind::kFetch});
  grant_all();
  EXPECT_EQ(schedule_.take_seat(), &second) << "it was ready first: it waits for no credits";
  EXPECT_EQ(schedule_.take_seat(), nullptr);
  EXPECT_EQ(schedule_.caller(), &second);
  schedule_.begun(second);
  EXPECT_EQ(schedule_.take_seat(), &first);
  schedule_.leave(first);
  EXPECT_EQ(schedule_.caller(), nullptr);
  schedule_.make_ready(second);
  EXPECT_EQ(schedule_.take_seat(), &second);
}

// DS-2
TEST_F(DeviceScheduleTest, CallsComeInOrderButForThoseThatWaitForArguments) {
  DevicePlace& waits = enter({.inputs = false});
  DevicePlace& first = enter({});
  DevicePlace& second = enter({.kind = Kind::kPut});
  EXPECT_EQ(call(), &first);
  EXPECT_EQ(call(), &second);
  EXPECT_EQ(call(), nullptr);
  schedule_.inputs_came(waits, 1);
  EXPECT_EQ(call(), &waits);
}

// DS-2
TEST_F(DeviceScheduleTest, CallsWhoseArgumentsComeKeepTheOrderOfEntering) {
  DevicePlace& first = enter({.inputs = false});
  DevicePlace& second = enter({.inputs = false});
  enter({.bytes = 100});
  ASSERT_NE(call(), nullptr);
  DevicePlace& third = enter({});
  schedule_.inputs_came(second, 1);
  schedule_.inputs_came(first, 1);
  EXPECT_EQ(call(), nullptr) << "the limit";
  schedule_.leave(places_[2]);
  EXPECT_EQ(call(), &first);
  EXPECT_EQ(call(), &second);
  EXPECT_EQ(call(), nullptr) << "two launches are the limit";
  schedule_.leave(first);
  EXPECT_EQ(call(), &third);
}

TEST_F(DeviceScheduleTest, WhatIsNotCountedWaitsForItsArgumentAlone) {
  enter({.bytes = 100});
  enter({.bytes = 100});
  ASSERT_NE(call(), nullptr);
  EXPECT_EQ(call(), nullptr) << "the limit";
  DevicePlace& fetch = enter({.kind = Kind::kFetch, .bytes = 1000, .inputs = false});
  EXPECT_EQ(call(), nullptr);
  schedule_.inputs_came(fetch, 1000);
  EXPECT_EQ(call(), &fetch);
}

// DS-4
TEST_F(DeviceScheduleTest, CreditsNeverExceedTheLimits) {
  DevicePlace& first = enter({.bytes = 60});
  DevicePlace& second = enter({.bytes = 60});
  DevicePlace& small = enter({.bytes = 1});
  EXPECT_EQ(call(), &first);
  EXPECT_EQ(call(), nullptr) << "the second does not fit, and the third does not overtake it";
  schedule_.leave(first);
  EXPECT_EQ(call(), &second);
  EXPECT_EQ(call(), &small);
  DevicePlace& third_launch = enter({.bytes = 1});
  DevicePlace& put = enter({.kind = Kind::kPut, .bytes = 1});
  EXPECT_EQ(call(), nullptr) << "two launches are the limit";
  schedule_.leave(small);
  EXPECT_EQ(call(), &third_launch);
  EXPECT_EQ(call(), &put);
  EXPECT_EQ(schedule_.stats().peak_bytes_in_flight, 62U);
}

// DS-4
TEST_F(DeviceScheduleTest, WhatWaitsForProcessesTakesNoCreditsAndWaitsForNone) {
  enter({.bytes = 100});
  ASSERT_NE(call(), nullptr);
  enter({.bytes = 100});
  EXPECT_EQ(call(), nullptr) << "the limit";
  DevicePlace& alone = enter({.bytes = 1000, .waits_for_processes = true});
  EXPECT_EQ(call(), &alone) << "before one that waits for credits";
  DevicePlace& spans = enter({.spanning = true, .waits_for_processes = true});
  EXPECT_EQ(call(), nullptr);
  EXPECT_EQ(schedule_.vote(), &spans);
  schedule_.arm(spans);
  EXPECT_EQ(call(), &spans);
  EXPECT_EQ(schedule_.stats().launches_in_flight, 1U);
  EXPECT_EQ(schedule_.stats().bytes_in_flight, 100U);
  schedule_.leave(alone);
  schedule_.leave(spans);
  EXPECT_EQ(schedule_.stats().bytes_in_flight, 100U);
}

TEST_F(DeviceScheduleTest, OneBeyondTheLimitRunsAlone) {
  DevicePlace& large = enter({.kind = Kind::kPut, .bytes = 1000});
  DevicePlace& small = enter({.kind = Kind::kPut});
  EXPECT_EQ(call(), &large);
  EXPECT_EQ(call(), nullptr);
  schedule_.leave(large);
  EXPECT_EQ(call(), &small);
}

// DS-3
TEST_F(DeviceScheduleTest, SpanningLaunchesVoteInOrderAndTakeCreditsOnceArmed) {
  DevicePlace& first = enter({.inputs = false, .spanning = true});
  DevicePlace& second = enter({.spanning = true});
  DevicePlace& single = enter({});
  EXPECT_EQ(schedule_.vote(), nullptr) << "the first has no arguments yet";
  EXPECT_EQ(call(), &single) << "one device's launches overtake what waits";
  schedule_.inputs_came(first, 1);
  ASSERT_EQ(schedule_.vote(), &first);
  EXPECT_EQ(schedule_.vote(), nullptr);
  EXPECT_EQ(schedule_.grant(), nullptr) << "another device has not voted";
  schedule_.arm(first);
  ASSERT_EQ(schedule_.grant(), &first);
  EXPECT_EQ(schedule_.vote(), nullptr) << "the second waits behind it";
  schedule_.begun(first);  // by the other device
  EXPECT_EQ(schedule_.vote(), &second);
}

TEST_F(DeviceScheduleTest, WhatLeavesReleasesWhatItHad) {
  DevicePlace& granted = enter({.bytes = 90, .spanning = true});
  ASSERT_EQ(schedule_.vote(), &granted);
  schedule_.arm(granted);
  DevicePlace& waits = enter({.kind = Kind::kPut, .bytes = 90});
  ASSERT_EQ(schedule_.grant(), &granted);
  EXPECT_EQ(call(), nullptr);
  schedule_.leave(granted);  // withdrawn
  EXPECT_EQ(schedule_.stats().launches, 0U) << "it was never begun";
  EXPECT_EQ(call(), &waits);
  schedule_.abandon(waits);
  EXPECT_EQ(schedule_.stats().abandoned_bytes, 90U);
  schedule_.leave(waits);
  EXPECT_EQ(schedule_.stats().abandoned_bytes, 0U);
  EXPECT_EQ(schedule_.stats().puts, 1U);
  EXPECT_TRUE(schedule_.empty());
}

TEST_F(DeviceScheduleTest, BusyIsTheTimeWithALaunchInFlight) {
  using namespace std::chrono_literals;
  DevicePlace& first = enter({});
  ASSERT_EQ(call(), &first);
  clock_.advance(3ms);
  DevicePlace& second = enter({});
  ASSERT_EQ(call(), &second);
  schedule_.leave(first);
  clock_.advance(2ms);
  schedule_.leave(second);
  clock_.advance(10ms);
  EXPECT_EQ(schedule_.stats().busy, 5ms);
}

TEST(DeviceScheduleDeathTest, StepsThatNoCallMayTakeAreChecked) {
  ManualClock clock;
  DeviceSchedule schedule({}, clock);
  DevicePlace place;
  EXPECT_DEATH(schedule.begun(place), "no such step");
  schedule.enter(place);
  schedule.leave(place);
  EXPECT_DEATH(schedule.leave(place), "no such step");
  schedule.set_life(DeviceLife::kClosing);
  EXPECT_DEATH(schedule.set_life(DeviceLife::kOpen), "no such step");
}

}  // namespace
}  // namespace millrace::devices
