#include "millrace/devices/cpu/compile/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>
#include <string>

namespace millrace::devices::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<std::shared_ptr<const Compiled>> compile_main(const std::string& signature,
                                                     const std::string& body) {
  return compile(Program::from_text("module {\nfunc.func public @main" + signature + " {\n" + body +
                                    "\n}\n}\n"),
                 {});
}

TEST(CompileTest, ArgumentsThatJaxMarksAreDonated) {
  const auto compiled = compile_main(
      "(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32>, "
      "%c: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<4xf32>",
      "%0 = stablehlo.add %a, %b : tensor<4xf32>\nreturn %0 : tensor<4xf32>");
  ASSERT_TRUE(compiled.has_value()) << compiled.error().to_string();
  EXPECT_THAT((*compiled)->donated(), ElementsAre(0, 2));
  ASSERT_EQ((*compiled)->aliases().size(), 1u);
  EXPECT_EQ((*compiled)->aliases()[0].output, 0);
  EXPECT_EQ((*compiled)->aliases()[0].input, 0);
}

TEST(CompileTest, ShapesAreThoseOfTheProgram) {
  const auto compiled = compile_main("(%a: tensor<2x3xui8>) -> (tensor<2x3xui8>, tensor<f32>)",
                                     "%0 = stablehlo.constant dense<1.0> : tensor<f32>\n"
                                     "return %a, %0 : tensor<2x3xui8>, tensor<f32>");
  ASSERT_TRUE(compiled.has_value()) << compiled.error().to_string();
  EXPECT_THAT((*compiled)->inputs(), ElementsAre(Shape(DType::kU8, {2, 3})));
  EXPECT_THAT((*compiled)->outputs(),
              ElementsAre(Shape(DType::kU8, {2, 3}), Shape(DType::kF32, {})));
  EXPECT_TRUE((*compiled)->make_run().has_value());
}

TEST(CompileTest, StopEndsACompilationBeforeItsNextStep) {
  std::stop_source stop;
  CompileOptions options;
  options.stop = stop.get_token();
  const Program program = Program::from_text(
      "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
      "%0 = stablehlo.add %a, %a : tensor<4xf32>\nreturn %0 : tensor<4xf32>\n}\n");
  ASSERT_TRUE(compile(program, options));
  stop.request_stop();
  const auto compiled = compile(program, options);
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code(), ErrorCode::kCancelled);
}

