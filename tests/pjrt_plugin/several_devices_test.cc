// Programs for several devices, as one call of all of them and as a call per device.
#include <gmock/gmock.h>

#include "tests/pjrt_plugin/plugin_fixture.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSum = R"(
module @sum {
  func.func @main(%x: tensor<4xf32> {jax.buffer_donor = true}) -> (tensor<4xf32>, tensor<ui32>) {
    %y = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    %id = stablehlo.replica_id : tensor<ui32>
    return %y, %id : tensor<4xf32>, tensor<ui32>
  }
}
)";

class SeveralDevicesTest : public PluginTest {
 protected:
  // {executable_build_options {num_replicas}}
  static std::string replicas(char count) { return {'\x1a', '\x02', '\x20', count}; }
  abi::LoadedExecutable* compiled_sum() {
    abi::LoadedExecutable* executable = nullptr;
    const Outcome outcome = compile(kSum, executable, replicas(2));
    EXPECT_TRUE(outcome.ok()) << outcome.message;
    return executable;
  }
  static std::size_t device_id(abi::Buffer* buffer) {
    abi::BufferDeviceArgs on{{}, buffer};
    must(on);
    abi::DeviceGetDescriptionArgs description{{}, on.device};
    must(description);
    abi::DeviceDescriptionIdArgs id{{}, description.description};
    must(id);
    return static_cast<std::size_t>(id.id);
  }

  const std::vector<float> values_ = {1, 2, 3, 4};
  const std::vector<float> others_ = {10, 20, 30, 40};
};

TEST_F(SeveralDevicesTest, OneCallRunsAllDevices) {
  abi::LoadedExecutable* const executable = compiled_sum();
  abi::Buffer* const x[] = {put(values_, 0), put(others_, 1)};
  abi::Buffer* const* arguments[] = {&x[0], &x[1]};
  abi::Buffer* outputs[2][2] = {};
  abi::Buffer** lists[] = {outputs[0], outputs[1]};
  abi::Event* done[2] = {};
  abi::LoadedExecutableExecuteArgs args;
  args.executable = executable;
  args.argument_lists = arguments;
  args.num_devices = 2;
  args.num_args = 1;
  args.output_lists = lists;
  args.device_complete_events = done;
  must(args);
  for (std::size_t d = 0; d < 2; ++d) {
    EXPECT_TRUE(awaited(done[d]).ok());
    EXPECT_EQ(fetched(outputs[d][0]), (std::vector<float>{11, 22, 33, 44}));
    EXPECT_EQ(device_id(outputs[d][1]), d);
    EXPECT_TRUE(is_deleted(x[d]));
    for (abi::Buffer* buffer : outputs[d]) destroy(buffer);
    destroy(x[d]);
  }
  destroy(executable);
}

TEST_F(SeveralDevicesTest, TheExecutableSaysWhatItIsFor) {
  abi::LoadedExecutable* const executable = compiled_sum();
  abi::LoadedExecutableAddressableDevicesArgs devices{{}, executable};
  must(devices);
  EXPECT_EQ(devices.num_devices, 2U);
  abi::LoadedExecutableAddressableDeviceLogicalIdsArgs ids{{}, executable};
  must(ids);
  ASSERT_EQ(ids.num_ids, 2U);
  EXPECT_EQ(ids.ids[1].replica, 1);
  EXPECT_EQ(ids.ids[1].partition, 0);
  abi::LoadedExecutableGetExecutableArgs facts{{}, executable};
  must(facts);
  abi::ExecutableNumReplicasArgs replicas{{}, facts.executable};
  must(replicas);
  EXPECT_EQ(replicas.num_replicas, 2U);
  abi::ExecutableNumOutputsArgs outputs{{}, facts.executable};
  must(outputs);
  EXPECT_EQ(outputs.num_outputs, 2U);
  abi::ExecutableDestroyArgs end{{}, facts.executable};
  must(end);
  destroy(executable);
}

