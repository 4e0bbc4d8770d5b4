#include "millrace/devices/stablehlo/specialise/specialise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/devices/cpu/choose/make_kernel.h"
#include "millrace/devices/shape.h"
#include "millrace/devices/stablehlo/ir/print.h"
#include "millrace/devices/stablehlo/text/read_text.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace millrace::devices::stablehlo::specialise {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Shape f32(std::initializer_list<std::int64_t> dims) { return {DType::kF32, dims}; }

// Line 1 is the head of @main, the body begins on line 2.
Result<ir::Module> refined(const std::string& arguments, const std::string& results,
                           const std::string& body, const std::vector<Shape>& shapes,
                           const std::string& others = "") {
  const auto module = text::read_text("func.func @main(" + arguments + ") -> (" + results +
                                      ") {\n" + body + "\n}\n" + others);
  if (!module) return std::unexpected(module.error());
  MILLRACE_TRY_STATUS(verify::verify(*module));
  EXPECT_TRUE(is_needed(*module));
  return specialise(*module, shapes, cpu::definition::evaluate);
}

std::string replaced(std::string text, const std::vector<std::string>& what,
                     const std::vector<std::string>& with) {
  for (std::size_t i = 0; i < what.size(); ++i) {
    const std::size_t at = text.find(what[i]);
    EXPECT_NE(at, std::string::npos) << what[i];
    if (at != std::string::npos) text.replace(at, what[i].size(), with[i]);
  }
  return text;
}

struct InferenceCase {
  std::string name;
  std::string arguments;
  std::string body;  // gives %r
  std::string type;  // of %r, as written
  std::vector<Shape> shapes;
  std::string expected;  // of %r
  std::string op = {};   // that must be there
};

void PrintTo(const InferenceCase& c, std::ostream* out) { *out << c.name; }

class RefineInferenceTest : public ::testing::TestWithParam<InferenceCase> {};

TEST_P(RefineInferenceTest, TheResultGetsItsShape) {
  const InferenceCase& c = GetParam();
  const auto module = refined(c.arguments, c.type, c.body + "\nreturn %r : " + c.type, c.shapes);
  ASSERT_TRUE(module) << module.error().to_string();
  const std::string text = ir::print(*module);
  EXPECT_EQ(module->find("main")->results()[0].to_string(), c.expected) << text;
  EXPECT_THAT(text, Not(HasSubstr("?")));
  if (!c.op.empty()) {
    EXPECT_THAT(text, HasSubstr(c.op));
  }
}

const char* const kX = "%x: tensor<?x4xf32>";
const char* const kTwo = "%x: tensor<?x4xf32>, %y: tensor<?x4xf32>";
const char* const kImage = "%x: tensor<?x8x8x3xf32>, %w: tensor<3x3x3x5xf32>";

