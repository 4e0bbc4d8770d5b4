// Programs of PjrtClient over XLA's own CPU clients of every age at hand: what they cost, and how
// they come back from their serialized form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/cache/compilation_cache.h"
#include "millrace/devices/pjrt/client.h"
#include "tests/support/plugins.h"
#include "tests/support/temp_folder.h"

namespace millrace::devices::pjrt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Vector = std::array<float, 4>;
const Shape kVector(DType::kF32, {4});

const Program& increment() {
  static const Program program = Program::from_text(R"(
func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  %1 = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = stablehlo.add %a, %1 : tensor<4xf32>
  return %0 : tensor<4xf32>
})",
                                                    "increment");
  return program;
}

std::map<std::string, std::string> plugins_or_none() {
  auto plugins = testing::plugins_at_hand();
  std::erase_if(plugins, [](const auto& plugin) { return !plugin.first.starts_with("Xla"); });
  if (plugins.empty()) plugins[""] = "";
  return plugins;
}

class XlaProgramsTest : public ::testing::TestWithParam<std::pair<const std::string, std::string>> {
 protected:
  void SetUp() override {
    if (GetParam().first.empty()) GTEST_SKIP() << "no plugin here: tests/fetch_plugins gets it";
    client_ = open();
  }
  void TearDown() override {
    if (client_) close(*client_);
    client_.reset();
    EXPECT_TRUE(wait_blocking(threads_->close()));
  }
  std::unique_ptr<PjrtClient> open() {
    return PjrtClient::create(
               *Plugin::load(GetParam().second).value(),
               {.completions = threads_.get(), .settings = {{"cpu_device_count", std::int64_t{2}}}})
        .value();
  }
  static void close(PjrtClient& client) { EXPECT_TRUE(wait_blocking(client.close())); }
  // The program on one device.
  Result<Vector> run(const Executable& executable, int device) {
    const Vector values = {1, 2, 3, 4};
    const DeviceId devices[] = {DeviceId{device}};
    MILLRACE_TRY(const PutResult put,
                 client_->put({.data = values.data(), .shape = kVector},
                              HostBufferSemantics::kImmutableOnlyDuringCall, devices[0], -1));
    const Buffer inputs[] = {put.buffer};
    const std::span<const Buffer> lists[] = {inputs};
    LaunchResult result;
    MILLRACE_TRY_STATUS(
        executable.body()->launch({.devices = devices, .arguments = lists}, {&result, 1}));
    MILLRACE_TRY_STATUS(wait_blocking(result.done));
    Vector back{};
    MILLRACE_TRY_STATUS(wait_blocking(
        result.outputs[0].body()->copy_to_host(std::as_writable_bytes(std::span(back)), nullptr)));
    return back;
  }

  std::unique_ptr<PoolExecutor> threads_ = make_executor(ExecutorBackend::kThreads, 2, "events");
  std::unique_ptr<PjrtClient> client_;
};

TEST_P(XlaProgramsTest, CostIsEstimatedOrThatIsUnimplementedByName) {
  const Executable executable = client_->compile(increment(), {}).value();
  const Result<Attributes> cost = executable.body()->cost_analysis();
  if (!cost) {  // of these three, only the oldest knows
    EXPECT_EQ(cost.error().code(), ErrorCode::kUnimplemented);
    EXPECT_THAT(cost.error().message(), HasSubstr("PJRT_Executable_GetCostAnalysis"));
    return;
  }
  ASSERT_TRUE(cost->contains("flops")) << cost->size();
  EXPECT_EQ(std::get<double>(cost->at("flops")), 4.0);
}

TEST_P(XlaProgramsTest, AttributesOfPluginAndTopologyAreReported) {
  EXPECT_TRUE(client_->attributes().contains("stablehlo_current_version"));
}

