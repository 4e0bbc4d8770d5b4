#include "millrace/devices/stablehlo/bytecode/write_bytecode.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/devices/stablehlo/bytecode/byte_cursor.h"
#include "millrace/devices/stablehlo/bytecode/byte_writer.h"
#include "millrace/devices/stablehlo/bytecode/read_bytecode.h"
#include "millrace/devices/stablehlo/text/read_text.h"
#include "tests/support/equal_modules.h"

namespace millrace::devices::stablehlo::bytecode {
namespace {

using ::testing::HasSubstr;

ir::Module module_of(const std::string& body) {
  auto module =
      text::read_text("func.func public @main(%a: tensor<4xf32>, %b: tensor<2x3xi32>) {\n" + body +
                      "\nreturn\n}\n");
  EXPECT_TRUE(module) << module.error().message();
  return *std::move(module);
}

TEST(ByteWriter, NumbersReadBack) {
  for (int shift = 0; shift < 64; ++shift) {
    for (const std::uint64_t add : {~std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{1}}) {
      const std::uint64_t value = (std::uint64_t{1} << shift) + add;
      ByteWriter out;
      out.varint(value);
      out.svarint(static_cast<std::int64_t>(value));
      const File file(out.bytes());
      ByteCursor in(file, {0, file.size()});
      EXPECT_EQ(in.varint(), value);
      EXPECT_EQ(in.svarint(), static_cast<std::int64_t>(value));
      EXPECT_TRUE(in.at_end());
    }
  }
}

TEST(WriteBytecode, EveryVersionReadsBackEqual) {
  const ir::Module module = module_of(
      "%0 = stablehlo.add %a, %a {mhlo.sharding = \"{replicated}\"} : tensor<4xf32>\n"
      "%1 = stablehlo.exponential %0 : tensor<4xf32>\n"
      "%2 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>\n"
      "%3 = stablehlo.constant dense<-3> : tensor<300xi16>\n"
      "%4 = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>\n"
      "%5 = stablehlo.transpose %b, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>");
  for (const Version version :
       {Version{0, 9, 0}, Version{0, 10, 0}, Version{0, 12, 0}, Version{0, 14, 0}, Version{1, 0, 0},
        Version{1, 9, 3}, Version{1, 17, 0}, kNewestVersion}) {
    const auto written = write_bytecode(module, version);
    ASSERT_TRUE(written) << to_string(version) << ": " << written.error().message();
    EXPECT_THAT(*written, HasSubstr("StableHLO_v" + to_string(version)));
    const auto again = read_bytecode(*written);
    ASSERT_TRUE(again) << to_string(version) << ": " << again.error().message();
    std::string why;
    EXPECT_TRUE(ir::equal(module, *again, &why)) << to_string(version) << ": " << why;
  }
}

TEST(WriteBytecode, VisibilitiesReadBackAsTheyWereWritten) {
  const auto module = text::read_text(
      "func.func @main() { return } func.func public @a() { return } "
      "func.func private @b() { return }");
  ASSERT_TRUE(module) << module.error().message();
  const auto written = write_bytecode(*module, kNewestVersion);
  ASSERT_TRUE(written) << written.error().message();
  const auto again = read_bytecode(*written);
  ASSERT_TRUE(again) << again.error().message();
  std::string why;
  EXPECT_TRUE(ir::equal(*module, *again, &why)) << why;
}

// Which had an attribute of padding beside the operand; jaxlib reads what is written here, too.
TEST(WriteBytecode, DynamicConvolutionsOfOldVersionsHaveNoPadding) {
  const ir::Module module = module_of(
      "%x = stablehlo.constant dense<1.0> : tensor<2x9x8x4xf32>\n"
      "%w = stablehlo.constant dense<1.0> : tensor<3x3x4x6xf32>\n"
      "%p = stablehlo.constant dense<1> : tensor<2x2xi32>\n"
      "%r = \"stablehlo.dynamic_conv\"(%x, %w, %p) <{batch_group_count = 1 : i64, "
      "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, "
      "feature_group_count = 1 : i64}> : (tensor<2x9x8x4xf32>, tensor<3x3x4x6xf32>, "
      "tensor<2x2xi32>) -> tensor<2x9x8x6xf32>");
  for (const Version version : {Version{0, 9, 0}, Version{0, 19, 0}, kNewestVersion}) {
    const auto written = write_bytecode(module, version);
    ASSERT_TRUE(written) << to_string(version) << ": " << written.error().message();
    const auto again = read_bytecode(*written);
    ASSERT_TRUE(again) << to_string(version) << ": " << again.error().message();
    std::string why;
    EXPECT_TRUE(ir::equal(module, *again, &why)) << to_string(version) << ": " << why;
  }
}

TEST(WriteBytecode, WithoutAVersionItIsAsOldAsTheProgramAllows) {
  EXPECT_THAT(*write_bytecode(module_of("%0 = stablehlo.negate %a : tensor<4xf32>")),
              HasSubstr("StableHLO_v1.0.0"));
  EXPECT_THAT(*write_bytecode(module_of("%0 = stablehlo.tan %a : tensor<4xf32>")),
              HasSubstr("StableHLO_v1.4.0"));
  EXPECT_THAT(*write_bytecode(module_of("%0 = stablehlo.constant dense<1.0> : tensor<2xf4E2M1FN>")),
              HasSubstr("StableHLO_v1.9.0"));
}

TEST(WriteBytecode, WhatARegionUsesOfItsOwnOperationDoesNotReadBack) {
  const ir::Module module = module_of(
      "%0 = stablehlo.constant dense<0> : tensor<i32>\n"
      "%1 = \"stablehlo.reduce\"(%b, %0) ({\n"
      "^bb0(%x: tensor<i32>, %y: tensor<i32>):\n"
      "  %2 = stablehlo.add %x, %y : tensor<i32>\n"
      "  stablehlo.return %2 : tensor<i32>\n"
      "}) {dimensions = array<i64: 0, 1>} : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>");
  ASSERT_TRUE(read_bytecode(*write_bytecode(module)));
  ir::Op* const reduce = module.find("main")->body().block().front()->next();
  ASSERT_EQ(reduce->regions().size(), 1u);
  reduce->regions()[0].block().front()->set_operand(1, &reduce->results()[0]);
  const auto again = read_bytecode(*write_bytecode(module));
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message(), HasSubstr("is used but not defined before"));
}

TEST(WriteBytecode, ABlockWithoutOperationsDoesNotReadBack) {
  ir::Module module = module_of("");
  ir::Block* const empty = module.create_block(module.find("main")->inputs());
  module.set_blocks(module.find("main")->body(), std::span(&empty, 1));
  const auto again = read_bytecode(*write_bytecode(module));
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message(), HasSubstr("a block without operations"));
}