INSTANTIATE_TEST_SUITE_P(
    Ops, RefineInferenceTest,
    ::testing::Values(
        InferenceCase{"Elementwise",
                      kTwo,
                      "%r = stablehlo.add %x, %y : tensor<?x4xf32>",
                      "tensor<?x4xf32>",
                      {f32({3, 4}), f32({3, 4})},
                      "tensor<3x4xf32>"},
        InferenceCase{"Compare",
                      kTwo,
                      "%r = stablehlo.compare LT, %x, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> "
                      "tensor<?x4xi1>",
                      "tensor<?x4xi1>",
                      {f32({3, 4}), f32({3, 4})},
                      "tensor<3x4xi1>"},
        InferenceCase{"Convert",
                      kX,
                      "%r = stablehlo.convert %x : (tensor<?x4xf32>) -> tensor<?x4xf64>",
                      "tensor<?x4xf64>",
                      {f32({0, 4})},
                      "tensor<0x4xf64>"},
        InferenceCase{"Select",
                      "%p: tensor<i1>, %x: tensor<?xf32>, %y: tensor<?xf32>",
                      "%r = stablehlo.select %p, %x, %y : tensor<i1>, tensor<?xf32>",
                      "tensor<?xf32>",
                      {Shape(DType::kI1, {}), f32({5}), f32({5})},
                      "tensor<5xf32>"},
        InferenceCase{"Clamp",
                      "%l: tensor<f32>, %x: tensor<?xf32>",
                      "%r = stablehlo.clamp %l, %x, %l : (tensor<f32>, tensor<?xf32>, tensor<f32>) "
                      "-> tensor<?xf32>",
                      "tensor<?xf32>",
                      {f32({}), f32({5})},
                      "tensor<5xf32>"},
        InferenceCase{"Complex",
                      "%x: tensor<?xf32>",
                      "%r = stablehlo.complex %x, %x : (tensor<?xf32>, tensor<?xf32>) -> "
                      "tensor<?xcomplex<f32>>",
                      "tensor<?xcomplex<f32>>",
                      {f32({5})},
                      "tensor<5xcomplex<f32>>"},
        InferenceCase{"Transpose",
                      "%x: tensor<?x4x?xf32>",
                      "%r = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<?x4x?xf32>) -> "
                      "tensor<?x?x4xf32>",
                      "tensor<?x?x4xf32>",
                      {f32({2, 4, 3})},
                      "tensor<3x2x4xf32>"},
        InferenceCase{"Reverse",
                      kX,
                      "%r = stablehlo.reverse %x, dims = [0] : tensor<?x4xf32>",
                      "tensor<?x4xf32>",
                      {f32({2, 4})},
                      "tensor<2x4xf32>"},
        InferenceCase{"Concatenate",
                      kTwo,
                      "%r = stablehlo.concatenate %x, %y, dim = 0 : (tensor<?x4xf32>, "
                      "tensor<?x4xf32>) -> tensor<?x4xf32>",
                      "tensor<?x4xf32>",
                      {f32({2, 4}), f32({5, 4})},
                      "tensor<7x4xf32>"},
        InferenceCase{"Pad",
                      "%x: tensor<?x4xf32>, %v: tensor<f32>",
                      "%r = stablehlo.pad %x, %v, low = [1, 0], high = [2, 0], interior = [1, 0] : "
                      "(tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>",
                      "tensor<?x4xf32>",
                      {f32({3, 4}), f32({})},
                      "tensor<8x4xf32>"},
        InferenceCase{
            "Reduce",
            "%x: tensor<?x?xf32>, %v: tensor<f32>",
            "%r = stablehlo.reduce(%x init: %v) applies stablehlo.add across dimensions = "
            "[0] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>",
            "tensor<?xf32>",
            {f32({3, 6}), f32({})},
            "tensor<6xf32>"},
        InferenceCase{"DotGeneral",
                      "%x: tensor<?x?x4xf32>, %y: tensor<?x4x?xf32>",
                      "%r = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], "
                      "contracting_dims = [2] x [1] : (tensor<?x?x4xf32>, tensor<?x4x?xf32>) -> "
                      "tensor<?x?x?xf32>",
                      "tensor<?x?x?xf32>",
                      {f32({2, 3, 4}), f32({2, 4, 5})},
                      "tensor<2x3x5xf32>"},
        InferenceCase{"Convolution",
                      kImage,
                      "%r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, "
                      "o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} "
                      "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
                      "(tensor<?x8x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<?x4x4x5xf32>",
                      "tensor<?x4x4x5xf32>",
                      {f32({6, 8, 8, 3}), f32({3, 3, 3, 5})},
                      "tensor<6x4x4x5xf32>"},
        InferenceCase{
            "Map",
            "%x: tensor<?xf32>",
            "%r = \"stablehlo.map\"(%x) ({\n^bb0(%a: tensor<f32>):\n%m = stablehlo.negate "
            "%a : tensor<f32>\nstablehlo.return %m : tensor<f32>\n}) {dimensions = "
            "array<i64: 0>} : (tensor<?xf32>) -> tensor<?xf32>",
            "tensor<?xf32>",
            {f32({7})},
            "tensor<7xf32>"},
        InferenceCase{"DynamicUpdateSlice",
                      "%x: tensor<?xf32>, %u: tensor<2xf32>, %i: tensor<i32>",
                      "%r = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<?xf32>, "
                      "tensor<2xf32>, tensor<i32>) -> tensor<?xf32>",
                      "tensor<?xf32>",
                      {f32({7}), f32({2}), Shape(DType::kI32, {})},
                      "tensor<7xf32>"},
        InferenceCase{"OptimizationBarrier",
                      kX,
                      "%r = stablehlo.optimization_barrier %x : tensor<?x4xf32>",
                      "tensor<?x4xf32>",
                      {f32({3, 4})},
                      "tensor<3x4xf32>"},
        InferenceCase{"GetDimensionSize",
                      kX,
                      "%r = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> "
                      "tensor<i32>",
                      "tensor<i32>",
                      {f32({3, 4})},
                      "tensor<i32>",
                      "dense<3>"},
        InferenceCase{"DynamicIota",
                      kX,
                      "%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> "
                      "tensor<i32>\n%s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n"
                      "%r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xi64>",
                      "tensor<?xi64>",
                      {f32({30, 4})},
                      "tensor<30xi64>",
                      "stablehlo.iota"},
        InferenceCase{"DynamicReshape",
                      kX,
                      "%c4 = stablehlo.constant dense<4> : tensor<i32>\n"
                      "%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> "
                      "tensor<i32>\n%m = stablehlo.multiply %n, %c4 : tensor<i32>\n%s = "
                      "stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>\n"
                      "%r = stablehlo.dynamic_reshape %x, %s : (tensor<?x4xf32>, tensor<1xi32>) -> "
                      "tensor<?xf32>",
                      "tensor<?xf32>",
                      {f32({3, 4})},
                      "tensor<12xf32>",
                      "stablehlo.reshape"},
        InferenceCase{
            "DynamicBroadcast",
            "%x: tensor<?xf32>, %y: tensor<?x?xf32>",
            "%a = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?x?xf32>) -> "
            "tensor<i32>\n%b = stablehlo.get_dimension_size %y, dim = 1 : "
            "(tensor<?x?xf32>) -> tensor<i32>\n%c = stablehlo.reshape %a : (tensor<i32>) "
            "-> tensor<1xi32>\n%d = stablehlo.reshape %b : (tensor<i32>) -> "
            "tensor<1xi32>\n%s = stablehlo.concatenate %c, %d, dim = 0 : (tensor<1xi32>, "
            "tensor<1xi32>) -> tensor<2xi32>\n%r = stablehlo.dynamic_broadcast_in_dim %x, "
            "%s, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>",
            "tensor<?x?xf32>",
            {f32({3}), f32({2, 3})},
            "tensor<2x3xf32>",
            "stablehlo.broadcast_in_dim"},
        InferenceCase{"SetDimensionSizeCuts",
                      "%x: tensor<8xf32>, %y: tensor<?xf32>",
                      "%n = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> "
                      "tensor<i32>\n%r = stablehlo.set_dimension_size %x, %n, dim = 0 : "
                      "(tensor<8xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<8>>",
                      "tensor<?xf32, #stablehlo.bounds<8>>",
                      {f32({8}), f32({5})},
                      "tensor<5xf32>",
                      "stablehlo.slice"},
        InferenceCase{"SetDimensionSizeBackToItsBound",
                      "%x: tensor<?xf32, #stablehlo.bounds<8>>",
                      "%n = stablehlo.constant dense<8> : tensor<i32>\n%r = "
                      "stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<?xf32, "
                      "#stablehlo.bounds<8>>, tensor<i32>) -> tensor<8xf32>",
                      "tensor<8xf32>",
                      {f32({5})},
                      "tensor<8xf32>",
                      "stablehlo.pad"},
        InferenceCase{
            "IfOfAKnownChoice",
            kX,
            "%c3 = stablehlo.constant dense<3> : tensor<i32>\n"
            "%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> "
            "tensor<i32>\n%p = stablehlo.compare LT, %n, %c3 : (tensor<i32>, tensor<i32>) "
            "-> tensor<i1>\n%r = \"stablehlo.if\"(%p) ({\n%k = stablehlo.concatenate %x, "
            "%x, dim = 0 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>\n"
            "stablehlo.return %k : tensor<?x4xf32>\n}, {\nstablehlo.return %x : "
            "tensor<?x4xf32>\n}) : (tensor<i1>) -> tensor<?x4xf32>",
            "tensor<?x4xf32>",
            {f32({2, 4})},
            "tensor<4x4xf32>"},
        InferenceCase{
            "WhileWithASizeThatItCarries",
            kX,
            "%z = stablehlo.constant dense<0> : tensor<i32>\n%o = stablehlo.constant "
            "dense<1> : tensor<i32>\n%n = stablehlo.get_dimension_size %x, dim = 0 : "
            "(tensor<?x4xf32>) -> tensor<i32>\n%w:3 = stablehlo.while(%i = %z, %m = %n, "
            "%a = %x) : tensor<i32>, tensor<i32>, tensor<?x4xf32>\ncond {\n%p = "
            "stablehlo.compare LT, %i, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
            "stablehlo.return %p : tensor<i1>\n} do {\n%j = stablehlo.add %i, %o : "
            "tensor<i32>\n%s = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>\n"
            "%c4 = stablehlo.constant dense<4> : tensor<1xi32>\n%t = "
            "stablehlo.concatenate %s, %c4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> "
            "tensor<2xi32>\n%b = stablehlo.dynamic_reshape %a, %t : (tensor<?x4xf32>, "
            "tensor<2xi32>) -> tensor<?x4xf32>\n%k = stablehlo.maximum %m, %m : "
            "tensor<i32>\nstablehlo.return %j, %k, %b : tensor<i32>, tensor<i32>, "
            "tensor<?x4xf32>\n}\n%s2 = stablehlo.reshape %w#1 : (tensor<i32>) -> "
            "tensor<1xi32>\n%r = stablehlo.dynamic_iota %s2, dim = 0 : (tensor<1xi32>) -> "
            "tensor<?xi32>",
            "tensor<?xi32>",
            {f32({6, 4})},
            "tensor<6xi32>"},
        InferenceCase{
            "TopKOfAKnownK",
            kX,
            "%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> "
            "tensor<i32>\n%r, %i = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %n) "
            ": (tensor<?x4xf32>, tensor<i32>) -> (tensor<?x?xf32>, tensor<?x?xi32>)",
            "tensor<?x?xf32>",
            {f32({3, 4})},
            "tensor<3x3xf32>",
            "chlo.top_k"},
        InferenceCase{"CustomCallWithShapeOperands",
                      kX,
                      "%s = stablehlo.constant dense<[7, 2]> : tensor<2xi64>\n%r = "
                      "stablehlo.custom_call @something(%x, %s) {indices_of_shape_operands = "
                      "dense<1> : tensor<1xi64>} : (tensor<?x4xf32>, tensor<2xi64>) -> "
                      "tensor<?x2xf32>",
                      "tensor<?x2xf32>",
                      {f32({3, 4})},
                      "tensor<7x2xf32>"},
        InferenceCase{"SliceWhosePlaceIsData",
                      "%x: tensor<?xf32>, %i: tensor<1xi32>",
                      "%c2 = stablehlo.constant dense<2> : tensor<1xi32>\n%o = stablehlo.constant "
                      "dense<1> : tensor<1xi32>\n%l = stablehlo.add %c2, %i : tensor<1xi32>\n%r = "
                      "stablehlo.real_dynamic_slice %x, %i, %l, %o : (tensor<?xf32>, "
                      "tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>",
                      "tensor<?xf32>",
                      {f32({6}), Shape(DType::kI32, {1})},
                      "tensor<2xf32>",
                      "stablehlo.dynamic_slice"}),
    [](const auto& info) { return info.param.name; });

