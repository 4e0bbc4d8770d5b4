#include "millrace/devices/pjrt/launch_crowd.h"

#include <gtest/gtest.h>

#include <latch>
#include <optional>
#include <thread>
#include <vector>

#include "tests/devices/pjrt/fake_programs.h"

namespace millrace::devices::pjrt {
namespace {

TEST(LaunchCrowdTest, GoesInAtOnceWhereThereIsRoom) {
  LaunchCrowd crowd(2);
  int times = 0;
  const auto give_way = [&times] { ++times; };
  {
    const LaunchCrowd::Place first = crowd.enter(give_way);
    const LaunchCrowd::Place second = crowd.enter(give_way);
    EXPECT_EQ(crowd.inside(), 2);
  }
  EXPECT_EQ(crowd.inside(), 0);
  EXPECT_EQ(times, 0);
}

TEST(LaunchCrowdTest, GivesWayUntilOneHasLeft) {
  LaunchCrowd crowd(1);
  std::optional<LaunchCrowd::Place> inside;
  inside.emplace(crowd);
  int times = 0;
  const LaunchCrowd::Place place = crowd.enter([&] {
    if (++times == 3) inside.reset();
  });
  EXPECT_EQ(times, 3);
  EXPECT_EQ(crowd.inside(), 1);
}

TEST(LaunchCrowdTest, GoesInWhenNobodyLeaves) {
  LaunchCrowd crowd(1);
  const LaunchCrowd::Place inside = crowd.enter();
  int times = 0;
  const LaunchCrowd::Place place = crowd.enter([&times] { ++times; });
  EXPECT_EQ(times, LaunchCrowd::kMostTimes);
  EXPECT_EQ(crowd.inside(), 2);
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
  const int threads = 2 * static_cast<int>(std::thread::hardware_concurrency()) + 3;
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
