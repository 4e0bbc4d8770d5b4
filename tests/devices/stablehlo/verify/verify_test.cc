#include "millrace/devices/stablehlo/verify/verify.h"

#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/devices/stablehlo/verify/op_case.h"

namespace millrace::devices::stablehlo::verify {
namespace {

using ::testing::HasSubstr;

// One op in a function, on line 2.
struct Case {
  const char* name;
  const char* arguments;
  const char* op;
  const char* verdict;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Verify : public ::testing::TestWithParam<Case> {};

TEST_P(Verify, SaysWhatWasFoundAndExpected) {
  const Case& c = GetParam();
  const std::string text =
      "func.func @main(" + std::string(c.arguments) + ") {\n  " + c.op + "\n  return\n}\n";
  EXPECT_THAT(verdict(text), HasSubstr(c.verdict)) << text;
}

constexpr const char* kArguments =
    "%a: tensor<4x6xf32>, %b: tensor<6x4xf32>, %s: tensor<f32>, %i: tensor<i32>, %n: "
    "tensor<4x6xi32>, %p: tensor<4x6xi1>, "
    "%u: tensor<?x6xf32>, %c: tensor<4x6xcomplex<f32>>";

#define ACCURACY(fields)                                                                \
  "%0 = stablehlo.exponential %a {result_accuracy = #stablehlo.result_accuracy<" fields \
  "mode = "                                                                             \
  "#stablehlo.result_accuracy_mode<"
const Case kElementwise[] = {
    {"ToleranceOfAccuracy", kArguments,
     ACCURACY("atol = 1.0e-3, ulps = 2, ") "TOLERANCE>>} : tensor<4x6xf32>", "good"},
    {"AccuracyWithANan", kArguments,
     ACCURACY("atol = 0x7FF8000000000000, ") "TOLERANCE>>} : tensor<4x6xf32>",
     "2:8: stablehlo.exponential: result_accuracy has atol nan"},
    {"RelativeAccuracyWithANan", kArguments,
     ACCURACY("rtol = 0x7FF8000000000000, ulps = 1, ") "TOLERANCE>>} : tensor<4x6xf32>",
     "rtol nan and ulps 1, expected numbers that are not negative"},
    {"NegativeAccuracy", kArguments, ACCURACY("ulps = -1, ") "TOLERANCE>>} : tensor<4x6xf32>",
     "and ulps -1, expected numbers that are not negative"},
    {"AccuracyWithoutItsMode", kArguments, ACCURACY("ulps = 2, ") "HIGHEST>>} : tensor<4x6xf32>",
     "expected them with the mode TOLERANCE only"},
    {"AddOfEqualTypes", kArguments, "%0 = stablehlo.add %a, %a : tensor<4x6xf32>", "good"},
    {"AddOfDynamicExtents", kArguments,
     "%0 = stablehlo.add %a, %u : (tensor<4x6xf32>, tensor<?x6xf32>) -> tensor<4x6xf32>", "good"},
    {"AddOfShapes", kArguments,
     "%0 = stablehlo.add %a, %b : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x6xf32>",
     "2:8: stablehlo.add: operand 1 has the shape 6x4, expected 4x6"},
    {"AddOfElements", kArguments,
     "%0 = stablehlo.add %a, %n : (tensor<4x6xf32>, tensor<4x6xi32>) -> tensor<4x6xf32>",
     "operand 1 has elements of i32, expected f32"},
    {"AddResult", kArguments,
     "%0 = stablehlo.add %a, %a : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf64>",
     "the result has elements of f64, expected f32"},
    {"BitcastOfRealToComplex", "%a: tensor<4x2xf32>",
     "%0 = stablehlo.bitcast_convert %a : (tensor<4x2xf32>) -> tensor<4xcomplex<f32>>",
     "expected complex numbers of both or of neither"},
    {"BitcastOfComplex", "%a: tensor<4xcomplex<f64>>",
     "%0 = stablehlo.bitcast_convert %a : (tensor<4xcomplex<f64>>) -> tensor<4x2xcomplex<f32>>",
     "good"},
    {"TopKWithNarrowPlaces", "%a: tensor<4x6xf32>",
     "%0:2 = chlo.top_k(%a, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi8>)",
     "result 1 is tensor<4x2xi8>, expected elements of i32"},
    {"HintBeyondTheOperand", "%a: tensor<1x6xf32>, %s: tensor<2xi64>",
     "%0 = \"stablehlo.dynamic_broadcast_in_dim\"(%a, %s) <{broadcast_dimensions = array<i64: 0, "
     "1>,"
     " known_expanding_dimensions = array<i64: 2>}> : (tensor<1x6xf32>, tensor<2xi64>) -> "
     "tensor<?x6xf32>",
     "found 2 in the hints"},
    {"HintsThatContradict", "%a: tensor<1x6xf32>, %s: tensor<2xi64>",
     "%0 = \"stablehlo.dynamic_broadcast_in_dim\"(%a, %s) <{broadcast_dimensions = array<i64: 0, "
     "1>,"
     " known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>}> "
     ": (tensor<1x6xf32>, tensor<2xi64>) -> tensor<?x6xf32>",
     "found 0 twice in the hints"},
    {"AddOfOne", kArguments, R"(%0 = "stablehlo.add"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>)",
     "found 1 operands, expected 2"},
    {"AddOfToken", "%t: !stablehlo.token", "%0 = stablehlo.add %t, %t : !stablehlo.token",
     "operand 0 is !stablehlo.token, expected a tensor"},
    {"AddOfUnranked", "%t: tensor<*xf32>", "%0 = stablehlo.add %t, %t : tensor<*xf32>", "good"},
    {"NotOfFloats", kArguments, "%0 = stablehlo.not %a : tensor<4x6xf32>",
     "expected elements of i1, signed integer, unsigned integer"},
    {"ExponentialOfIntegers", kArguments, "%0 = stablehlo.exponential %n : tensor<4x6xi32>",
     "expected elements of float, complex"},
    {"AbsOfComplex", kArguments,
     "%0 = stablehlo.abs %c : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xf32>", "good"},
    {"AbsOfComplexAsComplex", kArguments, "%0 = stablehlo.abs %c : tensor<4x6xcomplex<f32>>",
     "the result has elements of complex<f32>, expected f32"},
    {"ConvertShape", kArguments, "%0 = stablehlo.convert %a : (tensor<4x6xf32>) -> tensor<4xi32>",
     "result 0 has the shape 4, expected 4x6"},
    {"CompareResult", kArguments,
     "%0 = stablehlo.compare LT, %a, %a : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>",
     "the result has elements of f32, expected i1"},
    {"CompareType", kArguments,
     "%0 = stablehlo.compare LT, %n, %n, FLOAT : (tensor<4x6xi32>, tensor<4x6xi32>) -> "
     "tensor<4x6xi1>",
     "a comparison of type FLOAT does not go with tensor<4x6xi32>"},
    {"CompareWithoutDirection", kArguments,
     R"(%0 = "stablehlo.compare"(%n, %n) : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>)",
     "comparison_direction is missing"},
    {"SelectByScalar", "%q: tensor<i1>, %a: tensor<4xf32>",
     "%0 = stablehlo.select %q, %a, %a : tensor<i1>, tensor<4xf32>", "good"},
    {"SelectByNumbers", kArguments,
     "%0 = stablehlo.select %n, %a, %a : tensor<4x6xi32>, tensor<4x6xf32>",
     "operand 0 is tensor<4x6xi32>, expected elements of i1"},
    {"ClampByScalars", kArguments,
     "%0 = stablehlo.clamp %s, %a, %s : (tensor<f32>, tensor<4x6xf32>, tensor<f32>) -> "
     "tensor<4x6xf32>",
     "good"},
    {"ClampByOtherShape", kArguments,
     "%0 = stablehlo.clamp %b, %a, %s : (tensor<6x4xf32>, tensor<4x6xf32>, tensor<f32>) -> "
     "tensor<4x6xf32>",
     "operand 0 has the shape 6x4"},
    {"ComplexOfHalves", "%a: tensor<2xf16>",
     "%0 = stablehlo.complex %a, %a : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xcomplex<f32>>",
     "expected elements of f32 or f64"},
};
INSTANTIATE_TEST_SUITE_P(Elementwise, Verify, ::testing::ValuesIn(kElementwise),
                         [](const auto& i) { return std::string(i.param.name); });

const Case kMovement[] = {
    {"ConstantType", "",
     R"(%0 = "stablehlo.constant"() {value = dense<1> : tensor<2xi32>} : () -> tensor<3xi32>)",
     "the value is tensor<2xi32>, expected the result's tensor<3xi32>"},
    {"IotaAxis", "", "%0 = stablehlo.iota dim = 2 : tensor<2x3xi32>",
     "found iota_dimension = 2, expected 0 to 1"},
    {"IotaScalar", "", "%0 = stablehlo.iota dim = 0 : tensor<i32>", "the result is a scalar"},
    {"Reshape", kArguments, "%0 = stablehlo.reshape %a : (tensor<4x6xf32>) -> tensor<2x12xf32>",
     "good"},
    {"ReshapeCount", kArguments, "%0 = stablehlo.reshape %a : (tensor<4x6xf32>) -> tensor<5x5xf32>",
     "the result 5x5: expected the same number"},
    {"ReshapeOfHugeExtents", "%h: tensor<4611686018427387904x4611686018427387904x4xi8>",
     "%0 = stablehlo.reshape %h : (tensor<4611686018427387904x4611686018427387904x4xi8>) -> "
     "tensor<0xi8>",
     "expected the same number"},
    {"Broadcast", kArguments,
     "%0 = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<4x6xf32>) -> tensor<3x4x6xf32>",
     "good"},
    {"BroadcastExtent", kArguments,
     "%0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x7xf32>",
     "dimension 1 of the operand is 6, expected 1 or 7"},
    {"BroadcastAxis", kArguments,
     "%0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<4x6xf32>) -> tensor<4x6xf32>",
     "found 2 in broadcast_dimensions, expected 0 to 1 (rank 2)"},
    {"BroadcastTwice", kArguments,
     "%0 = stablehlo.broadcast_in_dim %a, dims = [0, 0] : (tensor<4x6xf32>) -> tensor<4x6xf32>",
     "found 0 twice in broadcast_dimensions"},
    {"Transpose", kArguments,
     "%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>", "good"},
    {"TransposeResult", kArguments,
     "%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<4x6xf32>",
     "result 0 has the shape 4x6, expected 6x4"},
    {"ReverseAxis", kArguments, "%0 = stablehlo.reverse %a, dims = [2] : tensor<4x6xf32>",
     "found 2 in dimensions"},
    {"Slice", kArguments,
     "%0 = stablehlo.slice %a [1:4:2, 0:5] : (tensor<4x6xf32>) -> tensor<2x5xf32>", "good"},
    {"SliceLimit", kArguments,
     "%0 = stablehlo.slice %a [1:5, 0:5] : (tensor<4x6xf32>) -> tensor<4x5xf32>",
     "found 1:5:1 for dimension 0, expected 0 <= start <= limit <= 4"},
    {"SliceHugeStride", kArguments,
     "%0 = stablehlo.slice %a [0:4:9223372036854775807, 0:5] : (tensor<4x6xf32>) -> "
     "tensor<1x5xf32>",
     "good"},
    {"DynamicSlice", kArguments,
     "%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [2, 6] : (tensor<4x6xf32>, tensor<i32>, "
     "tensor<i32>) -> tensor<2x6xf32>",
     "good"},
    {"DynamicSliceSize", kArguments,
     "%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [5, 6] : (tensor<4x6xf32>, tensor<i32>, "
     "tensor<i32>) -> tensor<5x6xf32>",
     "found a slice size of 5"},
    {"DynamicSliceIndices", kArguments,
     "%0 = stablehlo.dynamic_slice %a, %i, sizes = [4, 6] : (tensor<4x6xf32>, tensor<i32>) -> "
     "tensor<4x6xf32>",
     "found 2 operands, expected 3"},
    {"DynamicUpdateSliceSize", kArguments,
     "%0 = stablehlo.dynamic_update_slice %a, %b, %i, %i : (tensor<4x6xf32>, tensor<6x4xf32>, "
     "tensor<i32>, tensor<i32>) -> tensor<4x6xf32>",
     "dimension 0 of operand 1 is 6, expected at most 4"},
    {"Concatenate", kArguments,
     "%0 = stablehlo.concatenate %a, %a, dim = 1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> "
     "tensor<4x12xf32>",
     "good"},
    {"ConcatenateShape", kArguments,
     "%0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<4x6xf32>, tensor<6x4xf32>) -> "
     "tensor<4x10xf32>",
     "operand 1 has the shape 6x4, expected 4x4"},
    {"Pad", kArguments,
     "%0 = stablehlo.pad %a, %s, low = [-1, 0], high = [2, 0], interior = [0, 1] : "
     "(tensor<4x6xf32>, tensor<f32>) -> tensor<5x11xf32>",
     "good"},
    {"PadOverflow", kArguments,
     "%0 = stablehlo.pad %a, %s, low = [9223372036854775807, 0], high = [9223372036854775807, 0], "
     "interior = [9223372036854775807, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<5x6xf32>",
     "leaves no extent from 0 to 2^63 - 1"},
    {"BitcastToParts", kArguments,
     "%0 = stablehlo.bitcast_convert %a : (tensor<4x6xf32>) -> tensor<4x6x2xui16>", "good"},
    {"BitcastShape", kArguments,
     "%0 = stablehlo.bitcast_convert %a : (tensor<4x6xf32>) -> tensor<4x6xui16>",
     "result 0 has the shape 4x6, expected 4x6x2"},
};
INSTANTIATE_TEST_SUITE_P(Movement, Verify, ::testing::ValuesIn(kMovement),
                         [](const auto& i) { return std::string(i.param.name); });

constexpr const char* kImage =
    "%x: tensor<2x8x8x3xf32>, %w: tensor<3x3x3x16xf32>, %v: tensor<3x3x2x16xf32>";

const Case kLinear[] = {
    {"DotGeneral", kArguments,
     "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x6xf32>, "
     "tensor<6x4xf32>) -> tensor<4x4xf32>",
     "good"},
    {"DotGeneralBatched", "%a: tensor<2x3x4xf32>",
     "%0 = stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [2] x [2] : "
     "(tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x3xf32>",
     "good"},
    {"DotGeneralExtents", kArguments,
     "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<4x6xf32>, "
     "tensor<6x4xf32>) -> tensor<4x6xf32>",
     "contracting dimension 1 on the left is 6, dimension 1 on the right 4"},
    {"DotGeneralResult", kArguments,
     "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x6xf32>, "
     "tensor<6x4xf32>) -> tensor<4x6xf32>",
     "result 0 has the shape 4x6, expected 4x4"},
    {"DotGeneralAxisTwice", kArguments,
     "%0 = stablehlo.dot_general %a, %b, batching_dims = [1] x [0], contracting_dims = [1] x [1] : "
     "(tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x6xf32>",
     "found 1 twice in the left dimensions"},
    {"Convolution", kImage,
     "%0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
     "window = {stride = [2, 1], pad = [[1, 1], [0, 0]]} {batch_group_count = 1 : i64, "
     "feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x16xf32>) -> "
     "tensor<2x4x6x16xf32>",
     "good"},
    {"ConvolutionOfTwoTypes", "%x: tensor<1x1x4xf32>, %w: tensor<1x1x2xbf16>",
     "%0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} "
     "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x4xf32>, "
     "tensor<1x1x2xbf16>) -> tensor<1x1x3xf32>",
     "operand 1 has elements of bf16, expected f32"},
    {"PaddingOfTruths", kImage,
     "%0 = \"stablehlo.convolution\"(%x, %w) <{batch_group_count = 1 : i64, dimension_numbers = "
     "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, "
     "padding = dense<true> : tensor<2x2xi1>}> : (tensor<2x8x8x3xf32>, tensor<3x3x3x16xf32>) -> "
     "tensor<2x8x8x16xf32>",
     "padding is tensor<2x2xi1>, expected elements of i64"},
    {"ConvolutionResult", kImage,
     "%0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
     "window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
     "(tensor<2x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<2x8x8x16xf32>",
     "result 0 has the shape 2x8x8x16, expected 2x6x6x16"},
    {"ConvolutionFeatures", kImage,
     "%0 = stablehlo.convolution(%x, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
     "window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
     "(tensor<2x8x8x3xf32>, tensor<3x3x2x16xf32>) -> tensor<2x6x6x16xf32>",
     "the kernel has 2 input features, expected 3"},
    {"ConvolutionStride", kImage,
     "%0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
     "window = {stride = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
     "(tensor<2x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<2x6x6x16xf32>",
     "stride 0"},
    {"ConvolutionHugeNumbers", kImage,
     "%0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
     "window = {pad = [[9223372036854775807, 9223372036854775807], [0, 0]], lhs_dilate = "
     "[9223372036854775807, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
     "(tensor<2x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<2x6x6x16xf32>",
     "does not fit in 64 bits"},
    {"ConvolutionGroups", kImage,
     "%0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
     "window = {} {batch_group_count = 1 : i64, feature_group_count = 0 : i64} : "
     "(tensor<2x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<2x6x6x16xf32>",
     "found feature_group_count = 0, expected 1"},
};
INSTANTIATE_TEST_SUITE_P(Linear, Verify, ::testing::ValuesIn(kLinear),
                         [](const auto& i) { return std::string(i.param.name); });

#define ADD_BODY                                                                             \
  "({\n^bb0(%l: tensor<f32>, %r: tensor<f32>):\n %z = stablehlo.add %l, %r : tensor<f32>\n " \
  "stablehlo.return %z : tensor<f32>\n})"
#define LESS_BODY                                                                      \
  "({\n^bb0(%l: tensor<f32>, %r: tensor<f32>):\n %z = stablehlo.compare GE, %l, %r : " \
  "(tensor<f32>, tensor<f32>) -> tensor<i1>\n stablehlo.return %z : tensor<i1>\n}"

const Case kBodies[] = {
    {"Reduce", kArguments,
     "%0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [0] : "
     "(tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>",
     "good"},
    {"ReduceResult", kArguments,
     "%0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [0] : "
     "(tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>",
     "result 0 has the shape 4, expected 6"},
    {"ReduceAxis", kArguments,
     "%0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [2] : "
     "(tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>",
     "found 2 in dimensions"},
    {"ReduceElements", kArguments,
     "%0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [0] : "
     "(tensor<4x6xf32>, tensor<i32>) -> tensor<6xf32>",
     "value 0 of the body has elements of i32, expected f32"},
    {"ReduceInAWiderBody", "%a: tensor<4xbf16>, %s: tensor<bf16>",
     "%0 = \"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> " ADD_BODY
     " : (tensor<4xbf16>, tensor<bf16>) -> tensor<f32>",
     "good"},
    {"ReduceInABodyOfOtherKind", "%a: tensor<4xi8>, %s: tensor<i8>",
     "%0 = \"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> " ADD_BODY
     " : (tensor<4xi8>, tensor<i8>) -> tensor<f32>",
     "2:8: stablehlo.reduce: an array has elements of i8, its body works on f32: expected the same "
     "or a wider type of that kind"},
    {"ReduceInANarrowerBody", "%a: tensor<4xf64>, %s: tensor<f64>",
     "%0 = \"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> " ADD_BODY
     " : (tensor<4xf64>, tensor<f64>) -> tensor<f32>",
     "an array has elements of f64, its body works on f32"},
    {"ReduceOfAnotherInit", "%a: tensor<4xf32>, %s: tensor<i32>",
     "%0 = \"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> " ADD_BODY
     " : (tensor<4xf32>, tensor<i32>) -> tensor<f32>",
     "an array has elements of i32, its body works on f32"},
    {"ReduceArgumentsOfAnotherType", "%a: tensor<4xf32>, %s: tensor<f32>",
     "%0 = \"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> ({\n^bb0(%l: tensor<f64>, "
     "%r: "
     "tensor<f64>):\n %z = stablehlo.convert %l : (tensor<f64>) -> tensor<f32>\n stablehlo.return "
     "%z "
     ": tensor<f32>\n}) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>",
     "argument 0 of the body has elements of f64, expected f32"},
    {"ReduceWindowOfAnotherKind", "%a: tensor<4xi32>, %s: tensor<i32>",
     "%0 = \"stablehlo.reduce_window\"(%a, %s) <{window_dimensions = array<i64: 2>}> " ADD_BODY
     " : (tensor<4xi32>, tensor<i32>) -> tensor<3xf32>",
     "an array has elements of i32, its body works on f32"},
    {"ScatterOfOtherUpdates", "%x: tensor<10xf32>, %k: tensor<3x1xi32>, %y: tensor<3xi8>",
     "%0 = \"stablehlo.scatter\"(%x, %k, %y) <{scatter_dimension_numbers = "
     "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
     "index_vector_dim = 1>}> " ADD_BODY
     " : (tensor<10xf32>, tensor<3x1xi32>, tensor<3xi8>) -> tensor<10xf32>",
     "an array has elements of i8, its body works on f32"},
    {"SelectAndScatterInit", "%a: tensor<4xf32>, %b: tensor<2xf32>, %s: tensor<i32>",
     "%0 = \"stablehlo.select_and_scatter\"(%a, %b, %s) <{window_dimensions = array<i64: 2>, "
     "window_strides = array<i64: 2>}> " LESS_BODY
     ", {\n^bb0(%l: tensor<f32>, %r: tensor<f32>):\n stablehlo.return %l : tensor<f32>\n}) : "
     "(tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>",
     "an array has elements of i32, its body works on f32"},
    {"SelectAndScatterSelection", "%a: tensor<4xbf16>, %b: tensor<2xbf16>, %s: tensor<bf16>",
     "%0 = \"stablehlo.select_and_scatter\"(%a, %b, %s) <{window_dimensions = array<i64: 2>, "
     "window_strides = array<i64: 2>}> " LESS_BODY
     ", {\n^bb0(%l: tensor<f32>, %r: tensor<f32>):\n stablehlo.return %l : tensor<f32>\n}) : "
     "(tensor<4xbf16>, tensor<2xbf16>, tensor<bf16>) -> tensor<4xf32>",
     "argument 0 of the selection has elements of f32, expected bf16"},
    {"MapOverSomeDimensions", "%a: tensor<4x6xf32>",
     "%0 = \"stablehlo.map\"(%a, %a) <{dimensions = array<i64: 1, 0>}> " ADD_BODY
     " : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>",
     "found dimensions that are not those of operand 0, expected 0 to 1 in order"},
    {"MapArguments", "%a: tensor<4xi8>",
     "%0 = \"stablehlo.map\"(%a, %a) <{dimensions = array<i64: 0>}> " ADD_BODY
     " : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xf32>",
     "argument 0 of the body has elements of f32, expected i8"},
    {"ReduceBodyArguments", kArguments,
     "%0 = \"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> ({\n^bb0(%l: "
     "tensor<f32>):\n "
     "stablehlo.return %l : tensor<f32>\n}) : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>",
     "region 0 has 1 arguments, expected 2"},
    {"ReduceWithoutReturn", kArguments,
     "%0 = \"stablehlo.reduce\"(%a, %s) ({\n^bb0(%l: tensor<f32>, %r: tensor<f32>):\n %z = "
     "stablehlo.add %l, %r : tensor<f32>\n}) {dimensions = array<i64: 0>} : (tensor<4x6xf32>, "
     "tensor<f32>) -> tensor<6xf32>",
     "region 0 does not end in stablehlo.return"},
    {"ReduceWindow", kArguments,
     "%0 = \"stablehlo.reduce_window\"(%a, %s) <{window_dimensions = array<i64: 2, 3>, "
     "window_strides = array<i64: 2, 1>}> " ADD_BODY
     " : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x4xf32>",
     "good"},
    {"ReduceWindowResult", kArguments,
     "%0 = \"stablehlo.reduce_window\"(%a, %s) <{window_dimensions = array<i64: 2, 3>, padding = "
     "dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>}> " ADD_BODY
     " : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x4xf32>",
     "result 0 has the shape 3x4, expected 4x4"},
    {"ReduceWindowRank", kArguments,
     "%0 = \"stablehlo.reduce_window\"(%a, %s) <{window_dimensions = array<i64: 2>}> " ADD_BODY
     " : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x6xf32>",
     "found 1 numbers in window_dimensions, expected 2"},
    {"SelectAndScatter", "%a: tensor<4xf32>, %b: tensor<2xf32>, %s: tensor<f32>",
     "%0 = \"stablehlo.select_and_scatter\"(%a, %b, %s) <{window_dimensions = array<i64: 2>, "
     "window_strides = array<i64: 2>}> " LESS_BODY
     ", {\n^bb0(%l: tensor<f32>, %r: tensor<f32>):\n stablehlo.return %l : tensor<f32>\n}) : "
     "(tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>",
     "good"},
    {"SelectAndScatterSource", "%a: tensor<4xf32>, %b: tensor<3xf32>, %s: tensor<f32>",
     "%0 = \"stablehlo.select_and_scatter\"(%a, %b, %s) <{window_dimensions = array<i64: 2>, "
     "window_strides = array<i64: 2>}> " LESS_BODY
     ", {\n^bb0(%l: tensor<f32>, %r: tensor<f32>):\n stablehlo.return %l : tensor<f32>\n}) : "
     "(tensor<4xf32>, tensor<3xf32>, tensor<f32>) -> tensor<4xf32>",
     "operand 1 (the source) has the shape 3, expected 2"},
    {"SortAxis", kArguments,
     "%0 = \"stablehlo.sort\"(%a) <{dimension = 2 : i64}> " LESS_BODY
     ") : (tensor<4x6xf32>) -> tensor<4x6xf32>",
     "found dimension = 2, expected -2 to 1"},
    {"SortComparator", kArguments,
     "%0 = \"stablehlo.sort\"(%a) <{dimension = 1 : i64}> " ADD_BODY
     " : (tensor<4x6xf32>) -> tensor<4x6xf32>",
     "the comparator's value is tensor<f32>, expected elements of i1"},
    {"Gather", "%x: tensor<10x4xf32>, %k: tensor<3x1xi32>",
     "%0 = \"stablehlo.gather\"(%x, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "good"},
    {"GatherSlices", "%x: tensor<10x4xf32>, %k: tensor<3x1xi32>",
     "%0 = \"stablehlo.gather\"(%x, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 2, 4>}> : (tensor<10x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>",
     "found a slice size of 2 for dimension 0, expected 0 to 1"},
    {"GatherMap", "%x: tensor<10x4xf32>, %k: tensor<3x2xi32>",
     "%0 = \"stablehlo.gather\"(%x, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<3x2xi32>) -> tensor<3x4xf32>",
     "the index vectors have 2 entries, expected one for each of the 1"},
    {"ScatterUpdates", "%x: tensor<10xf32>, %k: tensor<3x1xi32>, %y: tensor<4xf32>",
     "%0 = \"stablehlo.scatter\"(%x, %k, %y) <{scatter_dimension_numbers = "
     "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
     "index_vector_dim = 1>}> " ADD_BODY
     " : (tensor<10xf32>, tensor<3x1xi32>, tensor<4xf32>) -> tensor<10xf32>",
     "operand 2 (updates) has the shape 4, expected 3"},
    {"WhileTypes", kArguments,
     "%0 = stablehlo.while(%k = %i) : tensor<i32>\n cond {\n stablehlo.return %k : tensor<i32>\n } "
     "do {\n stablehlo.return %k : tensor<i32>\n }",
     "the value of the condition is tensor<i32>, expected elements of i1"},
    {"WhileBody", kArguments,
     "%0 = stablehlo.while(%k = %i) : tensor<i32>\n cond {\n %t = stablehlo.constant dense<true> : "
     "tensor<i1>\n stablehlo.return %t : tensor<i1>\n } do {\n stablehlo.return %s : tensor<f32>\n "
     "}",
     "7:2: stablehlo.return: value 0 is tensor<f32>, expected tensor<i32> for region 1"},
    {"IfPredicate", kArguments,
     "\"stablehlo.if\"(%i) ({ stablehlo.return }, { stablehlo.return }) : (tensor<i32>) -> ()",
     "operand 0 is tensor<i32>, expected elements of i1"},
    {"CaseWithoutBranches", kArguments, "\"stablehlo.case\"(%i) : (tensor<i32>) -> ()",
     "found no branches"},
    {"CallOfNothing", kArguments, "call @gone() : () -> ()",
     "2:3: func.call: there is no function @gone"},
    {"CallOfOtherTypes", kArguments, "call @main(%a) : (tensor<4x6xf32>) -> ()",
     "found 1 operands, expected 8"},
    {"BranchBetweenBlocks", "",
     "\"cf.br\"()[^bb1] : () -> ()\n^bb1:", "found 2 blocks, expected one"},
};
INSTANTIATE_TEST_SUITE_P(Bodies, Verify, ::testing::ValuesIn(kBodies),
                         [](const auto& i) { return std::string(i.param.name); });

TEST(VerifyFunctions, ReturnMatchesTheSignature) {
  EXPECT_THAT(
      verdict("func.func @f(%a: tensor<2xf32>) -> tensor<3xf32> {\n  return %a : tensor<2xf32>\n}"),
      HasSubstr(
          "2:3: func.return: value 0 is tensor<2xf32>, expected tensor<3xf32>, a result of @f"));
  EXPECT_THAT(
      verdict("func.func @f(%a: tensor<2xf32>) {\n  %0 = stablehlo.abs %a : tensor<2xf32>\n}"),
      HasSubstr("does not end in func.return"));
  EXPECT_THAT(verdict("func.func @f() {\n  return\n  return\n}"),
              HasSubstr("2:3: func.return: found here"));
}

TEST(VerifyFunctions, CyclesOfCallsAreRefused) {
  EXPECT_THAT(verdict("func.func @f() {\n  call @g() : () -> ()\n  return\n}\n"
                      "func.func @g() {\n  call @f() : () -> ()\n  return\n}"),
              HasSubstr("6:3: func.call: @f calls itself"));
  EXPECT_EQ(
      verdict("func.func @f() {\n  call @g() : () -> ()\n  call @g() : () -> ()\n  return\n}\n"
              "func.func private @g() {\n  return\n}"),
      "good");
}

TEST(VerifyFunctions, UnknownOperationsPass) {
  EXPECT_EQ(
      verdict(
          "func.func @f() {\n  \"my.op\"() ({ \"my.end\"() : () -> () }) : () -> ()\n  return\n}"),
      "good");
}

}  // namespace
}  // namespace millrace::devices::stablehlo::verify