// A portable artifact, as JAX sends one: (%a: tensor<4xf32>) -> a * 2 + a, of StableHLO 1.0.0, made
// by serialize_portable_artifact_str of jaxlib.
TEST_P(XlaProgramsTest, BytecodeIsCompiledAsTextIs) {
  const Program program =
      Program::from_file(testing::source_folder() + "/tests/programs/three_times.mlirbc").value();
  ASSERT_TRUE(program.code().starts_with("ML\xEFR"));
  const Result<Executable> compiled = client_->compile(program, {});
  ASSERT_TRUE(compiled) << compiled.error().to_string();
  EXPECT_THAT(compiled->input_shapes(), ElementsAre(kVector));
  EXPECT_THAT(compiled->output_shapes(), ElementsAre(kVector));
  EXPECT_THAT(run(*compiled, 1).value(), ElementsAre(3, 6, 9, 12));
  const std::string bytes = compiled->body()->serialize().value();
  EXPECT_THAT(run(client_->load_compiled(bytes, program, {}).value(), 0).value(),
              ElementsAre(3, 6, 9, 12));
  const std::string half(program.code().substr(0, program.code().size() / 2));
  EXPECT_FALSE(client_->compile(Program::from_text(half, "half"), {}));
}

TEST_P(XlaProgramsTest, PortableProgramThatWasSerializedRunsOnAnyDevice) {
  const std::string bytes = client_->compile(increment(), {})->body()->serialize().value();
  const Result<Executable> loaded = client_->load_compiled(bytes, increment(), {});
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  EXPECT_EQ(loaded->name(), "increment");
  EXPECT_THAT(loaded->donated_inputs(), ElementsAre(true));
  for (const int device : {0, 1}) {
    const Result<Vector> out = run(*loaded, device);
    ASSERT_TRUE(out) << out.error().to_string();
    EXPECT_THAT(*out, ElementsAre(2, 3, 4, 5));
  }
}

TEST_P(XlaProgramsTest, BoundProgramThatWasSerializedRunsOnItsDeviceOnly) {
  CompileOptions bound;
  bound.portable = false;
  bound.devices = {DeviceId{1}};
  const std::string bytes = client_->compile(increment(), bound)->body()->serialize().value();
  const Result<Executable> loaded = client_->load_compiled(bytes, increment(), bound);
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  EXPECT_THAT(run(*loaded, 1).value(), ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(run(*loaded, 0).error().code(), ErrorCode::kInvalidArgument);
}

TEST_P(XlaProgramsTest, BytesThatAreNoProgramAreAnErrorThatNamesIt) {
  const Result<Executable> loaded = client_->load_compiled("no machine code", increment(), {});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message(), HasSubstr("cannot load increment: PJRT_Executable_"));
}

TEST_P(XlaProgramsTest, CacheSavesAnotherClientTheCompilation) {
  const testing::TempFolder folder;
  CompilationCache first({.folder = folder.path()});
  ASSERT_TRUE(first.compile(*client_, increment(), {}));
  EXPECT_EQ(first.stats().stored, 1u);
  close(*client_);
  client_ = open();
  CompilationCache second({.folder = folder.path()});
  const Result<Executable> executable = second.compile(*client_, increment(), {});
  ASSERT_TRUE(executable) << executable.error().to_string();
  EXPECT_EQ(second.stats().hits, 1u);
  EXPECT_THAT(run(*executable, 1).value(), ElementsAre(2, 3, 4, 5));
}

// XLA's CPU client has the function, and refuses: its devices are host memory.
TEST_P(XlaProgramsTest, MappingHostMemoryIsUnimplementedByName) {
  alignas(4096) static std::byte bytes[8192];
  const Result<Owner> mapped = client_->map_host_memory(bytes, nullptr);
  ASSERT_FALSE(mapped);
  EXPECT_EQ(mapped.error().code(), ErrorCode::kUnimplemented);
  EXPECT_THAT(mapped.error().message(),
              HasSubstr("PJRT_Client_DmaMap of the plugin " + client_->plugin().name() + ": "));
}

INSTANTIATE_TEST_SUITE_P(Plugins, XlaProgramsTest, ::testing::ValuesIn(plugins_or_none()),
                         [](const auto& info) {
                           return info.param.first.empty() ? "None" : info.param.first;
                         });

}  // namespace
}  // namespace millrace::devices::pjrt
