// Programs of a plugin that breaks its own rules: what it does not give is an error that names the
// function, and never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "millrace/devices/pjrt/client.h"
#include "tests/devices/pjrt/fake_programs.h"
#include "tests/support/logged_words.h"

namespace millrace::devices::pjrt {
namespace {

using ::testing::HasSubstr;

class FakeProgramsTest : public FakePrograms {
 protected:
  static void expect_internal(const Status& status, const std::string& words) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kInternal);
    EXPECT_THAT(status.error().message(), HasSubstr(words));
  }
  template <class T>
  static Status status_of(const Result<T>& result) {
    return result ? Status() : Status(std::unexpected(result.error()));
  }

  static void expect_told(const Status& status, const std::string& words) {
    ASSERT_FALSE(status) << words;
    EXPECT_EQ(status.error().code(), ErrorCode::kResourceExhausted);
    EXPECT_EQ(status.error().message(), words + " of the plugin fake.so: no room");
    EXPECT_EQ(FakePlugin::errors_alive, 0);
  }
};

TEST_F(FakeProgramsTest, ProgramThatIsNotGivenIsAnError) {
  fake_.replace(+[](abi::LoadedExecutableGetExecutableArgs*) -> abi::Error* { return nullptr; });
  expect_internal(status_of(compile()),
                  "PJRT_LoadedExecutable_GetExecutable of the plugin fake.so gives no executable");
  fake_.replace(+[](abi::ClientCompileArgs*) -> abi::Error* { return nullptr; });
  expect_internal(status_of(compile()),
                  "PJRT_Client_Compile of the plugin fake.so gives no executable");
  fake_.replace(+[](abi::ExecutableDeserializeAndLoadArgs*) -> abi::Error* { return nullptr; });
  const std::string words =
      "PJRT_Executable_DeserializeAndLoad of the plugin fake.so gives no executable";
  expect_internal(status_of(client_->load("bytes")), words);
  expect_internal(status_of(client_->load_compiled(
                      "bytes", Program::from_text(std::string(kProgram), "same"), {})),
                  words);
}

TEST_F(FakeProgramsTest, ListsThatAreNotGivenAreErrors) {
  const Executable same = compile().value();
  fake_.replace(+[](abi::ExecutableGetCostAnalysisArgs* a) -> abi::Error* {
    a->num_properties = 2;
    return nullptr;
  });
  expect_internal(status_of(same.body()->cost_analysis()), "PJRT_Executable_GetCostAnalysis");
  fake_.replace(+[](abi::ExecutableOutputDimensionsArgs* a) -> abi::Error* {
    a->num_outputs = 1;
    return nullptr;
  });
  expect_internal(status_of(compile()), "PJRT_Executable_OutputDimensions");
  fake_.replace(+[](abi::ExecutableOutputElementTypesArgs* a) -> abi::Error* {
    a->num_output_types = 1;
    return nullptr;
  });
  expect_internal(status_of(compile()), "PJRT_Executable_OutputElementTypes");
}

TEST_F(FakeProgramsTest, MissingSerializedBytesAndAThrowingDeleterAreHarmless) {
  const Executable same = compile().value();
  fake_.replace(+[](abi::ExecutableSerializeArgs* a) -> abi::Error* {
    a->serialized_bytes = "abc";
    a->serialized_bytes_size = 3;
    a->serialized_executable_deleter = [](abi::SerializedExecutable*) { throw 5; };
    return nullptr;
  });
  EXPECT_EQ(same.body()->serialize().value(), "abc");
  fake_.replace(+[](abi::ExecutableSerializeArgs* a) -> abi::Error* {
    a->serialized_bytes_size = 3;
    return nullptr;
  });
  expect_internal(status_of(same.body()->serialize()), "PJRT_Executable_Serialize");
}