// JAX counts parameters and results by it, and makes HLO of it.
TEST_F(SeveralDevicesTest, TheTextOfAProgramForWholeArraysIsWhatADeviceGivesAndGets) {
  const char* const code =
      "module @step attributes {mhlo.num_partitions = 2 : i32} {\nsdy.mesh @mesh = <[\"x\"=2]>\n"
      "func.func public @main(%w: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %x: "
      "tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}) -> (tensor<8xf32> "
      "{sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}, tensor<4xf32> {sdy.sharding = "
      "#sdy.sharding<@mesh, [{}]>}) {\n%y = stablehlo.negate %x : tensor<8xf32>\nreturn %y, %w : "
      "tensor<8xf32>, tensor<4xf32>\n}\n}\n";
  abi::LoadedExecutable* executable = nullptr;
  const Outcome outcome =
      compile(code, executable, {'\x1a', '\x02', '\x28', '\x02'});  // num_partitions
  ASSERT_TRUE(outcome.ok()) << outcome.message;
  abi::LoadedExecutableGetExecutableArgs facts{{}, executable};
  must(facts);
  abi::Program program;
  program.struct_size = abi::kStructSize<abi::Program>;
  abi::ExecutableOptimizedProgramArgs asked{{}, facts.executable, &program};
  must(asked);
  std::string text(program.code_size, ' ');
  program.code = text.data();
  must(asked);
  EXPECT_THAT(text, HasSubstr("@main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> "
                              "(tensor<4xf32>, tensor<4xf32>)"));
  EXPECT_EQ(text.find("sdy."), text.npos) << text;
  abi::ExecutableDestroyArgs end{{}, facts.executable};
  must(end);
  destroy(executable);
}

TEST_F(SeveralDevicesTest, ACallPerDeviceMakesOneLaunchWhenAllHaveCome) {
  abi::LoadedExecutable* const executable = compiled_sum();
  abi::Buffer* const x = put(values_, 0);
  abi::Buffer* const y = put(others_, 1);
  const Launch first = launch(executable, {x}, 2, 0);
  ASSERT_TRUE(first.outcome.ok()) << first.outcome.message;
  abi::EventIsReadyArgs ready{{}, first.done};
  must(ready);
  EXPECT_FALSE(ready.is_ready);
  const Launch second = launch(executable, {y}, 2, 1);
  ASSERT_TRUE(second.outcome.ok()) << second.outcome.message;
  for (const Launch& part : {first, second}) {
    EXPECT_TRUE(awaited(part.done).ok());
    EXPECT_EQ(fetched(part.outputs[0]), (std::vector<float>{11, 22, 33, 44}));
    for (abi::Buffer* buffer : part.outputs) destroy(buffer);
  }
  destroy(x);
  destroy(y);
  destroy(executable);
}

TEST_F(SeveralDevicesTest, ALaunchThatIsNeverCompleteFailsWithItsExecutableOrItsClient) {
  for (const bool with_client : {false, true}) {
    abi::LoadedExecutable* const executable = compiled_sum();
    abi::Buffer* const x = put(values_, 0);
    const Launch first = launch(executable, {x}, 2, 0);
    ASSERT_TRUE(first.outcome.ok()) << first.outcome.message;
    if (with_client) destroy(std::exchange(client_, nullptr));
    if (!with_client) destroy(executable);
    const Outcome ended = awaited(first.done);
    EXPECT_THAT(ended.message, HasSubstr(with_client ? "closed before all devices"
                                                     : "destroyed before all its devices"));
    if (with_client) destroy(executable);
    for (abi::Buffer* buffer : first.outputs) destroy(buffer);
    destroy(x);
  }
}

TEST_F(SeveralDevicesTest, WrongNumbersAreRefusedWithBoth) {
  abi::LoadedExecutable* executable = nullptr;
  const Outcome outcome = compile(kSum, executable, replicas(5));
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.message,
              HasSubstr("5 replicas of 1 partitions takes 5 devices; the client has 2"));
  executable = compiled_sum();
  abi::Buffer* const x = put(values_, 0);
  abi::Buffer* const* arguments = &x;
  abi::Buffer* outputs[2] = {};
  abi::Buffer** list = outputs;
  abi::LoadedExecutableExecuteArgs args;
  args.executable = executable;
  args.argument_lists = &arguments;
  args.num_devices = 1;
  args.num_args = 1;
  args.output_lists = &list;
  EXPECT_THAT(call(args).message, HasSubstr("is for 2 devices, not for 1; a call for one of them "
                                            "names it"));
  EXPECT_FALSE(is_deleted(x));
  destroy(x);
  destroy(executable);
}

}  // namespace
}  // namespace millrace::testing
