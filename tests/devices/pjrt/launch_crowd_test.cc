#include "millrace/devices/pjrt/launch_crowd.h"

#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <optional>
#include <thread>
#include <vector>

#include "millrace/core/clock.h"
#include "millrace/core/cores.h"
#include "tests/devices/pjrt/fake_programs.h"

namespace millrace::devices::pjrt {
namespace {

// How often the next one gives way; each time the clock moves on by `takes`, and then `meanwhile`.
template <class F>
int times_given_way(LaunchCrowd& crowd, ManualClock& clock, Duration takes, F&& meanwhile) {
  int times = 0;
  crowd.enter([&] {
    ++times;
    clock.advance(takes);
    meanwhile();
  });
  return times;
}

class LaunchCrowdTest : public ::testing::Test {
 protected:
  int times_given_way(Duration takes) {
    return pjrt::times_given_way(crowd_, clock_, takes, [] {});
  }
  static constexpr Duration kSlice = std::chrono::milliseconds(3);
  ManualClock clock_;
  LaunchCrowd crowd_{1, clock_};
};

TEST_F(LaunchCrowdTest, GoesInAtOnceWhereThereIsRoom) {
  LaunchCrowd crowd(2, clock_);
  const LaunchCrowd::Place inside(crowd);
  EXPECT_EQ(pjrt::times_given_way(crowd, clock_, kSlice, [] {}), 0);
  EXPECT_EQ(pjrt::times_given_way(crowd, clock_, kSlice, [] {}), 0);  // the one before has left
}

TEST_F(LaunchCrowdTest, GivesWayUntilOneHasLeft) {
  std::optional<LaunchCrowd::Place> inside;
  inside.emplace(crowd_);
  int left = 3;
  EXPECT_EQ(pjrt::times_given_way(crowd_, clock_, std::chrono::microseconds(5),
                                  [&] {
                                    if (--left == 0) inside.reset();
                                  }),
            3);
}

// One leaves each time, and another comes.
TEST_F(LaunchCrowdTest, GoesInThoughTheCrowdStays) {
  const LaunchCrowd::Place inside(crowd_);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(pjrt::times_given_way(crowd_, clock_, LaunchCrowd::kPerLaunch,
                                    [&] { const LaunchCrowd::Place passing(crowd_); }),
              LaunchCrowd::kMostTimes);
  }
}

// It stays in the plugin, or another process has got the core for a slice of time.
TEST_F(LaunchCrowdTest, GivesWayLessAndLessWhereThatIsOfNoUse) {
  std::optional<LaunchCrowd::Place> inside;
  inside.emplace(crowd_);
  const auto none_for = [&](int launches) {
    for (int i = 0; i < launches; ++i) ASSERT_EQ(times_given_way(kSlice), 0) << i;
  };
  for (int launches = LaunchCrowd::kFewest; launches <= LaunchCrowd::kMost; launches *= 2) {
    EXPECT_EQ(times_given_way(kSlice), 1);
    none_for(launches);
  }
  EXPECT_EQ(times_given_way(kSlice), 1);
  none_for(LaunchCrowd::kMost);
  // Until it is of use again.
  EXPECT_EQ(pjrt::times_given_way(crowd_, clock_, Duration(), [&] { inside.reset(); }), 1);
  inside.emplace(crowd_);
  EXPECT_EQ(times_given_way(kSlice), 1);
  none_for(LaunchCrowd::kFewest);
  EXPECT_EQ(times_given_way(kSlice), 1);
}

class LaunchesTest : public FakePrograms {};

// None of them returns before the last has begun. On real threads: that is what they would hang in.
TEST_F(LaunchesTest, ThatWaitForEachOtherEndHoweverManyTheyAre) {
  static std::latch* all_inside;
  fake_.replace(+[](abi::LoadedExecutableExecuteArgs* a) -> abi::Error* {
    all_inside->arrive_and_wait();
    a->output_lists[0][0] = FakePlugin::make_buffer();
    a->device_complete_events[0] = FakePlugin::make_event();
    FakePlugin::set_event(a->device_complete_events[0], 0, "");
    return nullptr;
  });
  const int threads = 2 * usable_cores() + 3;
  std::latch latch(threads);
  all_inside = &latch;
  std::vector<LaunchResult> results(static_cast<std::size_t>(threads));
  std::vector<std::thread> all;
  for (LaunchResult& result : results)
    all.emplace_back([this, &result] { EXPECT_TRUE(launch(result)); });
  for (std::thread& thread : all) thread.join();
  for (const LaunchResult& result : results) {
    ASSERT_TRUE(result.done.ready());
    EXPECT_TRUE(result.done.result());
  }
}

}  // namespace
}  // namespace millrace::devices::pjrt