TEST_F(FakeProgramsTest, PutReportsItsSemanticsAndItsLayout) {
  static int semantics = -1;
  static std::int64_t fastest = -1;
  fake_.replace(+[](abi::ClientBufferFromHostBufferArgs* a) -> abi::Error* {
    semantics = a->host_buffer_semantics;
    fastest = a->device_layout == nullptr ? -1 : a->device_layout->tiled.minor_to_major[0];
    return FakePlugin::make_error(12, "this device writes into no memory of the host");
  });
  const float values[4] = {};
  const HostView view{.data = values, .shape = Shape(DType::kF32, {2, 2})};
  // No semantics is replaced by another: asking for this one fails with kUnimplemented.
  const auto mutable_copy =
      client_->put(view, HostBufferSemantics::kMutableZeroCopy, DeviceId{0}, -1);
  EXPECT_EQ(semantics, 3);
  EXPECT_EQ(fastest, -1);
  ASSERT_FALSE(mutable_copy);
  EXPECT_EQ(mutable_copy.error().code(), ErrorCode::kUnimplemented);
  EXPECT_THAT(mutable_copy.error().message(),
              HasSubstr("PJRT_Client_BufferFromHostBuffer of the plugin "));
  const DeviceLayout columns{.minor_to_major = {0, 1}};
  EXPECT_FALSE(client_->put_in(view, HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1,
                               columns));
  EXPECT_EQ(semantics, 0);
  EXPECT_EQ(fastest, 0);
}

TEST_F(FakeProgramsTest, BufferThatIsNotGivenIsAnError) {
  const Buffer source = put().value();
  fake_.replace(+[](abi::BufferCopyToDeviceArgs*) -> abi::Error* { return nullptr; });
  fake_.replace(+[](abi::BufferCopyToMemoryArgs*) -> abi::Error* { return nullptr; });
  expect_internal(status_of(client_->copy(source, DeviceId{0}, -1)), "PJRT_Buffer_CopyToDevice");
  expect_internal(status_of(client_->copy(source, DeviceId{0}, 3)), "PJRT_Buffer_CopyToMemory");
  fake_.replace(+[](abi::ClientBufferFromHostBufferArgs* a) -> abi::Error* {
    a->done_with_host_buffer = done = FakePlugin::make_event();
    return nullptr;
  });
  expect_internal(status_of(put()), "PJRT_Client_BufferFromHostBuffer");
  FakePlugin::set_event(done, 0, "");
}

TEST_F(FakeProgramsTest, OutputThatIsNotGivenIsAnErrorAndTheRunEnds) {
  fake_.replace(+[](abi::LoadedExecutableExecuteArgs* a) -> abi::Error* {
    a->device_complete_events[0] = done = FakePlugin::make_event();
    return nullptr;
  });
  LaunchResult result;
  expect_internal(launch(result),
                  "PJRT_LoadedExecutable_Execute of the plugin fake.so gives no output 0 of same");
  FakePlugin::set_event(done, 0, "");  // else the client would never close
}