TEST(CompileTest, BytecodeIsKnownByItsFirstBytesAndErrorsCarryTheOffset) {
  const auto compiled = compile(Program::from_text(std::string("ML\xefR\x0d\0\0", 7)), {});
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(compiled.error().message(), HasSubstr("byte 7"));
  const auto no_bytecode = compile(Program::from_text("ML"), {});
  ASSERT_FALSE(no_bytecode);
  EXPECT_EQ(no_bytecode.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(no_bytecode.error().message(), HasSubstr("1:1"));
}

// Though the CPU device has a kernel for chlo.erf and would not run it.
TEST(CompileTest, DecompositionOfACompositeMustBeOneThatCouldRun) {
  struct Row {
    const char* functions;
    const char* decomposition;
    const char* words;
  };
  for (const Row& row : {Row{"", "impl", "@impl"},
                         Row{"func.func private @impl(%x: tensor<9xf32>) -> tensor<9xf32> {\n"
                             "  return %x : tensor<9xf32>\n}\n",
                             "impl", "tensor<9xf32>"},
                         Row{"", "main", "calls itself"}}) {
    const auto compiled =
        compile(Program::from_text(std::string(row.functions) +
                                   "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
                                   "  %r = stablehlo.composite \"chlo.erf\" %a {decomposition = @" +
                                   row.decomposition +
                                   "} : (tensor<2xf32>) -> tensor<2xf32>\n"
                                   "  return %r : tensor<2xf32>\n}\n"),
                {});
    ASSERT_FALSE(compiled) << row.words;
    EXPECT_EQ(compiled.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(compiled.error().message(), HasSubstr(row.words));
  }
}

TEST(CompileTest, ARankAboveTheLimitIsRefusedWithTheLimit) {
  const std::string type = "tensor<1x1x1x1x1x1x1x1x1x1x1x1x1xf32>";
  const auto argument = compile_main("(%a: " + type + ") -> " + type, "return %a : " + type);
  ASSERT_FALSE(argument);
  EXPECT_THAT(argument.error().message(),
              HasSubstr("has 13 dimensions; the CPU device has arrays of at most 12"));
  const auto inside = compile_main("(%a: tensor<f32>) -> tensor<f32>",
                                   "%0 = stablehlo.reshape %a : (tensor<f32>) -> " + type +
                                       "\n%1 = stablehlo.reshape %0 : (" + type +
                                       ") -> tensor<f32>\nreturn %1 : tensor<f32>");
  ASSERT_FALSE(inside);
  EXPECT_THAT(inside.error().message(),
              HasSubstr("has 13 dimensions; the CPU device has arrays of at most 12"));
}

// The steps from one element to the next do not fit, though there is no element.
TEST(CompileTest, SizesThatDoNotFitAreRefusedInEmptyArraysToo) {
  for (const std::string type :
       {"tensor<0x9223372036854775807x7xf32>", "tensor<4611686018427387904x0xf32>",
        "tensor<4611686018427387904x2xf32>", "tensor<1099511627776x8xf32>"}) {
    const auto compiled = compile_main("(%a: " + type + ") -> " + type, "return %a : " + type);
    ASSERT_FALSE(compiled) << type;
    EXPECT_THAT(compiled.error().message(),
                HasSubstr("the type " + type + " is not supported by the CPU device"));
  }
}

// oneDNN counts in ints here and there: it gets none of these.
TEST(CompileTest, ContractionsOfMoreThanIntsCountAreCompiled) {
  const auto dot = compile_main(
      "(%a: tensor<4x4294967296xf32>, %b: tensor<4294967296x6xf32>) -> tensor<4x6xf32>",
      "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
      "(tensor<4x4294967296xf32>, tensor<4294967296x6xf32>) -> tensor<4x6xf32>\n"
      "return %0 : tensor<4x6xf32>");
  EXPECT_TRUE(dot) << dot.error().to_string();
  const auto convolution = compile_main(
      "(%a: tensor<1x1x4294967296xf32>, %b: tensor<1x1x3xf32>) -> tensor<1x1x4294967296xf32>",
      "%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = "
      "{pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
      "(tensor<1x1x4294967296xf32>, tensor<1x1x3xf32>) -> tensor<1x1x4294967296xf32>\n"
      "return %0 : tensor<1x1x4294967296xf32>");
  EXPECT_TRUE(convolution) << convolution.error().to_string();
}

TEST(CompileTest, AModuleWithoutANameHasNoneInErrors) {
  const auto compiled =
      compile(Program::from_text("module attributes {mhlo.num_replicas = 2 : i32} {\n"
                                 "func.func @main() {\n  return\n}\n}\n"),
              {});
  ASSERT_FALSE(compiled);
  EXPECT_THAT(compiled.error().message(), HasSubstr("the module has mhlo.num_replicas = 2"));
}

TEST(CompileTest, ErrorsCarryLineAndColumn) {
  const auto wrong =
      compile_main("(%a: tensor<4xf32>) -> tensor<4xf32>",
                   "%0 = stablehlo.add %a, %nothing : tensor<4xf32>\nreturn %0 : tensor<4xf32>");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(wrong.error().message(), HasSubstr("3:"));

  const auto unknown =
      compile_main("(%a: tensor<4xf32>) -> tensor<4xf32>",
                   "%0 = stablehlo.custom_call @unknown(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
                   "return %0 : tensor<4xf32>");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code(), ErrorCode::kUnimplemented);
  EXPECT_THAT(unknown.error().message(), HasSubstr("3:"));
}

}  // namespace
}  // namespace millrace::devices::cpu
