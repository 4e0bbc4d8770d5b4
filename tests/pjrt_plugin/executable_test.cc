// Executables: what is known of one, to bytes and back, for a topology; and how arrays lie.
#include <gmock/gmock.h>

#include <map>

#include "millrace/devices/pjrt/abi/extensions.h"
#include "tests/pjrt_plugin/plugin_fixture.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

class ExecutableTest : public PluginTest {
 protected:
  static abi::Executable* executable_of(abi::LoadedExecutable* loaded) {
    abi::LoadedExecutableGetExecutableArgs args{{}, loaded};
    must(args);
    return args.executable;
  }
  static void destroy_executable(abi::Executable* executable) {
    abi::ExecutableDestroyArgs args{{}, executable};
    must(args);
  }
  static std::string serialized(abi::Executable* executable) {
    abi::ExecutableSerializeArgs args{{}, executable};
    must(args);
    std::string bytes(args.serialized_bytes, args.serialized_bytes_size);
    args.serialized_executable_deleter(args.serialized_executable);
    return bytes;
  }
  Outcome load(const std::string& bytes, abi::LoadedExecutable*& loaded) {
    abi::ExecutableDeserializeAndLoadArgs args{{}, client_, bytes.data(), bytes.size()};
    const Outcome outcome = call(args);
    loaded = args.loaded_executable;
    return outcome;
  }
};

TEST_F(ExecutableTest, WhatIsSerializedRunsOnAnotherClient) {
  abi::LoadedExecutable* const first = compiled(kPlusOne);
  abi::Executable* const executable = executable_of(first);
  const std::string bytes = serialized(executable);
  destroy_executable(executable);
  destroy(first);
  destroy(std::exchange(client_, make_client({})));
  abi::LoadedExecutable* loaded = nullptr;
  const Outcome outcome = load(bytes, loaded);
  ASSERT_TRUE(outcome.ok()) << outcome.message;
  const std::vector<float> values = {1, 2, 3, 4};
  abi::Buffer* const x = put(values);
  const Launch made = launch(loaded, {x});
  ASSERT_TRUE(made.outcome.ok()) << made.outcome.message;
  EXPECT_EQ(fetched(made.outputs[0]), (std::vector<float>{2, 3, 4, 5}));
  destroy(made.done);
  destroy(made.outputs[0]);
  destroy(x);
  destroy(loaded);
}

TEST_F(ExecutableTest, BytesThatAreCutAreRefused) {
  abi::LoadedExecutable* const first = compiled(kPlusOne);
  abi::Executable* const executable = executable_of(first);
  const std::string bytes = serialized(executable);
  abi::LoadedExecutable* loaded = nullptr;
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(load(bytes.substr(0, size), loaded).ok()) << size;
  EXPECT_EQ(load("nonsense", loaded).code, 3);
  destroy_executable(executable);
  destroy(first);
}

TEST_F(ExecutableTest, ItSaysWhatItCostsAndTakes) {
  abi::LoadedExecutable* const loaded = compiled(kDonatingSum);
  abi::Executable* const executable = executable_of(loaded);
  abi::ExecutableGetCostAnalysisArgs cost{{}, executable};
  must(cost);
  std::map<std::string, float> costs;
  for (std::size_t i = 0; i < cost.num_properties; ++i) {
    const abi::NamedValue& value = cost.properties[i];
    costs[std::string(value.name, value.name_size)] = value.value.number;
  }
  EXPECT_EQ(costs["flops"], 4);
  EXPECT_EQ(costs["bytes accessed"], 48);
  abi::ExecutableGetCompiledMemoryStatsArgs memory{{}, executable};
  must(memory);
  EXPECT_EQ(memory.argument_bytes, 32);
  EXPECT_EQ(memory.output_bytes, 16);
  EXPECT_EQ(memory.alias_bytes, 16);
  destroy_executable(executable);
  destroy(loaded);
}

TEST_F(ExecutableTest, WhatIsCompiledForATopologyRunsOnAClient) {
  abi::TopologyCreateArgs topology;
  must(topology);
  std::string text = kPlusOne, format = "mlir";
  abi::Program program{
      {abi::kStructSize<abi::Program>}, text.data(), text.size(), format.data(), 4};
  const std::string options = portable();
  abi::CompileArgs args{{}, topology.topology, &program, options.data(), options.size()};
  must(args);
  abi::LoadedExecutable* loaded = nullptr;
  const Outcome outcome = load(serialized(args.executable), loaded);
  ASSERT_TRUE(outcome.ok()) << outcome.message;
  destroy(loaded);
  destroy_executable(args.executable);
  abi::TopologyDestroyArgs end{{}, topology.topology};
  must(end);
}

TEST_F(ExecutableTest, AProgramOfAnotherFormatOrWithBadOptionsIsRefused) {
  abi::LoadedExecutable* loaded = nullptr;
  const Outcome format = compile(kPlusOne, loaded, portable(), "hlo");
  EXPECT_EQ(format.code, 12);
  EXPECT_THAT(format.message, HasSubstr("'hlo'"));
  EXPECT_EQ(compile(kPlusOne, loaded, "no message of protobuf's").code, 3);
  const Outcome text = compile("module {", loaded);
  EXPECT_EQ(text.code, 3);
}

TEST_F(ExecutableTest, AnExecutableIsLoadedOnThisClientAndOnAnother) {
  abi::LoadedExecutable* const first = compiled(kPlusOne);
  abi::LoadedExecutableGetExecutableArgs known{{}, first};
  must(known);
  for (const bool elsewhere : {false, true}) {
    abi::Client* const own = client_;
    if (elsewhere) client_ = make_client({{"num_devices", 1}});
    abi::ClientLoadArgs args{{}, client_, known.executable};
    must(args);
    abi::LoadedExecutableFingerprintArgs before{{}, first}, after{{}, args.loaded_executable};
    must(before);
    must(after);
    EXPECT_EQ(std::string(before.fingerprint, before.fingerprint_size),
              std::string(after.fingerprint, after.fingerprint_size));
    const std::vector<float> values = {1, 2, 3, 4};
    abi::Buffer* const x = put(values);
    const Launch made = launch(args.loaded_executable, {x});
    ASSERT_TRUE(made.outcome.ok()) << made.outcome.message;
    EXPECT_TRUE(awaited(made.done).ok());
    EXPECT_EQ(fetched(made.outputs[0]), (std::vector<float>{2, 3, 4, 5}));
    destroy(made.outputs[0]);
    destroy(x);
    destroy(args.loaded_executable);
    if (elsewhere) destroy(std::exchange(client_, own));
  }
  destroy_executable(known.executable);
  destroy(first);
}

}  // namespace
}  // namespace millrace::testing