TEST(WriteBytecode, NumbersInThePlaceOfBoolsReadAsBools) {
  const ir::Module module = module_of(
      "%0 = stablehlo.constant dense<1.0> : tensor<1x4x4x1xf32>\n"
      "%1 = \"stablehlo.convolution\"(%0, %0) {batch_group_count = 1 : i64, "
      "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[i, 0, 1, o]->[b, 0, 1, f]>, "
      "feature_group_count = 1 : i64, window_reversal = array<i64: 5, 0>} : "
      "(tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) -> tensor<1x1x1x1xf32>");
  const auto again = read_bytecode(*write_bytecode(module));
  ASSERT_TRUE(again) << again.error().message();
  const ir::Op* const convolution = again->find("main")->body().block().front()->next();
  const auto* const reversal = convolution->attr<ir::IntArrayAttr>("window_reversal");
  ASSERT_NE(reversal, nullptr);
  EXPECT_EQ(reversal->element, DType::kI1);
  EXPECT_THAT(reversal->values, ::testing::ElementsAre(1, 0));
}

std::string error_of(const std::string& body, Version version) {
  const auto written = write_bytecode(module_of(body), version);
  if (written) return "it was written";
  EXPECT_EQ(written.error().code(), ErrorCode::kUnimplemented);
  return written.error().message();
}

TEST(WriteBytecode, WhatAVersionLacksIsNamedWithItsOp) {
  constexpr Version kOld = {1, 0, 0};
  EXPECT_THAT(error_of("%0 = stablehlo.tan %a : tensor<4xf32>", kOld),
              HasSubstr("stablehlo.tan: it has no form in version 1.0.0"));
  EXPECT_THAT(
      error_of("%0 = \"stablehlo.log\"(%a) {result_accuracy = #stablehlo.result_accuracy<ulps = 2, "
               "mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : (tensor<4xf32>) -> "
               "tensor<4xf32>",
               kOld),
      HasSubstr("result_accuracy needs version 1.10.0"));
  EXPECT_THAT(error_of("%0 = stablehlo.constant dense<1.0> : tensor<2xf8E3M4>", kOld),
              HasSubstr("f8E3M4 needs version 1.7.0"));
  EXPECT_THAT(error_of("%0 = \"chlo.constant_like\"(%a) <{value = 0x7F800000 : f32}> : "
                       "(tensor<4xf32>) -> tensor<4xf32>",
                       kNewestVersion),
              HasSubstr("chlo.constant_like"));
}

TEST(WriteBytecode, HintsToAPartitionerAreLeftOut) {
  const auto written = write_bytecode(module_of(
      "%0 = stablehlo.add %a, %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) "
      "{i=4}>} : tensor<4xf32>"));
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_TRUE(read_bytecode(*written));
}

TEST(WriteBytecode, AVersionThatThereIsNotIsAnError) {
  const auto written = write_bytecode(module_of(""), Version{7, 0, 0});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::devices::stablehlo::bytecode