// Its code and text, and in front, each once: what for, which function, whose.
TEST_F(FakeProgramsTest, ErrorsOfThePluginNameTheFunctionAndThePlugin) {
  const Executable same = compile().value();
  const Buffer there = put().value();
  std::array<std::byte, 16> bytes;
  const auto fetch = [&] { return there.body()->copy_to_host(bytes, nullptr).result(); };
  refuse<abi::ClientBufferFromHostBufferArgs>();
  expect_told(status_of(put()),
              "cannot put a tensor<4xf32> on device 0: PJRT_Client_BufferFromHostBuffer");
  refuse<abi::BufferCopyToDeviceArgs>();
  expect_told(status_of(client_->copy(there, DeviceId{0}, -1)),
              "cannot copy a tensor<4xf32> to device 0: PJRT_Buffer_CopyToDevice");
  refuse<abi::BufferCopyToMemoryArgs>();
  expect_told(status_of(client_->copy(there, DeviceId{0}, 3)),
              "cannot copy a tensor<4xf32> to device 0: PJRT_Buffer_CopyToMemory");
  fake_.replace(+[](abi::BufferToHostBufferArgs* a) -> abi::Error* {
    a->event = FakePlugin::make_event();
    FakePlugin::set_event(a->event, 8, "no room");
    return nullptr;
  });
  expect_told(fetch(), "cannot fetch a tensor<4xf32> on device 0: PJRT_Buffer_ToHostBuffer");
  refuse<abi::BufferToHostBufferArgs>();
  expect_told(fetch(), "cannot fetch a tensor<4xf32> on device 0: PJRT_Buffer_ToHostBuffer");
  refuse<abi::BufferReadyEventArgs>();
  expect_told(there.ready().result(),
              "cannot ask for the state of a tensor<4xf32> on device 0: PJRT_Buffer_ReadyEvent");
  refuse<abi::BufferGetMemoryLayoutArgs>();
  expect_told(
      status_of(there.body()->layout()),
      "cannot ask for the layout of a tensor<4xf32> on device 0: PJRT_Buffer_GetMemoryLayout");
  refuse<abi::BufferIsOnCpuArgs>();
  expect_told(status_of(there.host_access()),
              "cannot ask for the place of a tensor<4xf32> on device 0: PJRT_Buffer_IsOnCpu");
  refuse<abi::LoadedExecutableExecuteArgs>();
  LaunchResult result;
  const Buffer inputs[] = {there};
  const std::span<const Buffer> lists[] = {inputs};
  const DeviceId devices[] = {DeviceId{0}};
  expect_told(same.body()->launch({.devices = devices, .arguments = lists}, {&result, 1}),
              "cannot run same: PJRT_LoadedExecutable_Execute");
  refuse<abi::ExecutableSerializeArgs>();
  expect_told(status_of(same.body()->serialize()),
              "cannot serialize same: PJRT_Executable_Serialize");
  refuse<abi::ExecutableGetCostAnalysisArgs>();
  expect_told(status_of(same.body()->cost_analysis()),
              "cannot report what same costs: PJRT_Executable_GetCostAnalysis");
  refuse<abi::ExecutableDeserializeAndLoadArgs>();
  expect_told(status_of(client_->load("bytes")),
              "cannot load a program: PJRT_Executable_DeserializeAndLoad");
  refuse<abi::LoadedExecutableGetExecutableArgs>();
  expect_told(status_of(compile()), "cannot use same: PJRT_LoadedExecutable_GetExecutable");
  refuse<abi::ClientCompileArgs>();
  expect_told(status_of(compile()), "cannot compile same: PJRT_Client_Compile");
  refuse<abi::DeviceMemoryStatsArgs>();
  expect_told(status_of(client_->memory_stats(DeviceId{0})),
              "cannot report how much memory device 0 uses: PJRT_Device_MemoryStats");
  refuse<abi::ClientCreateArgs>();
  expect_told(status_of(PjrtClient::create(*plugin_, {.completions = &executor_})),
              "opening devices (PJRT API 0.115): PJRT_Client_Create");
  refuse<abi::PluginInitializeArgs>();
  expect_told(status_of(Plugin::adopt(fake_.api(), "fake.so")),
              "loading a PJRT plugin: PJRT_Plugin_Initialize");
}

TEST_F(FakeProgramsTest, StateOfABufferIsAskedForOnce) {
  static int asked = 0;
  static bool written = false;
  asked = 0;
  fake_.replace(+[](abi::BufferReadyEventArgs* a) -> abi::Error* {
    ++asked;
    a->event = done = FakePlugin::make_event();
    if (written) FakePlugin::set_event(a->event, 0, "");
    return nullptr;
  });
  written = true;
  const Buffer there = put().value();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(there.ready().result());
  EXPECT_EQ(asked, 1);
  written = false;
  for (const int code : {0, 8}) {
    asked = 0;
    const Buffer later = put().value();
    const Future<void> first = later.ready(), second = later.ready();
    EXPECT_EQ(asked, 1);
    EXPECT_FALSE(first.ready() || second.ready());
    FakePlugin::set_event(done, code, "no room");
    executor_.run_until_idle();
    for (const Future<void>& state : {first, second, later.ready()}) {
      ASSERT_TRUE(state.ready());
      EXPECT_EQ(state.result().has_value(), code == 0);
    }
    EXPECT_EQ(asked, 1);
  }
}

