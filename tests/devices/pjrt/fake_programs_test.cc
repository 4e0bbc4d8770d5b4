// Programs of a plugin that breaks its own rules: what it does not give is an error that names the
// function, and never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "millrace/core/log.h"
#include "millrace/devices/pjrt/client.h"
#include "tests/devices/pjrt/fake_plugin.h"

namespace millrace::devices::pjrt {
namespace {

using testing::FakePlugin;
using ::testing::HasSubstr;

constexpr std::string_view kProgram =
    "func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  return %a : tensor<4xf32>\n"
    "}\n";
const Shape kVector(DType::kF32, {4});

char something[1];
template <class T>
T* handle() {
  return reinterpret_cast<T*>(something);  // only the plugin would look into it
}

class LoggedWords final : public LogSink {
 public:
  LoggedWords() { set_log_sink(this); }
  ~LoggedWords() override { set_log_sink(nullptr); }
  void write(LogLevel, std::string_view, std::string_view text) noexcept override {
    words += std::string(text) + "\n";
  }
  std::string words;
};

class FakeProgramsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_.replace(+[](abi::ClientCompileArgs* a) -> abi::Error* {
      a->executable = handle<abi::LoadedExecutable>();
      return nullptr;
    });
    fake_.replace(+[](abi::LoadedExecutableGetExecutableArgs* a) -> abi::Error* {
      a->executable = handle<abi::Executable>();
      return nullptr;
    });
    fake_.replace(+[](abi::LoadedExecutableDestroyArgs*) -> abi::Error* { return nullptr; });
    fake_.replace(+[](abi::ExecutableDestroyArgs*) -> abi::Error* { return nullptr; });
    fake_.replace(+[](abi::ExecutableNumReplicasArgs* a) -> abi::Error* {
      a->num_replicas = 1;
      return nullptr;
    });
    fake_.replace(+[](abi::ExecutableNumPartitionsArgs* a) -> abi::Error* {
      a->num_partitions = 1;
      return nullptr;
    });
    fake_.replace(+[](abi::ExecutableOutputElementTypesArgs* a) -> abi::Error* {
      static constexpr abi::BufferType kTypes[] = {abi::BufferType::kF32};
      a->output_types = kTypes;
      a->num_output_types = 1;
      return nullptr;
    });
    fake_.replace(+[](abi::ExecutableOutputDimensionsArgs* a) -> abi::Error* {
      static constexpr std::int64_t kDims[] = {4};
      static constexpr std::size_t kRanks[] = {1};
      a->dims = kDims;
      a->dim_sizes = kRanks;
      a->num_outputs = 1;
      return nullptr;
    });
    fake_.replace(+[](abi::ExecutableOptimizedProgramArgs* a) -> abi::Error* {
      a->program->format = "mlir";
      a->program->format_size = 4;
      a->program->code_size = kProgram.size();
      if (a->program->code != nullptr)
        std::memcpy(a->program->code, kProgram.data(), kProgram.size());
      return nullptr;
    });
    fake_.replace(+[](abi::LoadedExecutableExecuteArgs* a) -> abi::Error* {
      a->output_lists[0][0] = FakePlugin::make_buffer();
      a->device_complete_events[0] = done = FakePlugin::make_event();
      return nullptr;
    });
    client_ = PjrtClient::create(*plugin_, {.completions = &executor_}).value();
  }
  void TearDown() override {
    const Future<void> closed = client_->close();
    executor_.run_until_idle();
    EXPECT_TRUE(closed.ready());
    client_.reset();
    EXPECT_EQ(FakePlugin::buffers_alive, 0);
    EXPECT_EQ(FakePlugin::events_alive, 0);
    EXPECT_EQ(FakePlugin::clients_alive, 0);
  }
  Result<Executable> compile(const CompileOptions& options = {}) {
    return client_->compile(Program::from_text(std::string(kProgram), "same"), options);
  }
  Result<Buffer> put() {
    const std::array<float, 4> values{};
    MILLRACE_TRY(PutResult made,
                 client_->put({.data = values.data(), .shape = kVector},
                              HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1));
    return made.buffer;
  }
  Status launch(LaunchResult& result) {
    MILLRACE_TRY(const Executable same, compile());
    MILLRACE_TRY(const Buffer input, put());
    const Buffer inputs[] = {input};
    const std::span<const Buffer> lists[] = {inputs};
    const DeviceId devices[] = {DeviceId{0}};
    return same.body()->launch({.devices = devices, .arguments = lists}, {&result, 1});
  }
  static void expect_internal(const Status& status, const std::string& words) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kInternal);
    EXPECT_THAT(status.error().message(), HasSubstr(words));
  }
  template <class T>
  static Status status_of(const Result<T>& result) {
    return result ? Status() : Status(std::unexpected(result.error()));
  }

  static inline abi::Event* done = nullptr;
  FakePlugin fake_;
  const Plugin* plugin_ = Plugin::adopt(fake_.api(), "fake.so").value();
  SerialExecutor executor_{SerialExecutor::InOrder{}};
  std::unique_ptr<PjrtClient> client_;
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

