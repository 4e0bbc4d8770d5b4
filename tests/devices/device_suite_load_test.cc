// The device suite: calls that are given up, thousands of them, calls of many threads at once, and
// launches that span devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>
#include <vector>

#include "tests/devices/device_suite.h"

namespace millrace::testing {
namespace {

using devices::MemoryStats;
using ::testing::ElementsAre;
using ::testing::Eq;

TEST_P(DeviceSuite, CallThatIsStoppedWhileItWaitsIsCancelledAndTheDeviceRunsOn) {
  const Executable add = program("add");
  Promise<Buffer> never;
  std::stop_source stop;
  const Future<Buffers> waits = devices_[0].execute(add, {never.future(), never.future()},
                                                    {.call = {.stop = stop.get_token()}});
  const Future<HostArray> reads = devices_[0].fetch(never.future(), {.stop = stop.get_token()});
  const Future<Buffer> copies = devices_[1].copy_from(never.future(), {.stop = stop.get_token()});
  EXPECT_FALSE(waits.ready());
  stop.request_stop();
  EXPECT_EQ(code_of(wait_blocking(waits)), ErrorCode::kCancelled);
  EXPECT_EQ(code_of(wait_blocking(reads)), ErrorCode::kCancelled);
  EXPECT_EQ(code_of(wait_blocking(copies)), ErrorCode::kCancelled);
  const Buffer a = put({1, 2, 3, 4});
  EXPECT_THAT(fetch(first(devices_[0].execute(add, {a, a}))), ElementsAre(2, 4, 6, 8));
}

TEST_P(DeviceSuite, CallThatWasStoppedBeforeItIsMadeDoesNothing) {
  std::stop_source stop;
  stop.request_stop();
  const Buffer a = put({1, 2, 3, 4});
  const Executable increment = program("increment");
  EXPECT_EQ(code_of(wait_blocking(
                devices_[0].execute(increment, {a}, {.call = {.stop = stop.get_token()}}))),
            ErrorCode::kCancelled);
  EXPECT_FALSE(a.removed()) << "nothing was donated";
  EXPECT_THAT(fetch(a), ElementsAre(1, 2, 3, 4));
}

TEST_P(DeviceSuite, CallWhoseDeadlineHasComeEndsWithIt) {
  const Executable add = program("add");
  Promise<Buffer> never;
  const TimePoint deadline = steady_clock().now() + std::chrono::milliseconds(1);
  const Future<Buffers> late =
      devices_[0].execute(add, {never.future(), never.future()}, {.call = {.deadline = deadline}});
  while (steady_clock().now() < deadline) std::this_thread::yield();
  timers_.run_due();
  EXPECT_EQ(code_of(wait_blocking(late)), ErrorCode::kDeadlineExceeded);
  const Buffer a = put({1, 2, 3, 4});
  EXPECT_THAT(fetch(first(devices_[0].execute(add, {a, a}))), ElementsAre(2, 4, 6, 8));
}

// What has begun may run on: the CPU device cuts it off, a plugin cannot.
TEST_P(DeviceSuite, ProgramThatRunsWhenItIsStoppedEndsEitherWay) {
  const Executable program = this->program("long");
  const Buffer a = put({1, 2, 3, 4});
  for (int round = 0; round < 10; ++round) {
    std::stop_source stop;
    const Future<Buffers> run =
        devices_[0].execute(program, {a}, {.call = {.stop = stop.get_token()}});
    const Result<Buffers> handles = round % 2 == 0 ? Result<Buffers>() : wait_blocking(run);
    stop.request_stop();
    const Result<HostArray> array = wait_blocking(devices_[0].fetch(first(run)));
    if (array) {
      EXPECT_THAT(array->as<float>()[0], Eq(1 + kLongSum));
    } else {
      EXPECT_EQ(array.error().code(), ErrorCode::kCancelled) << array.error().to_string();
    }
  }
  EXPECT_THAT(fetch(first(devices_[0].execute(program, {a}))),
              ElementsAre(1 + kLongSum, 2 + kLongSum, 3 + kLongSum, 4 + kLongSum));
}

TEST_P(DeviceSuite, ThousandsOfExecutionsInOneChainAddUp) {
  constexpr int kSteps = 5'000;
  const Executable increment = program("increment");
  Future<Buffer> x = make_ready(put({0, 1, 2, 3}));
  for (int i = 0; i < kSteps; ++i) x = first(devices_[0].execute(increment, {x}));
  EXPECT_THAT(fetch(x), ElementsAre(kSteps, kSteps + 1, kSteps + 2, kSteps + 3));
  EXPECT_TRUE(wait_blocking(devices_[0].close()));  // outputs may be there before a launch is done
  EXPECT_EQ(devices_[0].stats().launches, std::uint64_t{kSteps});
}

TEST_P(DeviceSuite, ThousandsOfPutsExecutionsAndFetchesLeaveNoMemoryBehind) {
  const Executable add = program("add");
  const Buffer one = put({1, 1, 1, 1});
  const auto in_use = [this] {
    const Result<MemoryStats> stats = backend_->client().memory_stats(devices_[0].id());
    return stats ? stats->bytes_in_use : 0;  // a plugin need not count
  };
  std::int64_t before = 0;
  for (int i = 0; i < 3'000; ++i) {
    const auto value = static_cast<float>(i);
    const Buffer there = put({value, 0, 0, 0});
    ASSERT_EQ(fetch(first(devices_[0].execute(add, {there, one})))[0], value + 1);
    if (i == 100) before = in_use();
  }
  // The last round's buffers may still be on their way out on the device's thread.
  EXPECT_LE(in_use(), before + 1024);
}

TEST_P(DeviceSuite, SixteenThreadsAtOnceGetTheirOwnResults) {
  constexpr int kThreads = 16;
  constexpr int kRounds = 60;
  const Executable add = program("add");
  const Executable increment = program("increment");
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const Device& device = devices_[static_cast<std::size_t>(t % 2)];
      const Vector values = {static_cast<float>(t), 1, 2, 3};
      Future<Buffer> sum = device.put(view(values));
      const Future<Buffer> step = device.put(view(values));
      for (int i = 0; i < kRounds; ++i) {
        sum = first(device.execute(add, {sum, step}));
        sum = first(device.execute(increment, {sum}));
        const Result<HostArray> array = wait_blocking(device.fetch(sum));
        const auto rounds = static_cast<float>(i + 1);
        if (array && array->as<float>()[0] == values[0] * (rounds + 1) + rounds &&
            array->as<float>()[3] == 3 * (rounds + 1) + rounds)
          right.fetch_add(1);
      }
      static_cast<void>(wait_blocking(step));  // values go
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right.load(), kThreads * kRounds);
  for (const Device& device : devices_) EXPECT_TRUE(wait_blocking(device.close()));
  EXPECT_EQ(devices_[0].stats().launches + devices_[1].stats().launches,
            std::uint64_t{kThreads * kRounds * 2});
  EXPECT_EQ(devices_[0].stats().launches_in_flight, 0);
}

TEST_P(DeviceSuite, SixteenThreadsCompileSerializeAndLoadAtOnce) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      const char* const names[] = {"add", "increment", "split"};
      const Result<Executable> compiled = backend_->compile(suite_program(names[t % 3]));
      if (!compiled) return;
      const Result<std::string> bytes = compiled->body()->serialize();
      if (!bytes) return;
      const Result<Executable> loaded = backend_->client().load(*bytes);
      if (!loaded) return;
      const Vector values = {1, 2, 3, 4};
      const Future<Buffer> a = devices_[0].put(view(values));
      const Future<Buffer> out = first(t % 3 == 0 ? devices_[0].execute(*loaded, {a, a})
                                                  : devices_[0].execute(*loaded, {a}));
      const Result<HostArray> array = wait_blocking(devices_[0].fetch(out));
      const float wanted = t % 3 == 1 ? 5 : 8;
      if (array && array->as<float>()[3] == wanted) right.fetch_add(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right.load(), 16);
}

