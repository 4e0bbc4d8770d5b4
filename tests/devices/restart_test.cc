// Devices that fail and are restarted behind the same handles. (On real threads, and on the CPU
// device: device_suite_test.cc.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "millrace/devices/device.h"
#include "millrace/devices/device_body.h"
#include "tests/support/sanitized.h"
#include "tests/support/sim_devices.h"

namespace millrace::devices {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::elementwise;
using testing::for_each_seed;
using ::testing::HasSubstr;
using testing::SimDevices;
using testing::Simulation;

float sum(std::span<const float> values) {
  float total = 0;
  for (const float v : values) total += v;
  return total;
}

Error power_cut() { return Error(ErrorCode::kUnavailable, "power cut"); }
template <class T>
ErrorCode code_of(const Result<T>& result) {
  return result ? ErrorCode{} : result.error().code();
}

TEST(DeviceRestartTest, AFailedDeviceIsANewOneBehindTheSameHandles) {
  for_each_seed(30, [](Simulation& sim) {
    SimDevices devices(sim, {.devices = 2});
    const Executable program = devices.program(elementwise("add", 2, 2, 10ms, &sum));
    const Buffer a = devices.put(0, {1, 2});
    const Buffer other = devices.put(1, {3, 4});
    const Buffers running = sim.run(devices[0].execute(program, {a, a})).value();
    const Future<void> failed = devices[0].failed();
    sim.run_for(3ms);
    ASSERT_TRUE(devices[0].kill(power_cut()));
    EXPECT_THAT(sim.run(failed).error().message(), HasSubstr("power cut"));
    EXPECT_TRUE(devices[0].kill(power_cut())) << "again: nothing";
    EXPECT_EQ(code_of(sim.run(devices[0].fetch(a))), ErrorCode::kUnavailable);

    ASSERT_TRUE(sim.run(devices[0].restart()));
    EXPECT_FALSE(devices[0].failed().ready()) << "of the next failure";
    EXPECT_TRUE(a.removed()) << "what was on it is lost";
    EXPECT_TRUE(running[0].removed());
    EXPECT_FALSE(sim.run(devices[0].execute(program, {a, a})));
    EXPECT_FALSE(sim.run(devices[0].fetch(a)));
    const Buffer b = devices.put(0, {5, 6});
    const Buffers out = sim.run(devices[0].execute(program, {b, b})).value();
    EXPECT_THAT(devices.fetch(0, out[0]), ElementsAre(10, 12));
    EXPECT_THAT(devices.fetch(1, other), ElementsAre(3, 4));

    const Future<void> again = devices[0].failed();
    ASSERT_TRUE(devices[0].kill(power_cut()));
    EXPECT_FALSE(sim.run(again));
    ASSERT_TRUE(sim.run(devices[0].restart()));
  });
}

TEST(DeviceRestartTest, ARestartWaitsForWhatWasInFlight) {
  for_each_seed(20, [](Simulation& sim) {
    SimDevices devices(sim, {.transfer_latency = 5ms});
    const std::vector<float> values = {1, 2};
    const Shape shape(DType::kF32, {2});
    const auto put = sim.run(devices[0].put_borrowed({.data = values.data(), .shape = shape}));
    ASSERT_TRUE(put);
    ASSERT_TRUE(devices[0].kill(power_cut()));
    EXPECT_FALSE(sim.run(devices[0].failed()));
    const Future<void> restarted = devices[0].restart();
    sim.run_until_idle();
    EXPECT_FALSE(restarted.ready()) << "the put still reads the host's bytes";
    ASSERT_TRUE(sim.run(restarted));
    EXPECT_TRUE(put->source_released.ready());
    EXPECT_TRUE(put->buffer.removed());
  });
}

TEST(DeviceRestartTest, OnlyAFailedDeviceIsRestarted) {
  for_each_seed(10, [](Simulation& sim) {
    SimDevices devices(sim, {.devices = 2});
    const Error open = sim.run(devices[0].restart()).error();
    EXPECT_EQ(open.code(), ErrorCode::kFailedPrecondition);
    EXPECT_THAT(open.message(), HasSubstr("device 0 (sim) was not restarted: it has not failed"));
    ASSERT_TRUE(devices[1].kill(power_cut()));
    EXPECT_FALSE(sim.run(devices[1].failed()));
    EXPECT_TRUE(sim.run(devices[1].close()));
    EXPECT_FALSE(sim.run(devices[1].restart())) << "closed is closed";
  });
}

// Kills and restarts at any time between launches, puts, fetches and copies: every call ends, and a
// good answer is a right one.
TEST(DeviceRestartTest, WhateverIsKilledWheneverEveryCallEnds) {
  int good = 0;
  int bad = 0;
  int restarts = 0;
  for_each_seed(300, [&](Simulation& sim) {
    SimDevices devices(sim, {.devices = 2, .transfer_latency = 300us},
                       {.launches = 1 + static_cast<int>(sim.below(3)), .bytes = 64});
    const Executable program = devices.program(elementwise("add", 2, 2, 1ms, &sum));
    std::vector<std::pair<Future<HostArray>, float>> fetched;
    std::vector<Future<void>> restarted;
    for (int i = 0; i < 60; ++i) {
      const std::size_t d = sim.below(2);
      const Device& device = devices[d];
      if (sim.chance(0.1)) {
        EXPECT_TRUE(device.kill(power_cut()));
      }
      if (sim.chance(0.15)) restarted.push_back(device.restart());
      const auto value = static_cast<float>(i);
      auto values = std::make_shared<std::vector<float>>(2, value);
      const Future<Buffer> put =
          device.put({.data = values->data(), .shape = Shape(DType::kF32, {2}), .owner = values});
      const Future<Buffers> out = device.execute(program, {put, put});
      const Future<Buffer> one = out.then(sim.executor(), [](Result<Buffers> buffers) {
        return buffers ? Result<Buffer>((*buffers)[0]) : std::unexpected(buffers.error());
      });
      const bool across = sim.chance(0.3);
      const Device& reader = devices[across ? 1 - d : d];
      fetched.emplace_back(across ? reader.fetch(reader.copy_from(one)) : reader.fetch(one),
                           2 * value);
      if (sim.chance(0.5)) sim.run_for(Duration(sim.below(1'000'000)));
    }
    for (const auto& [array, value] : fetched) {
      const Result<HostArray> result = sim.run(array);
      (result ? good : bad) += 1;
      if (result) {
        EXPECT_THAT(result->as<float>(), ElementsAre(value, value));
      }
    }
    for (const Future<void>& one : restarted) {
      sim.run_until_idle();
      const Status status = sim.run(one);
      restarts += status ? 1 : 0;
    }
  });
  if (std::getenv("MILLRACE_SEED") == nullptr) {
    constexpr int kFewer = millrace::testing::kSanitized ? 10 : 1;  // seeds
    EXPECT_GT(good, 1000 / kFewer);
    EXPECT_GT(bad, 1000 / kFewer);
    EXPECT_GT(restarts, 300 / kFewer);
  }
}

}  // namespace
}  // namespace millrace::devices
