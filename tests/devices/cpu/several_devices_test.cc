// Programs for several devices, by a compiler of the test's own: what the client does with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "millrace/devices/cpu/client.h"
#include "millrace/devices/cpu/execution.h"
#include "millrace/devices/device_body.h"
#include "tests/support/sum_program.h"

namespace millrace::devices::cpu {
namespace {

using millrace::testing::scripted;
using millrace::testing::ScriptedProgram;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t kElements = 4;
const Shape kVector(DType::kF32, {kElements});

ScriptedProgram sum_program(std::size_t devices) {
  return millrace::testing::sum_over_devices(devices, kElements);
}

// One thread, the test's.
class SeveralDevicesTest : public ::testing::Test {
 protected:
  void start(ScriptedProgram program, std::size_t devices = 2) {
    CpuClientOptions options;
    options.threads.assign(devices, {.executor = &executor_, .parallel = parallel_.get()});
    options.compile = [this](const Program& of, const CompileOptions& how,
                             const CompileContext& context) {
      const auto named = programs_.find(of.name());  // a loaded one has another name
      return scripted(named != programs_.end() ? named->second : programs_.at("sum"))(of, how,
                                                                                      context);
    };
    client_.emplace(std::move(options));
    programs_["sum"] = std::move(program);
    executable_ = compile(static_cast<int>(devices)).value();
  }
  Result<Executable> compile(int replicas, std::optional<std::vector<DeviceId>> devices = {},
                             const std::string& name = "sum") {
    CompileOptions options{.replicas = replicas};
    std::vector<DeviceId> all;
    for (int d = 0; d < replicas; ++d) all.push_back(DeviceId{d});
    options.devices = ListOf<DeviceId>(devices.value_or(all));
    return client_->compile(Program::from_text("scripted", name), options);
  }
  void TearDown() override {
    executable_ = {};
    if (!client_) return;
    const Future<void> closed = client_->close();
    executor_.run_until_idle();
    EXPECT_TRUE(closed.ready());
  }

  Buffer put(float value, int device) {
    const std::array<float, kElements> values = {value, value, value, value};
    return client_
        ->put({.data = values.data(), .shape = kVector},
              HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{device}, -1)
        .value()
        .buffer;
  }
  Result<std::vector<LaunchResult>> launch(const std::vector<Buffer>& arguments,
                                           std::vector<DeviceId> ids = {}) {
    std::vector<std::span<const Buffer>> lists;
    for (std::size_t d = 0; d < arguments.size(); ++d) lists.emplace_back(&arguments[d], 1);
    if (ids.empty()) {
      for (std::size_t d = 0; d < arguments.size(); ++d)
        ids.push_back(DeviceId{static_cast<int>(d)});
    }
    std::vector<LaunchResult> results(arguments.size());
    MILLRACE_TRY_STATUS(executable_.body()->launch({.devices = ids, .arguments = lists}, results));
    return results;
  }
  CpuExecutable& body() const { return static_cast<CpuExecutable&>(*executable_.body()); }
  Result<LaunchResult> part(const Buffer& argument, int device) {
    const DeviceId id{device};
    const std::span<const Buffer> list(&argument, 1);
    return body().launch_part({.devices = {&id, 1}, .arguments = {&list, 1}});
  }
  static float value_of(const Buffer& buffer) {
    return reinterpret_cast<const float*>(buffer.host_access().value().bytes.data())[kElements - 1];
  }
  static std::string error_of(const Buffer& buffer) {
    const Future<void> ready = buffer.ready();
    if (!ready.ready()) return "not ready";
    return ready.cell()->error() == nullptr ? "none" : ready.cell()->error()->to_string();
  }
  std::int64_t bytes_in_use(int device) const {
    return client_->memory_stats(DeviceId{device}).value().bytes_in_use;
  }