TEST_P(DeviceSuite, ProgramThatSpansDevicesIsOneLaunchOnBoth) {
  for (const char* name : {"all_reduce", "sharded_sum"}) {
    SCOPED_TRACE(name);
    const Result<Executable> sum = backend_->compile(suite_program(name));
    ASSERT_TRUE(sum) << sum.error().to_string();
    EXPECT_EQ(sum->body()->devices_per_launch(), 2);
    const Argument one[] = {put({1, 2, 3, 4}, 0)};
    const Argument two[] = {put({10, 20, 30, 40}, 1)};
    const std::span<const Argument> arguments[] = {one, two};
    const Buffers out = wait_blocking(launch_spanning(devices_, *sum, arguments)).value();
    ASSERT_EQ(out.size(), 2U);
    for (std::size_t d = 0; d < 2; ++d) {
      EXPECT_EQ(out[d].device(), devices_[d].id());
      EXPECT_THAT(fetch(out[d], d), ElementsAre(11, 22, 33, 44));
    }
    const std::span<const Argument> too_few[] = {one, {}};
    EXPECT_EQ(code_of(wait_blocking(launch_spanning(devices_, *sum, too_few))),
              ErrorCode::kInvalidArgument);
  }
}

// Each waits for the other device inside the program: were two of them crossed, all would hang.
TEST_P(DeviceSuite, LaunchesOfManyThreadsThatSpanDevicesDoNotCross) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  const Executable sum = program("all_reduce");
  const Executable increment = program("increment");
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const Vector values = {static_cast<float>(t), 1, 1, 1};
      for (int i = 0; i < kRounds; ++i) {
        // The argument of one device is there late, that of the other at once.
        const std::size_t late = static_cast<std::size_t>(t + i) % 2;
        const Future<Buffer> here = devices_[1 - late].put(view(values));
        const Future<Buffer> there = devices_[late].put(view(values));
        const Argument soon[] = {here};
        const Argument after[] = {first(devices_[late].execute(increment, {there}))};
        const std::span<const Argument> arguments[] = {late == 0 ? after : soon,
                                                       late == 0 ? soon : after};
        const Future<Buffers> out = launch_spanning(devices_, sum, arguments);
        const Result<HostArray> array = wait_blocking(devices_[0].fetch(first(out)));
        if (array && array->as<float>()[0] == 2 * values[0] + 1) right.fetch_add(1);
        static_cast<void>(wait_blocking(here));  // values go
        static_cast<void>(wait_blocking(there));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right.load(), kThreads * kRounds);
}

}  // namespace
}  // namespace millrace::testing
