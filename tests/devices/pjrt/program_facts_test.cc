// Wire bytes are written out by hand here: what the tests compare with is no protobuf of ours.
#include "millrace/devices/pjrt/program_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::devices::pjrt {
namespace {

using ::testing::ElementsAre;

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>((value & 127) | 128);
  return bytes + static_cast<char>(value);
}
std::string number(int field, std::int64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(static_cast<std::uint64_t>(value));
}
std::string message(int field, const std::string& content) {
  return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(content.size()) + content;
}
std::string shape(int type, const std::string& dims) { return number(2, type) + message(3, dims); }

TEST(CompileOptionsTest, PortableProgramNamesNoDevice) {
  const std::string build = number(1, -1) + number(4, 1) + number(5, 1);
  EXPECT_EQ(write_compile_options({}, {}), message(3, build) + number(4, 1));
}

TEST(CompileOptionsTest, SeveralDevicesAreAssignedByReplicaAndPartition) {
  CompileOptions options;
  options.replicas = 1;
  options.partitions = 2;
  const std::int64_t ids[] = {5, 7};
  const std::string assignment = number(1, 1) + number(2, 2) + message(3, message(1, varint(5))) +
                                 message(3, message(1, varint(7)));
  const std::string build = number(1, -1) + number(4, 1) + number(5, 2) + number(6, 1) +
                            message(9, assignment) + number(19, 1);
  EXPECT_EQ(write_compile_options(options, ids), message(3, build));
}

TEST(CompileOptionsTest, ExtrasOfThePluginComeLast) {
  CompileOptions options;
  options.plugin_options = "extra";
  EXPECT_TRUE(write_compile_options(options, {}).ends_with("extra"));
}

TEST(ReadHloTest, InputsAndDonationAreRead) {
  const std::string parameters = message(1, shape(11, varint(2) + varint(3))) +  // f32
                                 message(1, shape(6, "")) +                      // ui8
                                 message(1, shape(16, varint(4)));               // bf16
  const std::string aliases = message(1, number(2, 2));
  const std::string donors = message(1, number(1, 0)) + message(1, number(1, 99));
  const std::string module = message(1, "a name") + message(4, parameters) + message(8, aliases) +
                             number(11, 7) + message(18, donors);
  for (const bool with_config : {false, true}) {
    ProgramFacts facts;
    ASSERT_TRUE(read_hlo(with_config ? message(1, module) : module, with_config, facts));
    EXPECT_THAT(facts.inputs, ElementsAre(Shape(DType::kF32, {2, 3}), Shape(DType::kU8, {}),
                                          Shape(DType::kBF16, {4})));
    EXPECT_THAT(facts.donated, ElementsAre(1, 0, 1));
  }
}

TEST(ReadHloTest, OneTupleStandsForItsElements) {
  const std::string tuple =
      number(2, 13) + message(4, shape(4, varint(8))) + message(4, shape(1, ""));
  ProgramFacts facts;
  ASSERT_TRUE(read_hlo(message(4, message(1, tuple)), false, facts));
  EXPECT_THAT(facts.inputs, ElementsAre(Shape(DType::kI32, {8}), Shape(DType::kI1, {})));
}

TEST(ReadHloTest, DonatedElementOfOneTupleIsTheInputOfItsIndex) {
  const std::string element = shape(4, varint(8));
  const std::string tuple =
      number(2, 13) + message(4, element) + message(4, element) + message(4, element);
  const std::string module = message(4, message(1, tuple)) +
                             message(8, message(1, number(2, 0) + message(3, varint(2)))) +
                             message(18, message(1, number(1, 0) + message(2, varint(1))) +
                                             message(1, number(1, 0)));  // the whole: none of them
  ProgramFacts facts;
  ASSERT_TRUE(read_hlo(module, false, facts));
  EXPECT_THAT(facts.donated, ElementsAre(0, 1, 1));
}

TEST(ReadHloTest, LayoutOfTheEntryCountsAndIsReported) {
  const auto laid_out = [](const std::string& order) {
    return message(1, shape(11, varint(2) + varint(3)) + message(5, message(1, order)));
  };
  const std::string row_major = laid_out(varint(1) + varint(0));
  const std::string other = laid_out(varint(0) + varint(1));
  const std::string module = message(4, row_major + row_major);
  ProgramFacts plain;
  ASSERT_TRUE(read_hlo(module, false, plain));
  EXPECT_TRUE(plain.layouts.empty());
  const std::string config = message(1, row_major + other);
  ProgramFacts facts;
  ASSERT_TRUE(read_hlo(message(1, module) + message(2, config), true, facts));
  EXPECT_EQ(facts.inputs.size(), 2U);
  EXPECT_THAT(facts.layouts, ElementsAre(ProgramFacts::Layout{1, {0, 1}}));
}

TEST(ReadHloTest, BadBytesAndUnknownTypesAreErrors) {
  ProgramFacts facts;
  EXPECT_EQ(read_hlo("\xff\xff\xff", false, facts).error().code(), ErrorCode::kDataLoss);
  EXPECT_EQ(read_hlo(message(4, message(1, shape(14, ""))), false, facts).error().code(),
            ErrorCode::kUnimplemented);
  EXPECT_EQ(read_hlo(message(4, message(1, shape(11, varint(static_cast<std::uint64_t>(-1))))),
                     false, facts)
                .error()
                .code(),
            ErrorCode::kUnimplemented);
}

TEST(ProgramFactsTest, TextWithPartitionsReportsShapesOfWhatHasNoSharding) {
  constexpr std::string_view kText = R"(
func.func public @main(%a: tensor<4xf32>, %b: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"})
    -> (tensor<4xf32>, tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) {
  return %a, %b : tensor<4xf32>, tensor<8xf32>
})";
  ProgramFacts facts;
  facts.partitions = 2;
  const Status read = read_mlir(kText, facts);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_THAT(facts.inputs, ElementsAre(Shape(DType::kF32, {4}), Shape()));
  EXPECT_EQ(read_mlir_outputs(kText, 2).error().code(), ErrorCode::kUnimplemented);
  EXPECT_THAT(read_mlir_outputs(kText, 1).value(),
              ElementsAre(Shape(DType::kF32, {4}), Shape(DType::kF32, {8})));
}

TEST(ProgramFactsTest, TextOfAPluginReportsInputsAndDonation) {
  ProgramFacts facts;
  const Status read = read_mlir(R"(
func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<2x3xi8>,
                       %c: tensor<bf16> {jax.buffer_donor = true}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
})",
                                facts);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_THAT(facts.inputs, ElementsAre(Shape(DType::kF32, {4}), Shape(DType::kI8, {2, 3}),
                                        Shape(DType::kBF16, {})));
  EXPECT_THAT(facts.donated, ElementsAre(1, 0, 1));
  EXPECT_EQ(read_mlir("no program", facts).error().code(), ErrorCode::kInvalidArgument);
  const Status dynamic = read_mlir(
      "func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> { return %a : tensor<?xf32> }", facts);
  EXPECT_EQ(dynamic.error().code(), ErrorCode::kUnimplemented);
}

}  // namespace
}  // namespace millrace::devices::pjrt