TEST_F(FakeProgramsTest, SerializedBytesThatAreNotGivenAndADeleterThatThrowsHurtNobody) {
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

TEST_F(FakeProgramsTest, PutTellsItsSemanticsAndItsLayout) {
  static int semantics = -1;
  static std::int64_t fastest = -1;
  fake_.replace(+[](abi::ClientBufferFromHostBufferArgs* a) -> abi::Error* {
    semantics = a->host_buffer_semantics;
    fastest = a->device_layout == nullptr ? -1 : a->device_layout->tiled.minor_to_major[0];
    return FakePlugin::make_error(12, "this device writes into no memory of the host");
  });
  const float values[4] = {};
  const HostView view{.data = values, .shape = Shape(DType::kF32, {2, 2})};
  // Nothing is turned into something else: whoever asks for it hears that it is not there.
  const auto mutable_copy =
      client_->put(view, HostBufferSemantics::kMutableZeroCopy, DeviceId{0}, -1);
  EXPECT_EQ(semantics, 3);
  EXPECT_EQ(fastest, -1);
  ASSERT_FALSE(mutable_copy);
  EXPECT_EQ(mutable_copy.error().code(), ErrorCode::kUnimplemented);
  EXPECT_THAT(mutable_copy.error().message(), HasSubstr("PJRT_Client_BufferFromHostBuffer: "));
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

TEST_F(FakeProgramsTest, RunThatFailsNamesTheProgram) {
  LaunchResult later;
  ASSERT_TRUE(launch(later));
  FakePlugin::set_event(done, 13, "fell over");
  executor_.run_until_idle();
  ASSERT_TRUE(later.done.ready());
  EXPECT_EQ(later.done.result().error().message(),
            "running same: PJRT_LoadedExecutable_Execute: fell over");
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
int states_asked = 0;

TEST_F(FakeProgramsTest, OutputIsWrittenOnceItsRunHasEndedWell) {
  states_asked = 0;
  fake_.replace(+[](abi::BufferReadyEventArgs* a) -> abi::Error* {
    ++states_asked;
    a->event = FakePlugin::make_event();
    FakePlugin::set_event(a->event, 13, "not written");
    return nullptr;
  });
  const auto run_ends = [&](int code) {
    fake_.replace(code == 0 ? +[](abi::LoadedExecutableExecuteArgs* a) -> abi::Error* {
      a->output_lists[0][0] = FakePlugin::make_buffer();
      a->device_complete_events[0] = FakePlugin::make_event();
      FakePlugin::set_event(a->device_complete_events[0], 0, "");
      return nullptr;
    } : +[](abi::LoadedExecutableExecuteArgs* a) -> abi::Error* {
      a->output_lists[0][0] = FakePlugin::make_buffer();
      a->device_complete_events[0] = FakePlugin::make_event();
      FakePlugin::set_event(a->device_complete_events[0], kInternalCode, "fell over");
      return nullptr;
    });
    LaunchResult result;
    EXPECT_TRUE(launch(result));
    result.done.ignore();
    const Future<void> ready = result.outputs[0].ready();
    EXPECT_TRUE(ready.ready());
    return ready.result();
  };
  EXPECT_TRUE(run_ends(0));
  EXPECT_EQ(states_asked, 0);
  EXPECT_THAT(run_ends(kInternalCode).error().message(), HasSubstr("not written"));
  EXPECT_EQ(states_asked, 1);
  // Of a run that goes on, the plugin is asked.
  fake_.replace(+[](abi::LoadedExecutableExecuteArgs* a) -> abi::Error* {
    a->output_lists[0][0] = FakePlugin::make_buffer();
    a->device_complete_events[0] = done = FakePlugin::make_event();
    return nullptr;
  });
  LaunchResult later;
  ASSERT_TRUE(launch(later));
  EXPECT_FALSE(later.outputs[0].ready().result());
  EXPECT_EQ(states_asked, 2);
  FakePlugin::set_event(done, 0, "");
}

TEST_F(FakeProgramsTest, ExecuteOptionsHaveRoomForLaterMinors) {
  fake_.replace(+[](abi::LoadedExecutableExecuteArgs* a) -> abi::Error* {
    const auto* bytes = reinterpret_cast<const char*>(a->options);
    const bool roomy = a->options->struct_size == 200;
    for (int i = 112; roomy && i < 200; ++i) {
      if (bytes[i] != 0) return FakePlugin::make_error(3, "what is unknown is not zero");
    }
    return FakePlugin::make_error(roomy ? 12 : 3, "size");
  });
  LaunchResult result;
  EXPECT_EQ(launch(result).error().code(), ErrorCode::kUnimplemented);
}

TEST_F(FakeProgramsTest, DeterminismThatCannotBeHadIsToldOnce) {
  LoggedWords log;
  ASSERT_TRUE(compile());
  EXPECT_EQ(log.words, "");
  ASSERT_TRUE(compile({.deterministic = true}));
  EXPECT_THAT(log.words, HasSubstr("same is compiled without the determinism"));
  EXPECT_THAT(log.words, HasSubstr("fake.so"));
  const std::string once = log.words;
  ASSERT_TRUE(compile({.deterministic = true}));
  EXPECT_EQ(log.words, once);
}

TEST_F(FakeProgramsTest, DeterminismIsNoMoreInWhatACacheHasKept) {
  fake_.replace(+[](abi::ExecutableDeserializeAndLoadArgs* a) -> abi::Error* {
    a->loaded_executable = handle<abi::LoadedExecutable>();
    return nullptr;
  });
  LoggedWords log;
  const Program program = Program::from_text(std::string(kProgram), "same");
  ASSERT_TRUE(client_->load_compiled("kept", program, {}));
  EXPECT_EQ(log.words, "");
  ASSERT_TRUE(client_->load_compiled("kept", program, {.deterministic = true}));
  EXPECT_THAT(log.words, HasSubstr("same is compiled without the determinism"));
}

TEST_F(FakeProgramsTest, CountsThatAreNotThoseOfTheOptionsAreErrors) {
  fake_.replace(+[](abi::ExecutableNumReplicasArgs* a) -> abi::Error* {
    a->num_replicas = 3;
    return nullptr;
  });
  expect_internal(status_of(compile()),
                  "PJRT_Executable_NumReplicas of the plugin fake.so tells 3 for same, which was "
                  "compiled for 1");
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