struct ErrorCase {
  std::string name;
  std::string arguments;
  std::string body;  // up to the return, which is of %x : tensor<?x4xf32>
  std::vector<Shape> shapes;
  ErrorCode code;
  std::string message;
};

void PrintTo(const ErrorCase& c, std::ostream* out) { *out << c.name; }

class RefineErrorTest : public ::testing::TestWithParam<ErrorCase> {};

TEST_P(RefineErrorTest, ItIsSaidWhereAndWhy) {
  const ErrorCase& c = GetParam();
  const auto module =
      refined(c.arguments, "tensor<?x4xf32>", c.body + "\nreturn %x : tensor<?x4xf32>", c.shapes);
  ASSERT_FALSE(module) << ir::print(*module);
  EXPECT_EQ(module.error().code(), c.code) << module.error().to_string();
  EXPECT_THAT(module.error().message(), HasSubstr(c.message));
}

const char* const kSize =
    "%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>\n";

INSTANTIATE_TEST_SUITE_P(
    Programs, RefineErrorTest,
    ::testing::Values(
        ErrorCase{"AStaticDimension",
                  kX,
                  "",
                  {f32({3, 5})},
                  ErrorCode::kInvalidArgument,
                  "argument 0, a tensor<3x5xf32>, should be tensor<?x4xf32>: dimension 1 is 5, not "
                  "4"},
        ErrorCase{
            "ARank", kX, "", {f32({4})}, ErrorCode::kInvalidArgument, "it has 1 dimension, not 2"},
        ErrorCase{"TheNumberOfArguments",
                  kX,
                  "",
                  {},
                  ErrorCode::kInvalidArgument,
                  "found 0 arguments, expected 1"},
        ErrorCase{"ABound",
                  "%x: tensor<?x4xf32>, %y: tensor<?xf32, #stablehlo.bounds<8>>",
                  "",
                  {f32({3, 4}), f32({9})},
                  ErrorCode::kInvalidArgument,
                  "dimension 0 is 9, more than its bound of 8"},
        ErrorCase{"OperandsThatDoNotFit",
                  kTwo,
                  "%z = stablehlo.add %x, %y : tensor<?x4xf32>",
                  {f32({3, 4}), f32({2, 4})},
                  ErrorCode::kInvalidArgument,
                  "2:6: stablehlo.add: operand 1 has the shape 2x4, expected 3x4"},
        ErrorCase{"AnAssertion",
                  kX,
                  std::string(kSize) +
                      "%c = stablehlo.constant dense<8> : tensor<i32>\n%p = stablehlo.compare GE, "
                      "%n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.custom_call "
                      "@shape_assertion(%p, %n, %c) {error_message = \"found {0} {x} {7}, expected "
                      "{1}\"} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()",
                  {f32({3, 4})},
                  ErrorCode::kInvalidArgument,
                  "@shape_assertion: found 3 {x} {7}, expected 8"},
        ErrorCase{
            "AnAssertionOfData",
            "%x: tensor<?x4xf32>, %p: tensor<i1>",
            "stablehlo.custom_call @shape_assertion(%p) {error_message = \"\"} : (tensor<i1>) "
            "-> ()",
            {f32({3, 4}), Shape(DType::kI1, {})},
            ErrorCode::kUnimplemented,
            "it depends on data"},
        ErrorCase{"AShapeOfData",
                  "%x: tensor<?x4xf32>, %s: tensor<1xi32>",
                  "%r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>",
                  {f32({3, 4}), Shape(DType::kI32, {1})},
                  ErrorCode::kUnimplemented,
                  "2:6: stablehlo.dynamic_iota: operand 0 says a shape and depends on data"},
        ErrorCase{"ASizeBelowZero",
                  kX,
                  std::string(kSize) +
                      "%m = stablehlo.negate %n : tensor<i32>\n%s = stablehlo.reshape %m : "
                      "(tensor<i32>) -> tensor<1xi32>\n%r = stablehlo.dynamic_iota %s, dim = 0 : "
                      "(tensor<1xi32>) -> tensor<?xi32>",
                  {f32({3, 4})},
                  ErrorCode::kInvalidArgument,
                  "dimension 0 of the result would have a size of -3"},
        ErrorCase{"ArithmeticThatOverflows",
                  kX,
                  std::string(kSize) +
                      "%m = stablehlo.multiply %n, %n : tensor<i32>\n%s = stablehlo.reshape %m : "
                      "(tensor<i32>) -> tensor<1xi32>\n%r = stablehlo.dynamic_iota %s, dim = 0 : "
                      "(tensor<1xi32>) -> tensor<?xi32>",
                  {f32({70000, 4})},
                  ErrorCode::kInvalidArgument,
                  "overflows or divides by zero at 3:6: stablehlo.multiply"},
        ErrorCase{"DivisionByZero",
                  kX,
                  std::string(kSize) +
                      "%m = stablehlo.divide %n, %n : tensor<i32>\n%s = stablehlo.reshape %m : "
                      "(tensor<i32>) -> tensor<1xi32>\n%r = stablehlo.dynamic_iota %s, dim = 0 : "
                      "(tensor<1xi32>) -> tensor<?xi32>",
                  {f32({0, 4})},
                  ErrorCode::kInvalidArgument,
                  "overflows or divides by zero at 3:6: stablehlo.divide"},
        ErrorCase{"ASizeThatItsTypeCannotHold",
                  kX,
                  "%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> "
                  "tensor<i8>",
                  {f32({300, 4})},
                  ErrorCode::kInvalidArgument,
                  "a size of 300 does not fit in i8"},
        ErrorCase{"MoreElementsThanCanBeCounted",
                  kX,
                  "%s = stablehlo.constant dense<4611686018427387904> : tensor<3xi64>\n"
                  "%r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<3xi64>) -> tensor<?x?x?xi32>",
                  {f32({3, 4})},
                  ErrorCode::kInvalidArgument,
                  "more elements than can be counted"},
        ErrorCase{"AReshapeOfOtherElements",
                  kX,
                  "%s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>\n%r = "
                  "stablehlo.dynamic_reshape %x, %s : (tensor<?x4xf32>, tensor<2xi64>) -> "
                  "tensor<?x?xf32>",
                  {f32({3, 4})},
                  ErrorCode::kInvalidArgument,
                  "3:6: stablehlo.reshape: the operand has the shape 3x4, the result 2x3"},
        ErrorCase{
            "AResultThatIsSaidOtherwise",
            kX,
            "%s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>\n%v = stablehlo.constant "
            "dense<1.0> : tensor<f32>\n%r = stablehlo.dynamic_broadcast_in_dim %v, %s, dims = "
            "[] : (tensor<f32>, tensor<2xi64>) -> tensor<?x4xf32>",
            {f32({3, 4})},
            ErrorCode::kInvalidArgument,
            "dimension 1 of the result has a size of 3, its type says 4"},
        ErrorCase{
            "ALoopThatGrows",
            kX,
            "%p = stablehlo.constant dense<true> : tensor<i1>\n%w = stablehlo.while(%a = %x) : "
            "tensor<?x4xf32>\ncond {\nstablehlo.return %p : tensor<i1>\n} do {\n%b = "
            "stablehlo.concatenate %a, %a, dim = 0 : (tensor<?x4xf32>, tensor<?x4xf32>) -> "
            "tensor<?x4xf32>\nstablehlo.return %b : tensor<?x4xf32>\n}",
            {f32({3, 4})},
            ErrorCode::kUnimplemented,
            "value 0 is tensor<3x4xf32> before an iteration and tensor<6x4xf32> after it"},
        ErrorCase{"BranchesOfTwoShapes",
                  "%x: tensor<?x4xf32>, %p: tensor<i1>",
                  "%r = \"stablehlo.if\"(%p) ({\n%k = stablehlo.concatenate %x, %x, dim = 0 : "
                  "(tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>\nstablehlo.return %k : "
                  "tensor<?x4xf32>\n}, {\nstablehlo.return %x : tensor<?x4xf32>\n}) : (tensor<i1>) "
                  "-> tensor<?x4xf32>",
                  {f32({3, 4}), Shape(DType::kI1, {})},
                  ErrorCode::kUnimplemented,
                  "tensor<6x4xf32> from one branch, tensor<3x4xf32> from another"},
        ErrorCase{
            "AShapeOfFloats",
            kX,
            "%s = stablehlo.constant dense<[7.0, 2.0]> : tensor<2xf32>\n%r = "
            "stablehlo.custom_call @something(%x, %s) {indices_of_shape_operands = dense<1> : "
            "tensor<1xi64>} : (tensor<?x4xf32>, tensor<2xf32>) -> tensor<?x2xf32>",
            {f32({3, 4})},
            ErrorCode::kInvalidArgument,
            "operand 1 is tensor<2xf32>, expected integers"},
        ErrorCase{"ACustomCallThatSaysNothing",
                  kX,
                  "%r = stablehlo.custom_call @something(%x) : (tensor<?x4xf32>) -> tensor<?xf32>",
                  {f32({3, 4})},
                  ErrorCode::kUnimplemented,
                  "the shape of result 0, tensor<?xf32>, does not follow from its operands"}),
    [](const auto& info) { return info.param.name; });

