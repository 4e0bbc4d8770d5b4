// The plugin's table, and calls on it as a client in C makes them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/devices/pjrt/abi/implement.h"
#include "millrace/tools/pjrt_plugin/table.h"

namespace millrace::testing {

namespace abi = devices::pjrt::abi;

// How a call ended: code 0 and no text where it went well.
struct Outcome {
  int code = 0;
  std::string message;
  bool ok() const { return code == 0; }
};

inline const abi::Api& plugin_api() {
  static const abi::Api api = pjrt_plugin::make_api();
  return api;
}

// One of the table's, which is there.
inline const abi::Extension& extension(int type) {
  const auto* found = static_cast<const abi::Extension*>(plugin_api().extension_start);
  while (found->type != type) found = found->next;
  return *found;
}

// Takes the error, which may be null.
inline Outcome taken(abi::Error* error) {
  if (error == nullptr) return {};
  abi::ErrorGetCodeArgs code{{abi::Call<abi::ErrorGetCodeArgs>::kSize}, error};
  EXPECT_EQ(plugin_api().function<abi::ErrorGetCodeArgs>()(&code), nullptr);
  abi::ErrorMessageArgs message{{abi::Call<abi::ErrorMessageArgs>::kSize}, error};
  plugin_api().function<abi::ErrorMessageArgs>()(&message);
  Outcome outcome{code.code, std::string(message.message, message.message_size)};
  abi::ErrorDestroyArgs destroy{{abi::Call<abi::ErrorDestroyArgs>::kSize}, error};
  plugin_api().function<abi::ErrorDestroyArgs>()(&destroy);
  return outcome;
}

// Calls with a structure of that size; 0: the whole one.
template <class A>
Outcome call(A& args, std::size_t size = 0) {
  args.struct_size = size != 0 ? size : abi::Call<A>::kSize;
  return taken(plugin_api().function<A>()(&args));
}
// For calls that must go well.
template <class A>
void must(A& args) {
  const Outcome outcome = call(args);
  ASSERT_TRUE(outcome.ok()) << to_string(abi::Call<A>::kSlot) << ": " << outcome.message;
}

class PluginTest : public ::testing::Test {
 protected:
  void SetUp() override { client_ = make_client({{"num_devices", 2}}); }
  void TearDown() override {
    if (client_ != nullptr) destroy(client_);
  }

  static abi::Client* make_client(
      const std::vector<std::pair<std::string, std::int64_t>>& options) {
    std::vector<abi::NamedValue> values;
    for (const auto& [name, number] : options) {
      abi::NamedValue value;
      value.struct_size = sizeof(abi::NamedValue);
      value.name = name.data();
      value.name_size = name.size();
      value.type = abi::ValueType::kInt64;
      value.value.int64 = number;
      values.push_back(value);
    }
    abi::ClientCreateArgs args;
    args.create_options = values.data();
    args.num_options = values.size();
    must(args);
    return args.client;
  }
  static void destroy(abi::Client* client) {
    abi::ClientDestroyArgs args{{}, client};
    must(args);
  }
  static void destroy(abi::Buffer* buffer) {
    abi::BufferDestroyArgs args{{}, buffer};
    must(args);
  }
  static void destroy(abi::Event* event) {
    abi::EventDestroyArgs args{{}, event};
    must(args);
  }
  static void destroy(abi::LoadedExecutable* executable) {
    abi::LoadedExecutableDestroyArgs args{{}, executable};
    must(args);
  }
  static abi::Device* device(abi::Client* client, std::size_t i = 0) {
    abi::ClientDevicesArgs args{{}, client};
    must(args);
    return args.devices[i];
  }
  // Waits, and destroys it.
  static Outcome awaited(abi::Event* event) {
    abi::EventAwaitArgs args{{}, event};
    Outcome outcome = call(args);
    destroy(event);
    return outcome;
  }