  SerialExecutor executor_{SerialExecutor::InOrder{}};
  std::unique_ptr<Parallel> parallel_ = make_serial_parallel();
  std::map<std::string, ScriptedProgram> programs_;
  std::optional<CpuClient> client_;
  Executable executable_;
};

TEST_F(SeveralDevicesTest, EachDeviceGetsItsOwnResultAndAllShareWhatIsEqual) {
  start(sum_program(3), 3);
  EXPECT_EQ(executable_.body()->devices_per_launch(), 3);
  EXPECT_THAT(executable_.input_shapes(), ElementsAre(kVector));
  EXPECT_THAT(executable_.output_shapes(), ElementsAre(kVector, kVector));
  const std::vector<LaunchResult> results = launch({put(1, 0), put(2, 1), put(3, 2)}).value();
  executor_.run_until_idle();
  for (std::size_t d = 0; d < 3; ++d) {
    SCOPED_TRACE(d);
    const Buffers& outputs = results[d].outputs;
    EXPECT_EQ(outputs[0].device(), DeviceId{static_cast<int>(d)});
    EXPECT_EQ(value_of(outputs[0]), 6);
    EXPECT_EQ(value_of(outputs[1]), static_cast<float>(d) + 2);
    EXPECT_TRUE(results[d].done.ready());
    EXPECT_EQ(outputs[0].host_access().value().bytes.data(),
              results[0].outputs[0].host_access().value().bytes.data());
  }
  EXPECT_EQ(bytes_in_use(0), 2 * 64);  // the sum is counted once
  EXPECT_EQ(bytes_in_use(1), 64);
}

TEST_F(SeveralDevicesTest, TheLaunchWaitsForTheInputsOfAllDevices) {
  start(sum_program(2));
  LateArray late = client_->make_late(kVector, DeviceId{1}).value();
  const std::vector<LaunchResult> results = launch({put(1, 0), late.buffer()}).value();
  executor_.run_until_idle();
  EXPECT_FALSE(results[0].outputs[0].ready().ready());
  std::ranges::fill(std::span(reinterpret_cast<float*>(late.bytes().data()), kElements), 5.0F);
  late.write();
  executor_.run_until_idle();
  EXPECT_EQ(value_of(results[0].outputs[0]), 6);
}

// CE-2
TEST_F(SeveralDevicesTest, AnInputThatFailsFailsTheOutputsOfAllDevices) {
  start(sum_program(2));
  LateArray late = client_->make_late(kVector, DeviceId{1}).value();
  const std::vector<LaunchResult> results = launch({put(1, 0), late.buffer()}).value();
  late.fail(Error(ErrorCode::kDataLoss, "it was lost on the way"));
  executor_.run_until_idle();
  for (const LaunchResult& result : results) {
    for (const Buffer& output : result.outputs)
      EXPECT_THAT(error_of(output), HasSubstr("lost on the way"));
  }
}

// CE-2
TEST_F(SeveralDevicesTest, ADeviceKilledInTheMiddleFailsEveryOutputByItsNameAndTheNextProgramRuns) {
  ScriptedProgram program = sum_program(2);
  bool kills = true;
  program.body = [&, sum = program.body](const RunCall& call) -> Status {
    const auto written = call.output_written;
    auto kill_between = [&](int output) {
      written(output);
      if (!std::exchange(kills, false)) return;
      EXPECT_TRUE(client_->kill(DeviceId{1}, Error(ErrorCode::kInternal, "its core melted")));
    };
    return sum({.inputs = call.inputs,
                .outputs = call.outputs,
                .parallel = call.parallel,
                .output_written = kill_between,
                .stop = call.stop});
  };
  start(std::move(program));
  const std::vector<LaunchResult> results = launch({put(1, 0), put(2, 1)}).value();
  executor_.run_until_idle();
  for (const LaunchResult& result : results) {
    EXPECT_FALSE(result.done.cell()->error() == nullptr);
    for (const Buffer& output : result.outputs) {
      EXPECT_THAT(error_of(output), HasSubstr("its core melted"));
      const Error& error = *output.ready().cell()->error();
      ASSERT_NE(error.detail<DeviceFailure>(), nullptr);
      EXPECT_EQ(error.detail<DeviceFailure>()->device, DeviceId{1});
      EXPECT_THAT(error.to_string(), HasSubstr("CPU devices 0, 1, of which 1 has failed"));
    }
  }
  EXPECT_THAT(launch({put(1, 0), put(2, 0)}).error().message(), HasSubstr("argument 0"));
  ASSERT_TRUE(client_->restart(DeviceId{1}));
  const std::vector<LaunchResult> again = launch({put(1, 0), put(2, 1)}).value();
  executor_.run_until_idle();
  EXPECT_EQ(value_of(again[0].outputs[0]), 3);
}

TEST_F(SeveralDevicesTest, WhatDoesNotFitTheDevicesIsRefusedWithTheNumbers) {
  start(sum_program(2));
  EXPECT_THAT(compile(5).error().message(),
              HasSubstr("is for 5 replicas of 1 partitions, which takes 5 devices; the CPU client "
                        "has 2"));
  EXPECT_THAT(compile(2, {{DeviceId{1}, DeviceId{1}}}).error().message(),
              HasSubstr("names device 1 twice"));
  EXPECT_THAT(compile(2, {{DeviceId{1}}}).error().message(),
              HasSubstr("takes 2 devices; CompileOptions::devices names 1"));
  EXPECT_THAT(compile(2, {{DeviceId{1}, DeviceId{2}}}).error().message(),
              HasSubstr("no CPU device 2"));
  EXPECT_THAT(compile(0).error().message(), HasSubstr("at least one"));
  EXPECT_THAT(launch({put(1, 1), put(2, 0)}, {DeviceId{1}, DeviceId{0}}).error().message(),
              HasSubstr("sum was compiled for CPU devices 0, 1, not 1, 0"));
  EXPECT_THAT(launch({put(1, 0)}).error().message(), HasSubstr("takes 2 devices, not 1"));
}

TEST_F(SeveralDevicesTest, DevicesMayStandInAnyOrder) {
  start(sum_program(2));
  executable_ = compile(2, {{DeviceId{1}, DeviceId{0}}}).value();
  const std::vector<LaunchResult> results =
      launch({put(1, 1), put(2, 0)}, {DeviceId{1}, DeviceId{0}}).value();
  executor_.run_until_idle();
  EXPECT_EQ(results[0].outputs[1].device(), DeviceId{1});
  EXPECT_EQ(value_of(results[0].outputs[1]), 2);
  EXPECT_EQ(value_of(results[1].outputs[1]), 3);
}

TEST_F(SeveralDevicesTest, SerializedBytesKeepTheDevices) {
  start(sum_program(2));
  executable_ = compile(2, {{DeviceId{1}, DeviceId{0}}}).value();
  executable_ = client_->load(executable_.body()->serialize().value()).value();
  EXPECT_EQ(executable_.body()->devices_per_launch(), 2);
  EXPECT_EQ(body().devices()[0]->id(), DeviceId{1});
  const std::string bytes = executable_.body()->serialize().value();
  const Program program = Program::from_text("scripted", "sum");
  EXPECT_EQ(client_->load_compiled(bytes, program, {}).error().code(), ErrorCode::kDataLoss);
}

// (a, donated) -> a + 1 on two devices, each its own; or `shared`: both read that of device 0.
ScriptedProgram increments(bool shared) {
  const std::size_t runs = shared ? 1 : 2;
  ScriptedProgram program{.inputs = std::vector(runs, kVector),
                          .outputs = std::vector(runs, kVector)};
  program.parts = DeviceParts{.arguments = {kVector}, .results = {kVector}, .donated = {0}};
  for (int d = 0; d < 2; ++d) {
    program.parts->outputs.push_back({shared ? 0 : d});
    if (shared && d > 0) continue;
    program.parts->inputs.push_back({.device = d, .argument = 0});
    program.aliases.push_back({.output = d, .input = d});
  }
  program.body = [runs](const RunCall& call) -> Status {
    for (std::size_t d = 0; d < runs; ++d) {
      for (std::size_t i = 0; i < kElements; ++i) {
        static_cast<float*>(call.outputs[d])[i] = static_cast<const float*>(call.inputs[d])[i] + 1;
      }
      call.output_written(static_cast<int>(d));
    }
    return {};
  };
  return program;
}

TEST_F(SeveralDevicesTest, AnArrayThatAllDevicesDonateIsWrittenInPlace) {
  start(increments(true));
  const std::vector<LaunchResult> first = launch({put(1, 0), put(1, 1)}).value();
  executor_.run_until_idle();
  const std::byte* const place = first[0].outputs[0].host_access().value().bytes.data();
  ASSERT_EQ(first[1].outputs[0].host_access().value().bytes.data(), place);
  const auto next = launch({first[0].outputs[0], first[1].outputs[0]}).value();
  executor_.run_until_idle();
  EXPECT_TRUE(first[1].outputs[0].body()->removed());
  EXPECT_EQ(next[1].outputs[0].host_access().value().bytes.data(), place);
  EXPECT_EQ(value_of(next[1].outputs[0]), 3);
  // Not where one more reads it.
  const HostAccess reader = next[0].outputs[0].host_access().value();
  const auto last = launch({next[0].outputs[0], next[1].outputs[0]}).value();
  executor_.run_until_idle();
  EXPECT_NE(last[0].outputs[0].host_access().value().bytes.data(), place);
}

TEST_F(SeveralDevicesTest, AnArrayThatTheProgramReadsForTwoDevicesIsNotOverwritten) {
  start(increments(true));
  const std::vector<LaunchResult> shared = launch({put(1, 0), put(1, 1)}).value();
  executor_.run_until_idle();
  programs_["own"] = increments(false);
  executable_ = compile(2, {}, "own").value();
  const std::byte* const place = shared[0].outputs[0].host_access().value().bytes.data();
  const auto own = launch({shared[0].outputs[0], shared[1].outputs[0]}).value();
  executor_.run_until_idle();
  for (const LaunchResult& result : own) {
    EXPECT_EQ(value_of(result.outputs[0]), 3);
    EXPECT_NE(result.outputs[0].host_access().value().bytes.data(), place);
  }
  const auto next = launch({own[0].outputs[0], own[1].outputs[0]}).value();
  executor_.run_until_idle();
  EXPECT_EQ(value_of(next[1].outputs[0]), 4);
}

// A launch as one call per device.
TEST_F(SeveralDevicesTest, CallsOfOneDeviceEachMakeALaunchWhenAllHaveCome) {
  start(sum_program(2));
  const LaunchResult first = part(put(1, 0), 0).value();
  const LaunchResult second = part(put(10, 0), 0).value();
  executor_.run_until_idle();
  EXPECT_EQ(error_of(first.outputs[0]), "not ready");
  const LaunchResult other = part(put(2, 1), 1).value();
  executor_.run_until_idle();
  EXPECT_EQ(value_of(first.outputs[0]), 3);
  EXPECT_EQ(value_of(other.outputs[1]), 3);
  EXPECT_EQ(error_of(second.outputs[0]), "not ready");
  const LaunchResult last = part(put(20, 1), 1).value();
  executor_.run_until_idle();
  EXPECT_EQ(value_of(second.outputs[0]), 30);
  EXPECT_EQ(value_of(last.outputs[0]), 30);
}

TEST_F(SeveralDevicesTest, ACallThatIsRefusedWasNone) {
  start(sum_program(2), 2);
  EXPECT_THAT(part(put(1, 1), 0).error().message(), HasSubstr("is on device 1"));
  const LaunchResult one = part(put(1, 0), 0).value();
  const LaunchResult two = part(put(2, 1), 1).value();
  executor_.run_until_idle();
  EXPECT_EQ(value_of(one.outputs[0]), 3);
  EXPECT_EQ(value_of(two.outputs[0]), 3);
}

TEST_F(SeveralDevicesTest, ACloseFailsALaunchWhoseCallsHaveNotAllCome) {
  start(sum_program(2));
  const LaunchResult first = part(put(1, 0), 0).value();
  const Future<void> closed = client_->close();
  executor_.run_until_idle();
  EXPECT_TRUE(closed.ready());
  EXPECT_THAT(error_of(first.outputs[0]),
              HasSubstr("closed before all devices of a launch had been called"));
}

TEST_F(SeveralDevicesTest, AKilledDeviceFailsALaunchThatWaitsForItsCallAndTheCallThatComesLater) {
  start(sum_program(2));
  const LaunchResult first = part(put(1, 0), 0).value();
  EXPECT_TRUE(client_->kill(DeviceId{1}, Error(ErrorCode::kInternal, "its core melted")));
  executor_.run_until_idle();
  EXPECT_THAT(error_of(first.outputs[0]), HasSubstr("CPU device 1 of a launch has failed"));
  EXPECT_FALSE(part(put(1, 0), 0));  // the launch would be on a device that has failed
  ASSERT_TRUE(client_->restart(DeviceId{1}));
  const LaunchResult late = part(put(2, 1), 1).value();
  EXPECT_THAT(error_of(late.outputs[0]), HasSubstr("its core melted"));
  const LaunchResult one = part(put(1, 0), 0).value();
  const LaunchResult two = part(put(2, 1), 1).value();
  executor_.run_until_idle();
  EXPECT_EQ(value_of(one.outputs[0]), 3);
  EXPECT_EQ(value_of(two.outputs[0]), 3);
}

TEST_F(SeveralDevicesTest, WhatIsGivenUpFailsItsOutputs) {
  start(sum_program(2));
  const LaunchResult first = part(put(1, 0), 0).value();
  body().give_up_parts(Error(ErrorCode::kAborted, "the program went"));
  EXPECT_THAT(error_of(first.outputs[0]), HasSubstr("the program went"));
}

}  // namespace
}  // namespace millrace::devices::cpu
