// What clients are made and programs compiled by, as tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "millrace/core/base/cores.h"
#include "millrace/tools/pjrt_plugin/compile_options.h"
#include "millrace/tools/pjrt_plugin/create_options.h"
#include "millrace/tools/pjrt_plugin/program_facts.h"
#include "millrace/tools/pjrt_plugin/topology.h"

namespace millrace::pjrt_plugin {
namespace {

using devices::Attributes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<CreateOptions> read(const Attributes& options,
                           std::map<std::string, std::string> variables = {}) {
  return read_create_options(options, [&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(CreateOptionsTest, NumbersMayBeNumbersOrText) {
  EXPECT_EQ(read({{"num_devices", std::int64_t{3}}})->devices, 3);
  EXPECT_EQ(read({{"num_devices", std::string("8")}})->devices, 8);
  EXPECT_EQ(read({{"threads", std::string("2")}})->threads, 2);
  EXPECT_EQ(read({{"threads", std::int64_t{most_threads()}}})->threads, most_threads());
  EXPECT_THAT(read({{"threads", std::int64_t{most_threads() + 1}}}).error().message(),
              HasSubstr("not a number from 1 to " + std::to_string(most_threads())));
  EXPECT_EQ(read({{"platform_name", std::string("millrace")}})->platform_name, "millrace");
  EXPECT_EQ(read({})->platform_name, "cpu");
}

TEST(CreateOptionsTest, VariablesSayHowManyDevicesInTheirOrder) {
  EXPECT_EQ(read({})->devices, 1);
  const std::string flags = "--xla_a=1 --xla_force_host_platform_device_count=4 --xla_b=2";
  EXPECT_EQ(read({}, {{"XLA_FLAGS", flags}})->devices, 4);
  EXPECT_EQ(read({}, {{"XLA_FLAGS", flags}, {"JAX_NUM_CPU_DEVICES", "5"}})->devices, 5);
  EXPECT_EQ(read({}, {{"JAX_NUM_CPU_DEVICES", "5"}, {"CPU_NUM_DEVICES", "6"}})->devices, 6);
  EXPECT_EQ(read({}, {{"JAX_NUM_CPU_DEVICES", "-1"}})->devices, 1);
  EXPECT_EQ(read({{"num_devices", std::int64_t{2}}}, {{"CPU_NUM_DEVICES", "6"}})->devices, 2);
}

TEST(CreateOptionsTest, WhatIsWrongIsRefusedWithWhereItStands) {
  EXPECT_THAT(read({{"device_count", std::int64_t{2}}}).error().message(),
              HasSubstr("'device_count' is not known: there are num_devices, threads"));
  EXPECT_THAT(read({{"num_devices", std::string("two")}}).error().message(),
              HasSubstr("the option 'num_devices' is 'two'"));
  EXPECT_THAT(read({{"num_devices", std::int64_t{0}}}).error().message(), HasSubstr("from 1 to"));
  EXPECT_THAT(read({{"num_devices", true}}).error().message(), HasSubstr("no number"));
  EXPECT_THAT(read({}, {{"CPU_NUM_DEVICES", "x"}}).error().message(),
              HasSubstr("CPU_NUM_DEVICES is 'x'"));
  EXPECT_THAT(
      read({}, {{"XLA_FLAGS", "--xla_force_host_platform_device_count=-2"}}).error().message(),
      HasSubstr("in XLA_FLAGS is '-2'"));
}

TEST(CompileOptionsTest, APortableProgramRunsOnAnyDevice) {
  const auto options = read_compile_options(std::string_view("\x20\x01", 2), 2);
  ASSERT_TRUE(options.has_value());
  EXPECT_TRUE(options->on_any_one());
  EXPECT_EQ(write_device_assignment(*options), "");
}

TEST(CompileOptionsTest, AnAssignmentBindsToItsDevice) {
  // {3: {4: 1, 5: 1, 9: {1: 1, 2: 1, 3: {1: [1]}}}}
  const std::string bytes("\x1a\x0f\x20\x01\x28\x01\x4a\x09\x08\x01\x10\x01\x1a\x03\x0a\x01\x01",
                          17);
  const auto options = read_compile_options(bytes, 2);
  ASSERT_TRUE(options.has_value()) << options.error().message();
  EXPECT_FALSE(options->portable);
  ASSERT_EQ(options->devices.size(), 1u);
  EXPECT_EQ(index(options->devices[0]), 1);
  EXPECT_EQ(write_device_assignment(*options), bytes.substr(8));
  const auto too_few = read_compile_options(bytes, 1);
  ASSERT_FALSE(too_few.has_value());
  EXPECT_THAT(too_few.error().message(), HasSubstr("names device 1, of 1"));
}

TEST(CompileOptionsTest, BytesThatAreNoMessageAreRefused) {
  const auto options = read_compile_options("not a message", 1);
  ASSERT_FALSE(options.has_value());
  EXPECT_EQ(options.error().code(), ErrorCode::kInvalidArgument);
}

// {7: {1: name, 2: {1: value}}}
std::string named(std::string_view name, std::string_view value) {
  const auto field = [](char tag, std::string_view bytes) {
    return std::string(1, tag) + static_cast<char>(bytes.size()) + std::string(bytes);
  };
  return field('\x3a', field('\x0a', name) + field('\x12', field('\x0a', value)));
}

TEST(CompileOptionsTest, OptionsOfXlaAreTakenAndOthersRefused) {
  EXPECT_TRUE(read_compile_options(named("xla_cpu_anything", "x"), 1).has_value());
  EXPECT_TRUE(read_compile_options(named("xla_embed_ir_in_executable", "true"), 1).has_value());
  EXPECT_THAT(read_compile_options(named("invalid_key", "x"), 1).error().message(),
              HasSubstr("No such compile option: 'invalid_key'"));
  EXPECT_THAT(read_compile_options(named("xla_embed_ir_in_executable", "x"), 1).error().message(),
              HasSubstr("is not a valid bool value"));
}

TEST(ProgramFactsTest, MemoriesOfArgumentsAndResults) {
  const auto facts = read_program_facts(R"(
module @jit_f {
  func.func public @main(%a: tensor<2xf32>, %b: tensor<2xf32> {mhlo.memory_kind = "pinned_host"})
      -> (tensor<2xf32> {mhlo.memory_kind = "unpinned_host", mhlo.layout_mode = "{0}"}) {
    %c = stablehlo.add %a, %b : tensor<2xf32>
    return %c : tensor<2xf32>
  }
}
)");
  ASSERT_TRUE(facts.has_value()) << facts.error().message();
  EXPECT_EQ(facts->name, "jit_f");
  EXPECT_THAT(facts->argument_kinds, ElementsAre(0, 1));
  EXPECT_THAT(facts->result_kinds, ElementsAre(2));
}

TEST(ProgramFactsTest, OtherMemoriesAndLayoutsAreRefusedByTheirArgument) {
  const auto with = [](const std::string& attribute) {
    return read_program_facts("func.func @main(%a: tensor<2x2xf32> {" + attribute +
                              "}) -> tensor<2x2xf32> {\n return %a : tensor<2x2xf32>\n}");
  };
  EXPECT_TRUE(with("mhlo.layout_mode = \"{1,0}\"").has_value());
  EXPECT_THAT(with("mhlo.layout_mode = \"{0,1}\"").error().message(),
              HasSubstr("argument 0 of program is wanted in the layout {0,1}"));
  EXPECT_THAT(with("mhlo.memory_kind = \"moon\"").error().message(),
              HasSubstr("in the memory 'moon'"));
}

TEST(TopologyTest, WhatIsSerializedIsReadBack) {
  const abi::TopologyDescription topology("cpu", 3);
  const auto read_back = parse_topology(serialize_topology(topology));
  ASSERT_TRUE(read_back.has_value());
  EXPECT_EQ((*read_back)->platform_name, "cpu");
  EXPECT_EQ((*read_back)->devices.size(), 3u);
  for (const char* bytes : {"", "millrace topology 1 ", "millrace topology 1 0 cpu",
                            "millrace topology 1 3", "millrace topology 1 9999 cpu"}) {
    EXPECT_FALSE(parse_topology(bytes).has_value()) << bytes;
  }
}

}  // namespace
}  // namespace millrace::pjrt_plugin