  abi::ClientBufferFromHostBufferArgs put_args(std::span<const float> values, std::size_t on = 0) {
    dims_ = {static_cast<std::int64_t>(values.size())};
    abi::ClientBufferFromHostBufferArgs args;
    args.client = client_;
    args.data = values.data();
    args.type = abi::BufferType::kF32;
    args.dims = dims_.data();
    args.num_dims = 1;
    args.device = device(client_, on);
    return args;
  }
  abi::Buffer* put(std::span<const float> values, std::size_t on = 0) {
    abi::ClientBufferFromHostBufferArgs args = put_args(values, on);
    must(args);
    EXPECT_TRUE(awaited(args.done_with_host_buffer).ok());
    return args.buffer;
  }
  static Outcome fetch(abi::Buffer* buffer, std::vector<float>& values) {
    abi::BufferToHostBufferArgs args{{}, buffer};
    must(args);
    values.resize(args.dst_size / sizeof(float));
    args.dst = values.data();
    const Outcome called = call(args);
    return called.ok() ? awaited(args.event) : called;
  }
  static std::vector<float> fetched(abi::Buffer* buffer) {
    std::vector<float> values;
    const Outcome outcome = fetch(buffer, values);
    EXPECT_TRUE(outcome.ok()) << outcome.message;
    return values;
  }

  // options: a CompileOptionsProto.
  Outcome compile(const std::string& code, abi::LoadedExecutable*& executable,
                  const std::string& options = portable(), std::string format = "mlir") {
    std::string text = code;
    abi::Program program;
    program.struct_size = abi::kStructSize<abi::Program>;
    program.code = text.data();
    program.code_size = text.size();
    program.format = format.data();
    program.format_size = format.size();
    abi::ClientCompileArgs args;
    args.client = client_;
    args.program = &program;
    args.compile_options = options.data();
    args.compile_options_size = options.size();
    const Outcome outcome = call(args);
    executable = args.executable;
    return outcome;
  }
  abi::LoadedExecutable* compiled(const std::string& code) {
    abi::LoadedExecutable* executable = nullptr;
    const Outcome outcome = compile(code, executable);
    EXPECT_TRUE(outcome.ok()) << outcome.message;
    return executable;
  }
  // {compile_portable_executable: true}
  static std::string portable() { return std::string("\x20\x01", 2); }

  struct Launch {
    Outcome outcome;
    std::vector<abi::Buffer*> outputs;
    abi::Event* done = nullptr;
  };
  Launch launch(abi::LoadedExecutable* executable, const std::vector<abi::Buffer*>& inputs,
                std::size_t outputs = 1, std::size_t on = 0) {
    Launch made;
    made.outputs.resize(outputs);
    abi::Buffer* const* arguments = inputs.data();
    abi::Buffer** results = made.outputs.data();
    abi::LoadedExecutableExecuteArgs args;
    args.executable = executable;
    args.argument_lists = &arguments;
    args.num_devices = 1;
    args.num_args = inputs.size();
    args.output_lists = &results;
    args.device_complete_events = &made.done;
    args.execute_device = device(client_, on);
    made.outcome = call(args);
    return made;
  }
  static bool is_deleted(abi::Buffer* buffer) {
    abi::BufferIsDeletedArgs args{{}, buffer};
    must(args);
    return args.is_deleted;
  }

  abi::Client* client_ = nullptr;
  std::vector<std::int64_t> dims_;
};

inline constexpr const char* kPlusOne = R"(
module @plus_one {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %one = stablehlo.constant dense<1.0> : tensor<4xf32>
    %y = stablehlo.add %x, %one : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
)";
inline constexpr const char* kDonatingSum = R"(
module @donating_sum {
  func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<4xf32>)
      -> tensor<4xf32> {
    %z = stablehlo.add %x, %y : tensor<4xf32>
    return %z : tensor<4xf32>
  }
}
)";

}  // namespace millrace::testing
