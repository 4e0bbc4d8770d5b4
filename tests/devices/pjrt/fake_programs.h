// FakePrograms: a fixture with a client of a FakePlugin whose one program returns its inputs.
// Its runs end when a test says so.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "millrace/devices/pjrt/client.h"
#include "tests/devices/pjrt/fake_plugin.h"

namespace millrace::devices::pjrt {

using testing::FakePlugin;

class FakePrograms : public ::testing::Test {
 protected:
  static constexpr std::string_view kProgram =
      "func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
      "  return %a : tensor<4xf32>\n"
      "}\n";
  static inline const Shape kVector{DType::kF32, {4}};

  template <class T>
  static T* handle() {
    static char something[1];
    return reinterpret_cast<T*>(something);  // only the plugin would look into it
  }

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
    MILLRACE_TRY(const Buffer input, put());
    return launch(input, result);
  }
  Status launch(const Buffer& input, LaunchResult& result) {
    MILLRACE_TRY(const Executable same, compile());
    const std::span<const Buffer> lists[] = {{&input, 1}};
    const DeviceId devices[] = {DeviceId{0}};
    return same.body()->launch({.devices = devices, .arguments = lists}, {&result, 1});
  }
  // The function of A gives an error of the plugin's own.
  template <class A>
  void refuse() {
    fake_.replace(+[](A*) -> abi::Error* { return FakePlugin::make_error(8, "no room"); });
  }

  static inline abi::Event* done = nullptr;
  FakePlugin fake_;
  const Plugin* plugin_ = Plugin::adopt(fake_.api(), "fake.so").value();
  SerialExecutor executor_{SerialExecutor::InOrder{}};
  std::unique_ptr<PjrtClient> client_;
};

}  // namespace millrace::devices::pjrt
