#include "millrace/devices/sim/sim_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/sim_devices.h"

namespace millrace::devices::sim {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::elementwise;
using ::testing::HasSubstr;
using testing::SimDevices;
using testing::Simulation;
using Kind = SimEvent::Kind;

float first(std::span<const float> values) { return values[0]; }

std::vector<Duration> times(const SimClient& client, Kind kind) {
  std::vector<Duration> times;
  for (const SimEvent& event : client.events()) {
    if (event.kind == kind) times.push_back(event.at.time_since_epoch());
  }
  return times;
}

SimProgram identity(Duration duration) { return elementwise("identity", 1, 1, duration, &first); }

TEST(SimClientTest, OutputsAreWrittenAtTheirTimesBeforeTheProgramEnds) {
  Simulation sim(1);
  SimDevices devices(sim);
  SimProgram program = identity(10ms);
  program.outputs.push_back(program.outputs[0]);
  program.written_at = {7ms, 2ms};
  const Executable executable = devices.program(program);
  const Buffers out = sim.run(devices[0].execute(executable, {devices.put(0, {4})})).value();

  ASSERT_TRUE(sim.run(out[1].ready()).has_value());
  EXPECT_EQ(sim.now().time_since_epoch(), 2ms);
  EXPECT_FALSE(out[0].ready().ready());
  EXPECT_THAT(devices.fetch(0, out[0]), ElementsAre(4));
  EXPECT_EQ(sim.now().time_since_epoch(), 7ms);
}

TEST(SimClientTest, TransfersTakeTurnsInEachDirection) {
  Simulation sim(2);
  SimDevices devices(sim, {.transfer_latency = 1ms, .transfer_bytes_per_second = 4000});
  const float values[] = {1, 2};
  const HostView view{.data = values, .shape = Shape(DType::kF32, {2})};  // 8 bytes: 2 ms
  const Future<Buffer> one = devices[0].put(view);
  const Future<Buffer> two = devices[0].put(view);
  ASSERT_TRUE(sim.run(sim.run(two).value().ready()).has_value());
  EXPECT_EQ(sim.now().time_since_epoch(), 6ms);
  EXPECT_THAT(times(devices.client(), Kind::kPutBegin), ElementsAre(0ms, 3ms));
  EXPECT_THAT(times(devices.client(), Kind::kPutEnd), ElementsAre(3ms, 6ms));
  EXPECT_TRUE(one.result().has_value());
}

TEST(SimClientTest, SourceThatIsReusedTooEarlyShows) {
  Simulation sim(3);
  SimDevices devices(sim, {.transfer_latency = 1ms});
  float value = 1;
  const PutResult put =
      sim.run(devices[0].put_borrowed({.data = &value, .shape = Shape(DType::kF32, {})})).value();
  EXPECT_FALSE(put.source_released.ready());
  value = 2;
  const HostArray array = sim.run(devices[0].fetch(put.buffer)).value();
  EXPECT_EQ(array.as<float>()[0], 2);
  EXPECT_TRUE(put.source_released.ready());
}

TEST(SimClientTest, LaunchWaitsForTheBytesOfADonatedInput) {
  Simulation sim(4);
  SimDevices devices(sim, {.transfer_latency = 5ms});
  SimProgram program = identity(1ms);
  program.donated = {0};
  const Executable executable = devices.program(program);
  const float value = 9;
  const Future<Buffer> input = devices[0].put({.data = &value, .shape = Shape(DType::kF32, {1})});
  const Buffers out = sim.run(devices[0].execute(executable, {input})).value();
  EXPECT_TRUE(input.result()->removed());
  ASSERT_TRUE(sim.run(out[0].ready()).has_value());
  EXPECT_EQ(sim.now().time_since_epoch(), 6ms);
}

TEST(SimClientTest, UseAfterDonationFailsAndIsCounted) {
  Simulation sim(5);
  SimDevices devices(sim);
  SimProgram program = identity(1ms);
  program.donated = {0};
  const Executable executable = devices.program(program);
  const Buffer input = devices.put(0, {1});
  ASSERT_TRUE(sim.run(devices[0].execute(executable, {input})).has_value());
  EXPECT_THAT(sim.run(devices[0].execute(executable, {input})).error().message(),
              HasSubstr("was donated or removed before"));
  EXPECT_EQ(sim.run(devices[0].fetch(input)).error().code(), ErrorCode::kFailedPrecondition);
  EXPECT_GE(devices.client().uses_after_removal(), 1u);
}

TEST(SimClientTest, CallFromOutsideTheActorIsAViolation) {
  Simulation sim(6);
  SimDevices devices(sim, {.devices = 2});
  std::vector<std::string> violations;
  devices.client().set_violation_handler(
      [&](const std::string& what) { violations.push_back(what); });
  const float value = 1;
  const HostView view{.data = &value, .shape = Shape(DType::kF32, {})};
  {
    const PutResult put =
        devices.client()
            .put(view, HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{1}, -1)
            .value();
    EXPECT_THAT(violations, ElementsAre("put was called outside every device actor, for device 1"));
  }
  sim.run_until_idle();
}

TEST(SimClientTest, ScriptedLaunchFailureFailsItsOutputsOnly) {
  Simulation sim(7);
  SimDevices devices(sim);
  const Executable executable = devices.program(identity(1ms));
  const Buffer input = devices.put(0, {1});
  devices.client().fail_launch(DeviceId{0}, 2, Error(ErrorCode::kInternal, "bit flip"));
  std::vector<bool> good;
  for (int i = 0; i < 3; ++i) {
    const Buffers out = sim.run(devices[0].execute(executable, {input})).value();
    good.push_back(sim.run(out[0].ready()).has_value());
  }
  EXPECT_THAT(good, ElementsAre(true, false, true));
}

TEST(SimClientTest, StallDelaysAndSlownessStretches) {
  Simulation sim(8);
  SimDevices devices(sim, {.devices = 2});
  const Executable executable = devices.program(identity(10ms));
  const Buffer a = devices.put(0, {1});
  const Buffer b = devices.put(1, {1});
  devices.client().stall(DeviceId{0}, sim.now() + 4ms, 100ms);
  devices.client().slow(DeviceId{1}, sim.now(), 3);
  const Buffers on0 = sim.run(devices[0].execute(executable, {a})).value();
  const Buffers on1 = sim.run(devices[1].execute(executable, {b})).value();
  ASSERT_TRUE(sim.run(on1[0].ready()).has_value());
  EXPECT_EQ(sim.now().time_since_epoch(), 30ms);
  ASSERT_TRUE(sim.run(on0[0].ready()).has_value());
  EXPECT_EQ(sim.now().time_since_epoch(), 110ms);
}

TEST(SimClientTest, MemoryLimitIsKept) {
  Simulation sim(9);
  SimDevices devices(sim, {.memory_bytes = 12});
  const Executable executable = devices.program(identity(1ms));
  const Buffer a = devices.put(0, {1, 2});
  const float values[] = {1, 2};
  const Future<Buffer> refused = devices[0].put({.data = values, .shape = Shape(DType::kF32, {2})});
  EXPECT_EQ(sim.run(refused).error().code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(devices.client().memory_stats(DeviceId{0})->bytes_in_use, 8);
  a.remove();
  EXPECT_EQ(devices.client().memory_stats(DeviceId{0})->bytes_in_use, 0);
}

TEST(SimClientTest, ZeroCopyAndHostAccessUseTheBytesInPlace) {
  Simulation sim(10);
  SimDevices devices(sim, {.zero_copy = true, .host_access = true});
  const float value = 5;
  std::optional<PutResult> put =
      sim.run(devices[0].put_borrowed({.data = &value, .shape = Shape(DType::kF32, {})},
                                      HostBufferSemantics::kImmutableZeroCopy))
          .value();
  std::optional<HostArray> array = sim.run(devices[0].fetch(put->buffer)).value();
  EXPECT_EQ(static_cast<const void*>(array->bytes().data()), &value);
  const Future<void> released = put->source_released;
  sim.run_until_idle();  // the calls have left
  put.reset();
  EXPECT_FALSE(released.ready());
  array.reset();
  EXPECT_TRUE(released.ready());
}

TEST(SimClientTest, UnknownProgramNamesThoseThatAreKnown) {
  Simulation sim(11);
  SimDevices devices(sim);
  devices.program(identity(1ms));
  const Result<Executable> compiled =
      devices.client().compile(Program::from_text("sim:identify"), {});
  EXPECT_EQ(compiled.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(compiled.error().message(), HasSubstr("identity"));
}

}  // namespace
}  // namespace millrace::devices::sim