TEST(RefineTest, AFunctionIsMadeOncePerShape) {
  const auto module =
      refined("%x: tensor<?xf32>, %y: tensor<?xf32>", "tensor<?xf32>, tensor<?xf32>, tensor<?xf32>",
              "%a = call @twice(%x) : (tensor<?xf32>) -> tensor<?xf32>\n"
              "%b = call @twice(%y) : (tensor<?xf32>) -> tensor<?xf32>\n"
              "%c = call @twice(%a) : (tensor<?xf32>) -> tensor<?xf32>\n"
              "return %a, %b, %c : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>",
              {f32({2}), f32({5})},
              "func.func private @twice(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
              "%a = stablehlo.add %x, %x : tensor<?xf32>\nreturn %a : tensor<?xf32>\n}\n");
  ASSERT_TRUE(module) << module.error().to_string();
  EXPECT_EQ(module->functions().size(), 3u) << ir::print(*module);
}

TEST(RefineTest, SizesGoThroughCallsThatAreNotNeededThen) {
  const auto module =
      refined("%x: tensor<?xf32>", "tensor<?xi32>",
              "%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>\n"
              "%m = call @half(%n) : (tensor<i32>) -> tensor<i32>\n"
              "%s = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>\n"
              "%r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>\n"
              "return %r : tensor<?xi32>",
              {f32({9})},
              "func.func private @half(%n: tensor<i32>) -> tensor<i32> {\n"
              "%t = stablehlo.constant dense<2> : tensor<i32>\n"
              "%m = stablehlo.divide %n, %t : tensor<i32>\nreturn %m : tensor<i32>\n}\n");
  ASSERT_TRUE(module) << module.error().to_string();
  EXPECT_EQ(module->find("main")->results()[0].to_string(), "tensor<4xi32>");
  EXPECT_THAT(ir::print(*module), Not(HasSubstr("call @half")));
}