// On real threads, since they meet inside one buffer. Every other event is there at once.
TEST_F(FakeProgramsTest, StateOfABufferMayBeAskedForByManyThreadsAtOnce) {
  static std::mutex mutex;
  static std::vector<abi::Event*> later;
  static std::atomic<int> asked{0};
  fake_.replace(+[](abi::BufferReadyEventArgs* a) -> abi::Error* {
    a->event = FakePlugin::make_event();
    if (asked.fetch_add(1) % 2 != 0) {
      FakePlugin::set_event(a->event, 0, "");
    } else {
      const std::lock_guard lock(mutex);
      later.push_back(a->event);
    }
    return nullptr;
  });
  constexpr int kThreads = 4, kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    const Buffer there = put().value();
    std::latch begin(kThreads);
    std::array<Future<void>, kThreads> states;
    std::vector<std::thread> threads;
    for (Future<void>& state : states) {
      threads.emplace_back([&] {
        begin.arrive_and_wait();
        state = there.ready();
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (abi::Event* const event : std::exchange(later, {})) FakePlugin::set_event(event, 0, "");
    executor_.run_until_idle();
    for (const Future<void>& state : states) {
      ASSERT_TRUE(state.ready());
      EXPECT_TRUE(state.result());
    }
    EXPECT_TRUE(there.ready().ready());
  }
}

TEST_F(FakeProgramsTest, LaunchOfOneDeviceIsNotNumberedAmongThoseOfSeveral) {
  static int id = -1;
  fake_.replace(+[](abi::LoadedExecutableExecuteArgs* a) -> abi::Error* {
    id = a->options->launch_id;
    a->output_lists[0][0] = FakePlugin::make_buffer();
    a->device_complete_events[0] = FakePlugin::make_event();
    FakePlugin::set_event(a->device_complete_events[0], 0, "");
    return nullptr;
  });
  for (int i = 0; i < 2; ++i) {
    LaunchResult result;
    ASSERT_TRUE(launch(result));
    EXPECT_EQ(id, 0);
  }
}

TEST_F(FakeProgramsTest, RunThatFailsNamesTheProgram) {
  LaunchResult later;
  ASSERT_TRUE(launch(later));
  FakePlugin::set_event(done, 13, "fell over");
  executor_.run_until_idle();
  ASSERT_TRUE(later.done.ready());
  EXPECT_EQ(later.done.result().error().message(),
            "running same: PJRT_LoadedExecutable_Execute of the plugin fake.so: fell over");
  fake_.replace(+[](abi::LoadedExecutableExecuteArgs* a) -> abi::Error* {
    a->output_lists[0][0] = FakePlugin::make_buffer();
    a->device_complete_events[0] = FakePlugin::make_event();
    FakePlugin::set_event(a->device_complete_events[0], 13, "fell over");
    return nullptr;
  });
  LaunchResult at_once;
  ASSERT_TRUE(launch(at_once));
  ASSERT_TRUE(at_once.done.ready());
  EXPECT_EQ(at_once.done.result().error().message(), later.done.result().error().message());
}

constexpr int kInternalCode = 13;  // as plugins number it
std::optional<int> ends_at_once;   // with this code

// An output needs no event of its own: it is written when its run has ended well.
TEST_F(FakeProgramsTest, OutputIsWrittenOnceItsRunHasEndedWell) {
  fake_.replace(+[](abi::BufferReadyEventArgs*) -> abi::Error* {
    ADD_FAILURE() << "asked for";
    return FakePlugin::make_error(kInternalCode, "asked for");
  });
  fake_.replace(+[](abi::LoadedExecutableExecuteArgs* a) -> abi::Error* {
    a->output_lists[0][0] = FakePlugin::make_buffer();
    a->device_complete_events[0] = done = FakePlugin::make_event();
    if (ends_at_once) FakePlugin::set_event(done, *ends_at_once, "fell over");
    return nullptr;
  });
  for (const bool at_once : {true, false}) {
    for (const int code : {0, kInternalCode}) {
      SCOPED_TRACE(at_once);
      ends_at_once = at_once ? std::optional(code) : std::nullopt;
      LaunchResult result;
      ASSERT_TRUE(launch(result));
      result.done.ignore();
      const Future<void> ready = result.outputs[0].ready();
      EXPECT_EQ(ready.ready(), at_once);
      if (!at_once) FakePlugin::set_event(done, code, "fell over");
      executor_.run_until_idle();
      ASSERT_TRUE(ready.ready());
      EXPECT_EQ(ready.result().has_value(), code == 0);
      if (code == 0) continue;
      EXPECT_THAT(ready.result().error().message(), HasSubstr("running same: "));
    }
  }
}

std::size_t options_size = 0;

TEST_F(FakeProgramsTest, ExecuteOptionsAreAsLongAsThePluginsMinorHasThem) {
  fake_.replace(+[](abi::LoadedExecutableExecuteArgs* a) -> abi::Error* {
    const auto* bytes = reinterpret_cast<const char*>(a->options);
    options_size = a->options->struct_size;
    for (std::size_t i = sizeof(abi::ExecuteOptions); i < options_size; ++i) {
      if (bytes[i] != 0) return FakePlugin::make_error(3, "what is unknown is not zero");
    }
    return FakePlugin::make_error(12, "seen");
  });
  const std::map<int, std::size_t> sizes = {{68, 80},   {75, 80},   {76, 88},   {77, 88},
                                            {78, 112},  {81, 112},  {96, 112},  {97, 120},
                                            {109, 120}, {110, 144}, {115, 144}, {116, 200}};
  for (const auto& [minor, size] : sizes) {
    fake_.api()->version.minor_version = minor;
    LaunchResult result;
    EXPECT_EQ(launch(result).error().code(), ErrorCode::kUnimplemented) << minor;
    EXPECT_EQ(options_size, size) << minor;
  }
}

TEST_F(FakeProgramsTest, SizesThatNothingHasAreErrorsOfTheirFunction) {
  fake_.replace(+[](abi::ExecutableDeserializeAndLoadArgs* a) -> abi::Error* {
    a->loaded_executable = handle<abi::LoadedExecutable>();
    return nullptr;
  });
  fake_.replace(
      +[](abi::LoadedExecutableAddressableDevicesArgs*) -> abi::Error* { return nullptr; });
  EXPECT_TRUE(client_->load("bytes"));  // for any one device
  const Executable same = compile().value();
  fake_.replace(+[](abi::ExecutableSerializeArgs* a) -> abi::Error* {
    a->serialized_bytes = handle<char>();
    a->serialized_bytes_size = std::size_t{1} << 63;  // more than any string
    return nullptr;
  });
  const auto serialized = same.body()->serialize();
  ASSERT_FALSE(serialized);
  EXPECT_EQ(serialized.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_THAT(serialized.error().message(),
              HasSubstr("PJRT_Executable_Serialize of the plugin fake.so"));

  fake_.replace(+[](abi::ExecutableOptimizedProgramArgs* a) -> abi::Error* {
    a->program->code_size = std::size_t{1} << 62;
    return nullptr;
  });
  EXPECT_TRUE(compile());  // the program that was compiled tells as much
  const std::string of_fake = " of the plugin fake.so reports ";
  EXPECT_THAT(
      client_->load("bytes").error().message(),
      HasSubstr("PJRT_Executable_OptimizedProgram" + of_fake + "4611686018427387904 bytes"));
  fake_.replace(+[](abi::ExecutableParameterMemoryKindsArgs* a) -> abi::Error* {
    a->num_parameters = std::size_t{1} << 60;
    return nullptr;
  });
  EXPECT_THAT(client_->load("bytes").error().message(),
              HasSubstr("PJRT_Executable_ParameterMemoryKinds" + of_fake + "1152921504606846976"));

  static std::size_t replicas;
  fake_.replace(+[](abi::ExecutableNumReplicasArgs* a) -> abi::Error* {
    a->num_replicas = replicas;
    return nullptr;
  });
  for (const std::size_t told : {std::size_t{1} << 40, std::size_t{0}}) {
    replicas = told;
    const std::string words =
        "PJRT_Executable_NumReplicas" + of_fake + std::to_string(told) + " replicas: 1 to 65536";
    expect_internal(status_of(compile()), "cannot use same: " + words);
    expect_internal(status_of(client_->load("bytes")), words);
  }
  replicas = 2;  // on no device that the plugin lists
  fake_.remove(abi::Slot::kExecutable_OptimizedProgram);
  fake_.replace(+[](abi::ExecutableParameterMemoryKindsArgs* a) -> abi::Error* {
    a->num_parameters = 1;
    return nullptr;
  });
  EXPECT_THAT(client_->load("bytes").error().message(),
              HasSubstr("it runs on 2 devices, of which 0 are in this process"));
}

TEST_F(FakeProgramsTest, MissingDeterminismIsReportedOnce) {
  testing::LoggedWords log;
  ASSERT_TRUE(compile());
  EXPECT_EQ(log.text(), "");
  ASSERT_TRUE(compile({.deterministic = true}));
  EXPECT_THAT(log.text(), HasSubstr("same is compiled without the determinism"));
  EXPECT_THAT(log.text(), HasSubstr("fake.so"));
  const std::string once = log.text();
  ASSERT_TRUE(compile({.deterministic = true}));
  EXPECT_EQ(log.text(), once);
}

TEST_F(FakeProgramsTest, DeterminismIsNoMoreInWhatACacheHasKept) {
  fake_.replace(+[](abi::ExecutableDeserializeAndLoadArgs* a) -> abi::Error* {
    a->loaded_executable = handle<abi::LoadedExecutable>();
    return nullptr;
  });
  testing::LoggedWords log;
  const Program program = Program::from_text(std::string(kProgram), "same");
  ASSERT_TRUE(client_->load_compiled("kept", program, {}));
  EXPECT_EQ(log.text(), "");
  ASSERT_TRUE(client_->load_compiled("kept", program, {.deterministic = true}));
  EXPECT_THAT(log.text(), HasSubstr("same is compiled without the determinism"));
}

TEST_F(FakeProgramsTest, CountsThatAreNotThoseOfTheOptionsAreErrors) {
  fake_.replace(+[](abi::ExecutableNumReplicasArgs* a) -> abi::Error* {
    a->num_replicas = 3;
    return nullptr;
  });
  expect_internal(
      status_of(compile()),
      "cannot use same: PJRT_Executable_NumReplicas of the plugin fake.so reports 3 for "
      "what was compiled for 1");
}

TEST_F(FakeProgramsTest, InputThatLiesOtherwiseThanTheProgramTakesItIsRefused) {
  fake_.replace(+[](abi::ExecutableOptimizedProgramArgs* a) -> abi::Error* {
    // A module whose host_program_shape has one parameter: f32[2,3], minor to major {0, 1}.
    static constexpr std::string_view kModule(
        "\x22\x0e\x0a\x0c\x10\x0b\x1a\x02\x02\x03\x2a\x04\x0a\x02\x00\x01", 16);
    a->program->format = "hlo";
    a->program->format_size = 3;
    a->program->code_size = kModule.size();
    if (a->program->code != nullptr) std::memcpy(a->program->code, kModule.data(), kModule.size());
    return nullptr;
  });
  static std::array<std::int64_t, 2> order;
  fake_.replace(+[](abi::BufferGetMemoryLayoutArgs* a) -> abi::Error* {
    a->layout.type = abi::LayoutType::kTiled;
    a->layout.tiled.minor_to_major = order.data();
    a->layout.tiled.minor_to_major_size = order.size();
    return nullptr;
  });
  const Executable program = compile().value();
  const std::array<float, 6> values{};
  const Buffer input = client_
                           ->put({.data = values.data(), .shape = Shape(DType::kF32, {2, 3})},
                                 HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1)
                           ->buffer;
  const Buffer inputs[] = {input};
  const std::span<const Buffer> lists[] = {inputs};
  const DeviceId devices[] = {DeviceId{0}};
  LaunchResult result;
  order = {1, 0};
  const Status refused =
      program.body()->launch({.devices = devices, .arguments = lists}, {&result, 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(
      refused.error().message(),
      HasSubstr("a tensor<2x3xf32>, lies in the layout {1,0}, but the program takes it in {0,1}"));
  order = {0, 1};
  ASSERT_TRUE(program.body()->launch({.devices = devices, .arguments = lists}, {&result, 1}));
  FakePlugin::set_event(done, 0, "");
  executor_.run_until_idle();
}

}  // namespace
}  // namespace millrace::devices::pjrt
