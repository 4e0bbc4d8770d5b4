// The verifier's rules of quantised elements: the types themselves, and which operations may mix
// them with the floats that they express.
#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/devices/stablehlo/text/read_text.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace millrace::devices::stablehlo::verify {
namespace {

using ::testing::HasSubstr;

// One op in a function, on line 2. In the text Q is a quantised type of elements.
struct Case {
  const char* name;
  const char* op;
  const char* verdict;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string verdict_of(const std::string& arguments, const std::string& op) {
  std::string text = "func.func @main(" + arguments + ") {\n  " + op + "\n  return\n}\n";
  for (std::size_t at = 0; (at = text.find("QQ", at)) != std::string::npos;)
    text.replace(at, 2, "!quant.uniform<i8:f32, 0.5:3>");
  const auto module = text::read_text(text);
  if (!module) return "not read: " + module.error().message() + text;
  const Status status = verify(*module);
  return status ? "good" : status.error().message();
}

class VerifyQuantised : public ::testing::TestWithParam<Case> {};

TEST_P(VerifyQuantised, SaysWhatWasFoundAndExpected) {
  const Case& c = GetParam();
  EXPECT_THAT(verdict_of("%q: tensor<4xQQ>, %f: tensor<4xf32>, %h: tensor<4xf16>, %s: tensor<QQ>, "
                         "%w: tensor<4x!quant.uniform<i16:f32, 0.25:0>>, %d: tensor<4xf64>, %p: "
                         "tensor<4xi1>",
                         c.op),
              HasSubstr(c.verdict))
      << c.op;
}

const Case kCases[] = {
    {"Quantise", "%0 = stablehlo.uniform_quantize %f : (tensor<4xf32>) -> tensor<4xQQ>", "good"},
    {"QuantiseAgain",
     "%0 = stablehlo.uniform_quantize %w : (tensor<4x!quant.uniform<i16:f32, 0.25:0>>) -> "
     "tensor<4xQQ>",
     "good"},
    {"QuantiseHalves", "%0 = stablehlo.uniform_quantize %h : (tensor<4xf16>) -> tensor<4xQQ>",
     "2:8: stablehlo.uniform_quantize: the operand is tensor<4xf16>, expected elements of f32, "
     "which the quantised ones express"},
    {"QuantiseDoubles", "%0 = stablehlo.uniform_quantize %d : (tensor<4xf64>) -> tensor<4xQQ>",
     "the operand is tensor<4xf64>, expected elements of f32"},
    {"QuantiseToFloats", "%0 = stablehlo.uniform_quantize %f : (tensor<4xf32>) -> tensor<4xf32>",
     "expected quantised elements"},
    {"Dequantise", "%0 = stablehlo.uniform_dequantize %q : (tensor<4xQQ>) -> tensor<4xf32>",
     "good"},
    {"DequantiseToComplex",
     "%0 = stablehlo.uniform_dequantize %q : (tensor<4xQQ>) -> tensor<4xcomplex<f64>>",
     "the result is tensor<4xcomplex<f64>>, expected elements of f32"},
    {"DequantiseToIntegers",
     "%0 = stablehlo.uniform_dequantize %q : (tensor<4xQQ>) -> tensor<4xi32>",
     "the result is tensor<4xi32>, expected elements of f32"},
    {"DequantiseToQuantised",
     "%0 = stablehlo.uniform_dequantize %q : (tensor<4xQQ>) -> tensor<4xQQ>",
     "expected no quantised elements"},
    {"ScaleBelowTheExpressedType",
     "%0 = stablehlo.uniform_quantize %f : (tensor<4xf32>) -> "
     "tensor<4x!quant.uniform<i8:f32, 1.0e-300:0>>",
     "a scale is out of the range of f32"},
    {"ScaleAboveTheExpressedType",
     "%0 = stablehlo.uniform_quantize %h : (tensor<4xf16>) -> "
     "tensor<4x!quant.uniform<i8:f16, 7.0e4:0>>",
     "a scale is out of the range of f16"},
    {"ScaleOfBits",
     "%0 = stablehlo.uniform_quantize %f : (tensor<4xf32>) -> "
     "tensor<4x!quant.uniform<i8:f32, 0x7FC00000:0>>",
     "a scale is out of the range of f32"},
    {"SmallestAndLargestScale",
     "%0 = stablehlo.uniform_quantize %f : (tensor<4xf32>) -> "
     "tensor<4x!quant.uniform<i8:f32:0, {1.5e-45:0, 1.0e38:0, 3.4e38:0, 1.0:0}>>",
     "good"},
    {"Constant",
     R"(%0 = "stablehlo.constant"() <{value = dense<[1, 2]> : tensor<2xi8>}> : () -> tensor<2xQQ>)",
     "good"},
    {"ConstantOfMore",
     R"(%0 = "stablehlo.constant"() <{value = dense<[1, 2]> : tensor<2xi8>}> : () -> tensor<100000000xQQ>)",
     "the value is tensor<2xi8>, expected i8, the storage type, in the shape 100000000"},
    {"ConstantOfWords",
     R"(%0 = "stablehlo.constant"() <{value = dense<[1, 2]> : tensor<2xi16>}> : () -> tensor<2xQQ>)",
     "the value is tensor<2xi16>, expected i8"},
    {"Abs", R"(%0 = "stablehlo.abs"(%q) : (tensor<4xQQ>) -> tensor<4xQQ>)", "good"},
    {"AbsToIntegers", R"(%0 = "stablehlo.abs"(%q) : (tensor<4xQQ>) -> tensor<4xi32>)",
     "the result has elements of i32, expected f32"},
    {"Add",
     "%0 = stablehlo.add %q, %w : (tensor<4xQQ>, tensor<4x!quant.uniform<i16:f32, 0.25:0>>) -> "
     "tensor<4xQQ>",
     "good"},
    {"AddOfDoubles", "%0 = stablehlo.add %q, %d : (tensor<4xQQ>, tensor<4xf64>) -> tensor<4xQQ>",
     "operand 1 is tensor<4xf64>, expected elements that express f32"},
    {"AddToFloats", "%0 = stablehlo.add %f, %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xQQ>",
     "the result has elements of !quant.uniform"},
    {"IsFinite", R"(%0 = "stablehlo.is_finite"(%q) : (tensor<4xQQ>) -> tensor<4xi1>)", "good"},
    {"IsFiniteToComplex",
     R"(%0 = "stablehlo.is_finite"(%q) : (tensor<4xQQ>) -> tensor<4xcomplex<f64>>)",
     "the result has elements of complex<f64>, expected i1"},
    {"Compare", "%0 = stablehlo.compare LT, %q, %q : (tensor<4xQQ>, tensor<4xQQ>) -> tensor<4xi1>",
     "good"},
    {"CompareToFloats",
     "%0 = stablehlo.compare LT, %q, %q : (tensor<4xQQ>, tensor<4xQQ>) -> tensor<4xf32>",
     "the result has elements of f32, expected i1"},
    {"Not", R"(%0 = "stablehlo.not"(%q) : (tensor<4xQQ>) -> tensor<4xQQ>)",
     "operand 0 is tensor<4x!quant.uniform"},
    {"Convert", "%0 = stablehlo.convert %q : (tensor<4xQQ>) -> tensor<4xi32>",
     "expected no quantised elements"},
    {"ConvertToQuantised", "%0 = stablehlo.convert %f : (tensor<4xf32>) -> tensor<4xQQ>",
     "expected no quantised elements"},
    {"Select",
     "%0 = stablehlo.select %p, %q, %q : (tensor<4xi1>, tensor<4xQQ>, tensor<4xQQ>) -> "
     "tensor<4xQQ>",
     "good"},
    {"SelectByQuantised",
     "%0 = stablehlo.select %q, %f, %f : (tensor<4xQQ>, tensor<4xf32>, tensor<4xf32>) -> "
     "tensor<4xf32>",
     "expected elements of i1"},
    {"IfByQuantised",
     R"("stablehlo.if"(%s) ({ stablehlo.return }, { stablehlo.return }) : (tensor<QQ>) -> ())",
     "expected elements of i1"},
    {"SliceAtQuantised",
     "%0 = stablehlo.dynamic_slice %f, %s, sizes = [2] : (tensor<4xf32>, tensor<QQ>) -> "
     "tensor<2xf32>",
     "expected elements of signed integer, unsigned integer"},
    {"Bitcast", R"(%0 = "stablehlo.bitcast_convert"(%q) : (tensor<4xQQ>) -> tensor<4xi8>)", "good"},
    {"BitcastToMore",
     R"(%0 = "stablehlo.bitcast_convert"(%q) : (tensor<4xQQ>) -> tensor<100000000xi8>)",
     "result 0 has the shape 100000000, expected 4"},
    {"BitcastOfIndices",
     R"(%0 = "stablehlo.bitcast_convert"(%f) : (tensor<4xf32>) -> tensor<400xindex>)",
     "expected elements of a known width"},
    {"Reshape", "%0 = stablehlo.reshape %q : (tensor<4xQQ>) -> tensor<2x2xQQ>", "good"},
    {"RandomQuantised",
     "%i = stablehlo.constant dense<4> : tensor<1xi64>\n  %0 = stablehlo.rng %s, %s, %i, "
     "distribution = UNIFORM : (tensor<QQ>, tensor<QQ>, tensor<1xi64>) -> tensor<4xQQ>",
     "expected no quantised elements"},
};
INSTANTIATE_TEST_SUITE_P(Operations, VerifyQuantised, ::testing::ValuesIn(kCases),
                         [](const auto& i) { return std::string(i.param.name); });

TEST(VerifyTypes, QuantisedElementsAreChecked) {
  const auto of = [](const std::string& type) {
    return verdict_of("%a: tensor<" + type + ">", "");
  };
  EXPECT_EQ(of("2x3x!quant.uniform<i8:f32:1, {0.5:1, 0.25, 0.125:-3}>"), "good");
  EXPECT_EQ(of("2x?x!quant.uniform<u8:f32:1, {0.5:1, 0.25, 0.125}>"), "good");
  EXPECT_THAT(
      of("2x3x!quant.uniform<i8:f32:1, {0.5, 0.25}>"),
      HasSubstr("func.func @main: argument 0 is tensor<2x3x!quant.uniform<i8<-128:127>:f32:1, "
                "{0.5:0, 0.25:0}>>: found 2 scales, expected the 3 of its axis 1"));
  EXPECT_THAT(of("2x3x!quant.uniform<i8:f32:2, {0.5}>"),
              HasSubstr("its quantised axis is 2, expected less than the rank 2"));
  EXPECT_THAT(of("2x!quant.uniform<i8:i32, 0.5>"),
              HasSubstr("its elements express i32, expected a float"));
  EXPECT_THAT(of("2x!quant.uniform<i8:f32, 0.0>"), HasSubstr("a scale is not positive and finite"));
  EXPECT_THAT(of("2x!quant.uniform<i8:f32, 0.5:200>"),
              HasSubstr("the zero point 200 is outside of the storage"));
  EXPECT_THAT(of("2x!quant.uniform<i8<-300:127>:f32, 0.5>"),
              HasSubstr("its storage from -300 to 127 does not fit in i8"));
}

TEST(VerifyTypes, OpsThatMoveScalesPerAxisAreChecked) {
  const std::string scales = ", {0.5, 1.0, 2.0}>>", axis_1 = "2x3x!quant.uniform<i8:f32:1" + scales;
  const auto moved = [&](const std::string& op, const std::string& to) {
    return verdict_of("%a: tensor<" + axis_1 + ", %i: tensor<i32>, %n: tensor<2x1xi32>",
                      "%0 = " + op + " -> tensor<" + to);
  };
  const std::string from = " : (tensor<" + axis_1 + ")";
  const std::string axis_0 = "3x2x!quant.uniform<i8:f32:0" + scales;
  EXPECT_EQ(moved("stablehlo.transpose %a, dims = [1, 0]" + from, axis_0), "good");
  EXPECT_THAT(
      moved("stablehlo.transpose %a, dims = [1, 0]" + from, "3x3x!quant.uniform<i8:f32:1" + scales),
      HasSubstr("the result is quantised along dimension 1, expected 0, where the operand's "
                "1 has gone"));
  EXPECT_THAT(moved("stablehlo.transpose %a, dims = [1, 0]" + from,
                    "3x2x!quant.uniform<i8:f32:0, {0.5, 1.0, 4.0}>>"),
              HasSubstr("which is no other place of the operand's"));
  EXPECT_EQ(moved("stablehlo.reshape %a" + from, "2x3x1x!quant.uniform<i8:f32:1" + scales), "good");
  EXPECT_THAT(moved("stablehlo.reshape %a" + from, axis_0),
              HasSubstr("expected one scale, for the operand's dimension 1 is no dimension of it"));
  EXPECT_THAT(moved("stablehlo.reverse %a, dims = [1] : tensor<" + axis_1 + " //", axis_1),
              HasSubstr("expected one scale for all of it"));
  EXPECT_THAT(moved("stablehlo.slice %a [0:1, 0:3]" + from, "1x3x!quant.uniform<i8:f32:1" + scales),
              HasSubstr("expected one scale for all of it"));
}

TEST(VerifyTypes, ElementsThatNoMemoryHoldsAreRefused) {
  EXPECT_THAT(verdict_of("%a: tensor<2xtf32>", ""),
              HasSubstr("tf32 is a precision of dot_general's algorithms"));
  EXPECT_THAT(verdict_of("", "%0 = stablehlo.constant dense<1.0> : tensor<2xtf32>"),
              HasSubstr("2:8: stablehlo.constant: result 0 is tensor<2xtf32>: tf32"));
  EXPECT_THAT(verdict_of("%a: tuple<tensor<f32>, tensor<2xtf32>>", ""), HasSubstr("tf32"));
}

TEST(VerifyNumbers, BadBitCountsAndNormalIntegersAreRefused) {
  const auto precision = [](const std::string& bits) {
    return verdict_of("%a: tensor<2xf32>", "%0 = \"stablehlo.reduce_precision\"(%a) <{" + bits +
                                               "}> : (tensor<2xf32>) -> tensor<2xf32>");
  };
  EXPECT_EQ(precision("exponent_bits = 1 : i32, mantissa_bits = 0 : i32"), "good");
  EXPECT_THAT(precision("exponent_bits = 0 : i32, mantissa_bits = 3 : i32"),
              HasSubstr("found exponent_bits = 0, expected 1"));
  EXPECT_THAT(precision("exponent_bits = 5 : i32, mantissa_bits = -100 : i32"),
              HasSubstr("found mantissa_bits = -100, expected 0"));
  EXPECT_THAT(precision("exponent_bits = 5 : i32"), HasSubstr("mantissa_bits is missing"));
  EXPECT_THAT(verdict_of("%a: tensor<i8>, %i: tensor<1xi64>",
                         "%0 = stablehlo.rng %a, %a, %i, distribution = NORMAL : (tensor<i8>, "
                         "tensor<i8>, tensor<1xi64>) -> tensor<4xi8>"),
              HasSubstr("operand 0 of a normal distribution is tensor<i8>, expected elements of "
                        "float"));
}

}  // namespace
}  // namespace millrace::devices::stablehlo::verify