TEST(RefineTest, AFunctionThatCallsWithEverNewConstantsIsGivenUp) {
  std::string others;
  const int depth = 40;
  for (int i = 0; i < depth; ++i) {
    const std::string next = i + 1 < depth ? "@f" + std::to_string(i + 1) : "@end";
    others += "func.func private @f" + std::to_string(i) +
              "(%n: tensor<i64>) -> tensor<i64> {\n"
              "%o = stablehlo.constant dense<1> : tensor<i64>\n"
              "%a = stablehlo.add %n, %n : tensor<i64>\n%b = stablehlo.add %a, %o : tensor<i64>\n"
              "%c = func.call " +
              next +
              "(%a) : (tensor<i64>) -> tensor<i64>\n"
              "%d = func.call " +
              next +
              "(%b) : (tensor<i64>) -> tensor<i64>\n"
              "%e = stablehlo.add %c, %d : tensor<i64>\nreturn %e : tensor<i64>\n}\n";
  }
  others +=
      "func.func private @end(%n: tensor<i64>) -> tensor<i64> {\nreturn %n : tensor<i64>\n}\n";
  const auto module =
      refined("%x: tensor<?xf32>", "tensor<i64>",
              "%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i64>\n"
              "%m = call @f0(%n) : (tensor<i64>) -> tensor<i64>\nreturn %m : tensor<i64>",
              {f32({1})}, others);
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().code(), ErrorCode::kResourceExhausted) << module.error().to_string();
}

