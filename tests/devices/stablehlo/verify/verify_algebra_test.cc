// The verifier's rules of linear algebra, random numbers, normalisation, CHLO and operations whose
// shape comes from operands.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/devices/stablehlo/verify/op_case.h"

namespace millrace::devices::stablehlo::verify {
namespace {

using ::testing::HasSubstr;

class VerifyAlgebra : public ::testing::TestWithParam<OpCase> {};

TEST_P(VerifyAlgebra, SaysWhatWasFoundAndExpected) {
  const OpCase& c = GetParam();
  EXPECT_THAT(verdict("%m: tensor<4x4xf32>, %b: tensor<4x2xf32>, %v: tensor<4xf32>, %s: "
                      "tensor<f32>, %z: tensor<4x6xcomplex<f32>>, %i: tensor<2xi64>, %k: "
                      "tensor<2xui64>, %n: tensor<4x4xi32>, %o: tensor<3x1xcomplex<f32>>",
                      c.op),
              HasSubstr(c.verdict));
}

const OpCase kCases[] = {
    {"Cholesky", "%0 = stablehlo.cholesky %m, lower = true : tensor<4x4xf32>", "good"},
    {"CholeskyOfNoSquare", "%0 = stablehlo.cholesky %b, lower = true : tensor<4x2xf32>",
     "2:8: stablehlo.cholesky: operand 0 is tensor<4x2xf32>, expected square matrices"},
    {"CholeskyOfIntegers", "%0 = stablehlo.cholesky %n, lower = true : tensor<4x4xi32>",
     "expected elements of float, complex"},
    {"TriangularSolve",
     R"(%0 = "stablehlo.triangular_solve"(%m, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>)",
     "good"},
    {"TriangularSolveFromTheWrongSide",
     R"(%0 = "stablehlo.triangular_solve"(%m, %b) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>)",
     "operand 1 has the shape 4x2, expected 4x4"},
    {"Fft",
     "%0 = stablehlo.fft %z, type = FFT, length = [4, 6] : (tensor<4x6xcomplex<f32>>) -> "
     "tensor<4x6xcomplex<f32>>",
     "good"},
    {"FftOfAnotherLength",
     "%0 = stablehlo.fft %z, type = FFT, length = [5] : (tensor<4x6xcomplex<f32>>) -> "
     "tensor<4x6xcomplex<f32>>",
     "dimension 1 of the operand is 6, expected 5"},
    {"InverseRealFft",
     "%0 = stablehlo.fft %z, type = IRFFT, length = [10] : (tensor<4x6xcomplex<f32>>) -> "
     "tensor<4x10xf32>",
     "good"},
    {"InverseRealFftOfNothing",
     "%0 = stablehlo.fft %o, type = IRFFT, length = [0] : (tensor<3x1xcomplex<f32>>) -> "
     "tensor<3x0xf32>",
     "good"},
    {"InverseRealFftOfNothingFromTwo",
     "%0 = stablehlo.fft %z, type = IRFFT, length = [0] : (tensor<4x6xcomplex<f32>>) -> "
     "tensor<4x0xf32>",
     "dimension 1 of the operand is 6, expected 0"},
    {"RealFftOfComplexNumbers",
     "%0 = stablehlo.fft %z, type = RFFT, length = [6] : (tensor<4x6xcomplex<f32>>) -> "
     "tensor<4x4xcomplex<f32>>",
     "do not go with this transform"},
    {"RngBitGenerator",
     "%0, %1 = stablehlo.rng_bit_generator %k, algorithm = PHILOX : (tensor<2xui64>) -> "
     "(tensor<2xui64>, tensor<3xui32>)",
     "good"},
    {"RngBitGeneratorStateOfSigned",
     "%0, %1 = stablehlo.rng_bit_generator %i, algorithm = PHILOX : (tensor<2xi64>) -> "
     "(tensor<2xi64>, tensor<3xui32>)",
     "operand 0 is tensor<2xi64>, expected elements of unsigned integer"},
    {"BatchNormWithoutAScalePerFeature",
     R"(%0 = "stablehlo.batch_norm_inference"(%b, %v, %v, %v, %v) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<4x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x2xf32>)",
     "operand 1 has the shape 4, expected 2"},
    {"BatchNormOfAFeatureThatIsNone",
     R"(%0 = "stablehlo.batch_norm_inference"(%b, %v, %v, %v, %v) <{epsilon = 0.0 : f32, feature_index = 2 : i64}> : (tensor<4x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x2xf32>)",
     "found feature_index = 2, expected 0 to 1"},
    {"ChloOfIntegers", "%0 = chlo.asin %n : tensor<4x4xi32> -> tensor<4x4xi32>",
     "2:8: chlo.asin: operand 0 is tensor<4x4xi32>, expected elements of float, complex"},
    {"ChloResultOfAnotherShape", "%0 = chlo.asin %m : tensor<4x4xf32> -> tensor<4xf32>",
     "result 0 has the shape 4, expected 4x4"},
    {"ChloBroadcastOfShapesThatDoNotFit",
     "%0 = chlo.broadcast_add %m, %b : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>",
     "expected ones that can be broadcast to each other"},
    {"TopKOfMoreThanThereAre",
     "%0, %1 = chlo.top_k(%v, k = 5) : tensor<4xf32> -> (tensor<5xf32>, tensor<5xi32>)",
     "found k = 5, expected 0 to 4"},
    {"RealDynamicSliceWithTooFewBounds",
     "%0 = stablehlo.real_dynamic_slice %v, %i, %i, %i : (tensor<4xf32>, tensor<2xi64>, "
     "tensor<2xi64>, tensor<2xi64>) -> tensor<2xf32>",
     "operand 1 has the shape 2, expected 1"},
    {"DynamicReshapeOfAnotherNumberOfElements",
     "%0 = stablehlo.dynamic_reshape %v, %i : (tensor<4xf32>, tensor<2xi64>) -> tensor<4x2xf32>",
     "the operand has the shape 4, the result 4x2: expected the same number of elements"},
    {"EinsumOfLabelsThatDiffer",
     R"(%0 = stablehlo.einsum %m, %b, config = "ab,ac->bc" : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<2x4xf32>)",
     "result 0 has the shape 2x4, expected 4x2"},
    {"EinsumWithoutAnArrow",
     R"(%0 = stablehlo.einsum %m, %b, config = "ab,ac" : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>)",
     "found the config \"ab,ac\", expected"},
};

INSTANTIATE_TEST_SUITE_P(Rules, VerifyAlgebra, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace millrace::devices::stablehlo::verify