TEST(RefineTest, ABodyThatIsItselfIsGivenUp) {
  const std::string window =
      "%a = stablehlo.constant dense<2> : tensor<1xi32>\n"
      "%p = stablehlo.constant dense<0> : tensor<1x2xi32>\n"
      "%r = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %v, %a, %a, %a, %a, %p) "
      "{called_computations = [@f]} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, "
      "tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>\n";
  const auto module =
      refined("%x: tensor<?xf32>, %v: tensor<f32>", "tensor<?xf32>",
              window + "return %r : tensor<?xf32>", {f32({4}), f32({})},
              "func.func private @f(%v: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {\n"
              "%x = stablehlo.reshape %v : (tensor<f32>) -> tensor<1xf32>\n%y = stablehlo.pad %x, "
              "%v, low = "
              "[0], high = [3], interior = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<4xf32>\n" +
                  replaced(window, {"(%x", "(tensor<?xf32>"}, {"(%y", "(tensor<4xf32>"}) +
                  "return %w : tensor<f32>\n}\n");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(module.error().message(), HasSubstr("nested too deeply"));
}

TEST(RefineTest, AStaticProgramNeedsNone) {
  const auto module = text::read_text(
      "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\nreturn %x : tensor<4xf32>\n}\n");
  ASSERT_TRUE(module);
  EXPECT_FALSE(is_needed(*module));
}

TEST(RefineTest, ParametersOfTuplesStandInARow) {
  const auto module = text::read_text(
      "func.func @main(%t: tuple<tensor<?xf32>, tensor<2xi32>>) -> tensor<?xf32> {\n"
      "%x = stablehlo.get_tuple_element %t[0] : (tuple<tensor<?xf32>, tensor<2xi32>>) -> "
      "tensor<?xf32>\nreturn %x : tensor<?xf32>\n}\n");
  ASSERT_TRUE(module) << module.error().to_string();
  const std::vector<Shape> shapes = shapes_of(entry(*module)->inputs(), "argument").value();
  EXPECT_THAT(shapes, ::testing::ElementsAre(f32({kUnknownDimension}), Shape(DType::kI32, {2})));
  const auto refined = specialise(*module, std::vector<Shape>{f32({3}), Shape(DType::kI32, {2})},
                                  cpu::definition::evaluate);
  ASSERT_TRUE(refined) << refined.error().to_string();
  EXPECT_EQ(refined->find("main")->results()[0].to_string(), "tensor<3xf32>");
}

}  // namespace
}  // namespace millrace::devices::stablehlo::specialise
