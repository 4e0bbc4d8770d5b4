// The definitions against values computed by hand from the specification's definitions:
// every row is a program that returns %r, run by the interpreter and by the planner, and what it
// has to return.
#include <string>
#include <vector>

#include "tests/devices/cpu/definition/value_rows.h"

namespace millrace::devices::cpu::testing {
namespace {

constexpr Row kElementwise[] = {
    // 1 is lost when 1e8 is added, as each step rounds.
    {"ABodyRoundsComplexNumbersAtEachStep", "tensor<complex<f32>>",
     "%a = stablehlo.constant dense<[(1.0, 2.0), (1.0e8, 1.0e8), (-1.0e8, -1.0e8)]> : "
     "tensor<3xcomplex<f32>>\n"
     "%z = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>\n"
     "%r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : "
     "(tensor<3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>",
     "(0.0, 0.0)"},
    {"BroadcastCompareReadsItsDirection", "tensor<2x3xi1>",
     "%a = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>\n"
     "%b = stablehlo.constant dense<[3.0, -1.0, 2.0]> : tensor<3xf32>\n"
     "%r = chlo.broadcast_compare %a, %b {compare_type = #chlo<comparison_type FLOAT>, "
     "comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x1xf32>, tensor<3xf32>) -> "
     "tensor<2x3xi1>",
     "[[true, false, true], [true, false, false]]"},
    // Rounded as bits; only fewer bits of exponent than the type's own make zeros of denormals.
    {"ReducePrecisionKeepsDenormals", "tensor<6xf32>",
     "%a = stablehlo.constant dense<[0x00000001, 0x80180000, 0x00080000, 0x00280001, 0x7F7FFFFF, "
     "0xFF800000]> : tensor<6xf32>\n"
     "%r = stablehlo.reduce_precision %a, format = e8m3 : tensor<6xf32>",
     "[0.0, 0x80200000, 0.0, 0x00300000, 0x7F800000, 0xFF800000]"},
    {"ReducePrecisionToFewerExponents", "tensor<5xf16>",
     "%a = stablehlo.constant dense<[0x0001, 0x9FFF, 0x2000, 0x5BFF, 0x5C00]> : tensor<5xf16>\n"
     "%r = stablehlo.reduce_precision %a, format = e4m10 : tensor<5xf16>",
     "[0.0, -0.0, 0.0, 0x5BFF, 0x7C00]"},
    {"ReducePrecisionOfEightBits", "tensor<6xf8E5M2>",
     "%a = stablehlo.constant dense<[0x01, 0x02, 0x03, 0x83, 0x7B, 0xFC]> : tensor<6xf8E5M2>\n"
     "%r = stablehlo.reduce_precision %a, format = e5m1 : tensor<6xf8E5M2>",
     "[0x00, 0x02, 0x04, 0x84, 0x7C, 0xFC]"},
    {"ErfcOfF64IsAsChloExpandsIt", "tensor<8xf64>",
     "%a = stablehlo.constant dense<[0.5, 1.0, 2.5, -2.5, 8.0, 20.0, 27.0, 0xFFF0000000000000]> : "
     "tensor<8xf64>\n"
     "%r = chlo.erfc %a : tensor<8xf64> -> tensor<8xf64>",
     "[0.479500122186953, 0.157299207050285, 4.06952017444959e-04, 1.99959304798256, "
     "1.12242971729829e-29, 5.39586561160786e-176, 0.0, 2.0]"},
    {"ErfInvOfF32IsAsChloExpandsIt", "tensor<4xf32>",
     "%a = stablehlo.constant dense<[0.5, -0.99, 0.999999, 2.0]> : tensor<4xf32>\n"
     "%r = chlo.erf_inv %a : tensor<4xf32> -> tensor<4xf32>",
     "[0.476936281, -1.82138669, 3.45707464, 0x7FC00000]"},
    {"AdditionOfFourBitsWraps", "tensor<2xi4>",
     "%a = stablehlo.constant dense<[7, -8]> : tensor<2xi4>\n"
     "%b = stablehlo.constant dense<[1, -1]> : tensor<2xi4>\n"
     "%r = stablehlo.add %a, %b : tensor<2xi4>",
     "[-8, 7]"},
    {"MultiplicationOfTwoUnsignedBitsWraps", "tensor<2xui2>",
     "%a = stablehlo.constant dense<[3, 2]> : tensor<2xui2>\n"
     "%r = stablehlo.multiply %a, %a : tensor<2xui2>",
     "[1, 0]"},
    {"DenormalsAreKept", "tensor<2xi32>",
     "%a = stablehlo.constant dense<[0x00000001, 0x80000003]> : tensor<2xf32>\n"
     "%s = stablehlo.add %a, %a : tensor<2xf32>\n"
     "%r = stablehlo.bitcast_convert %s : (tensor<2xf32>) -> tensor<2xi32>",
     "[2, -2147483642]"},
    {"BranchCutIsThatOfTheSignOfZero", "tensor<2xcomplex<f32>>",
     "%a = stablehlo.constant dense<[(-1.0, 0.0), (-1.0, -0.0)]> : tensor<2xcomplex<f32>>\n"
     "%r = stablehlo.sqrt %a : tensor<2xcomplex<f32>>",
     "[(0.0, 1.0), (0.0, -1.0)]"},
    {"DivisionByZeroGivesAllOnes", "tensor<2xi8>",
     "%a = stablehlo.constant dense<[7, -128]> : tensor<2xi8>\n"
     "%b = stablehlo.constant dense<[0, -1]> : tensor<2xi8>\n"
     "%r = stablehlo.divide %a, %b : tensor<2xi8>",
     "[-1, -128]"},
    {"ShiftBeyondTheWidthLeavesTheSign", "tensor<3xi4>",
     "%a = stablehlo.constant dense<[-8, 7, -1]> : tensor<3xi4>\n"
     "%b = stablehlo.constant dense<[1, 5, 7]> : tensor<3xi4>\n"
     "%r = stablehlo.shift_right_arithmetic %a, %b : tensor<3xi4>",
     "[-4, 0, -1]"},
    {"PopcntAndLeadingZerosOfFourBits", "tensor<2xui4>",
     "%a = stablehlo.constant dense<[1, 6]> : tensor<2xui4>\n"
     "%p = stablehlo.popcnt %a : tensor<2xui4>\n"
     "%z = stablehlo.count_leading_zeros %a : tensor<2xui4>\n"
     "%r = stablehlo.add %p, %z : tensor<2xui4>",
     "[4, 3]"},
    {"MulhiIsTheUpperHalf", "tensor<2xi32>",
     "%a = stablehlo.constant dense<[65536, -65536]> : tensor<2xi32>\n"
     "%b = stablehlo.constant dense<[131072, 65536]> : tensor<2xi32>\n"
     "%r = chlo.mulhi %a, %b : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>",
     "[2, -1]"},
    // By chlo's formulas, whose roundings others have too; the nearest float is 3054.6355.
    {"HyperbolicFunctionsFarFromZero", "tensor<2xf32>",
     "%a = stablehlo.constant dense<-8.717562675476074> : tensor<1xf32>\n"
     "%c = chlo.cosh %a : tensor<1xf32> -> tensor<1xf32>\n"
     "%s = chlo.sinh %a : tensor<1xf32> -> tensor<1xf32>\n"
     "%r = stablehlo.concatenate %c, %s, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> "
     "tensor<2xf32>",
     "[3054.63671875, -3054.63671875]"},
    {"AWindowBackwardsIsFoldedFromItsFirstElement", "tensor<3xf32>",
     "%a = stablehlo.constant dense<[1.0, 1.0e8, -1.0e8]> : tensor<3xf32>\n"
     "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
     "%r = \"stablehlo.reduce_window\"(%a, %z) <{padding = dense<[[0, 2]]> : tensor<1x2xi64>, "
     "window_dimensions = array<i64: 3>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     "  %s = stablehlo.add %x, %y : tensor<f32>\n"
     "  stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>",
     "[0.0, 0.0, -1.0e8]"},
    // e4m3fn: the neighbours of 17 are 16 and 18, the tie goes to the even mantissa; 448 is the
    // largest.
    {"ConversionToAnEightBitFloatRoundsToEven", "tensor<4xf8E4M3FN>",
     "%a = stablehlo.constant dense<[17.0, 19.0, 1.0e9, -0.25]> : tensor<4xf32>\n"
     "%r = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf8E4M3FN>",
     "[16.0, 20.0, 0x7F, -0.25]"},
    {"EightBitFloatsAreAddedExactlyAndRoundedOnce", "tensor<2xf8E5M2>",
     "%a = stablehlo.constant dense<[1.0, 4.0]> : tensor<2xf8E5M2>\n"
     "%b = stablehlo.constant dense<[0.125, 0.5]> : tensor<2xf8E5M2>\n"
     "%r = stablehlo.add %a, %b : tensor<2xf8E5M2>",
     "[1.0, 4.0]"},
    {"ConversionToIntegersSaturates", "tensor<4xi4>",
     "%a = stablehlo.constant dense<[100.0, -100.0, 0x7FC00000, -2.9]> : tensor<4xf32>\n"
     "%r = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xi4>",
     "[7, -8, 0, -2]"},
    // 2^53 + 2^29 + 1 lies between two doubles, and the lower one is a tie of floats.
    {"ConversionOfLargeIntegersRoundsOnce", "tensor<1xf32>",
     "%a = stablehlo.constant dense<9007199791611905> : tensor<1xi64>\n"
     "%r = stablehlo.convert %a : (tensor<1xi64>) -> tensor<1xf32>",
     "9007200328482816.0"},
    {"ComplexProductAndQuotient", "tensor<2xcomplex<f32>>",
     "%a = stablehlo.constant dense<[(1.0, 2.0), (-5.0, 10.0)]> : tensor<2xcomplex<f32>>\n"
     "%b = stablehlo.constant dense<[(3.0, -1.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>\n"
     "%m = stablehlo.multiply %a, %b : tensor<2xcomplex<f32>>\n"
     "%r = stablehlo.divide %m, %b : tensor<2xcomplex<f32>>",
     "[(1.0, 2.0), (-5.0, 10.0)]"},
    {"ComplexFromPartsAndBack", "tensor<2xf64>",
     "%a = stablehlo.constant dense<[3.0, -8.0]> : tensor<2xf64>\n"
     "%b = stablehlo.constant dense<[4.0, 6.0]> : tensor<2xf64>\n"
     "%c = stablehlo.complex %a, %b : tensor<2xcomplex<f64>>\n"
     "%r = stablehlo.abs %c : (tensor<2xcomplex<f64>>) -> tensor<2xf64>",
     "[5.0, 10.0]"},
    {"BroadcastAddRepeatsTheLeadingDimensions", "tensor<2x2xi8>",
     "%a = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi8>\n"
     "%b = stablehlo.constant dense<[10, 20]> : tensor<2xi8>\n"
     "%r = chlo.broadcast_add %a, %b : (tensor<2x1xi8>, tensor<2xi8>) -> tensor<2x2xi8>",
     "[[11, 21], [12, 22]]"},
    {"SquareRootOfMinusOneIsI", "tensor<1xcomplex<f64>>",
     "%a = stablehlo.constant dense<(-1.0, 0.0)> : tensor<1xcomplex<f64>>\n"
     "%r = stablehlo.sqrt %a : tensor<1xcomplex<f64>>",
     "(0.0, 1.0)"},
    {"NextAfterZeroIsTheSmallestDenormal", "tensor<2xf16>",
     "%a = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf16>\n"
     "%b = stablehlo.constant dense<[-1.0, 2.0]> : tensor<2xf16>\n"
     "%r = chlo.next_after %a, %b : tensor<2xf16>, tensor<2xf16> -> tensor<2xf16>",
     "[0x8001, 0x3C01]"},
    // psi(1) = -Euler's constant, psi(2) = 1 - it; the poles have no value.
    {"DigammaAtWholeNumbers", "tensor<5xf32>",
     "%a = stablehlo.constant dense<[1.0, 2.0, -1.0, 0.0, -0.0]> : tensor<5xf32>\n"
     "%r = chlo.digamma %a : tensor<5xf32> -> tensor<5xf32>",
     "[-0.577215672, 0.422784328, 0x7FC00000, 0x7FC00000, 0x7FC00000]"},
    // 127 times 0.3 of f32, rounded once; and 2.7 by 1.2, by 0.3, each of f32, which is below 7.5.
    {"ScalesAreOfTheExpressedType", "tensor<2xf32>",
     "%a = stablehlo.constant dense<[3, 127]> : tensor<2xi8>\n"
     "%q = stablehlo.bitcast_convert %a : (tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32, 0.3>>\n"
     "%r = stablehlo.uniform_dequantize %q : (tensor<2x!quant.uniform<i8:f32, 0.3>>) -> "
     "tensor<2xf32>",
     "[0x3F666667, 0x42186667]"},
    {"QuotientOfQuantisedNumbers", "tensor<1xi8>",
     "%a = stablehlo.constant dense<9> : tensor<1xi8>\n"
     "%b = stablehlo.constant dense<4> : tensor<1xi8>\n"
     "%p = stablehlo.bitcast_convert %a : (tensor<1xi8>) -> tensor<1x!quant.uniform<i8:f32, 0.3>>\n"
     "%q = stablehlo.bitcast_convert %b : (tensor<1xi8>) -> tensor<1x!quant.uniform<i8:f32, 0.3>>\n"
     "%s = stablehlo.divide %p, %q : tensor<1x!quant.uniform<i8:f32, 0.3>>\n"
     "%r = stablehlo.bitcast_convert %s : (tensor<1x!quant.uniform<i8:f32, 0.3>>) -> tensor<1xi8>",
     "[7]"},
    // JAX looks at one element to see that there is no factor.
    {"CholeskyOfWhatIsNotPositiveDefinite", "tensor<2x2xf32>",
     "%a = stablehlo.constant dense<[[4.0, 1.0], [1.0, -5.0]]> : tensor<2x2xf32>\n"
     "%r = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>",
     "[[0x7FC00000, 0.0], [0x7FC00000, 0x7FC00000]]"},
    {"CholeskyOfAZeroPivot", "tensor<1x1xcomplex<f32>>",
     "%a = stablehlo.constant dense<(0.0, 0.0)> : tensor<1x1xcomplex<f32>>\n"
     "%r = stablehlo.cholesky %a, lower = false : tensor<1x1xcomplex<f32>>",
     "(0x7FC00000, 0x7FC00000)"},
    // Around the zero, with digits of its distance from it.
    {"DigammaAroundItsZero", "tensor<4xf64>",
     "%a = stablehlo.constant dense<[1.5979543097425384, 1.25, 1.4616385642420344, "
     "1.46163214496836]> : tensor<4xf64>\n"
     "%r = chlo.digamma %a : tensor<4xf64> -> tensor<4xf64>",
     "[0.12428989325458209153, -0.22745353337626540809, 6.2117347234982023202e-6, "
     "-2.2410766695906463313e-15]"},
    // zeta(2, 1) = pi^2 / 6; trigamma(1) is the same.
    {"ZetaAndPolygammaOfOne", "tensor<2xf32>",
     "%a = stablehlo.constant dense<[2.0, 1.0]> : tensor<2xf32>\n"
     "%one = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf32>\n"
     "%n = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf32>\n"
     "%z = chlo.zeta %a, %one : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>\n"
     "%p = chlo.polygamma %n, %one : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>\n"
     "%f = stablehlo.is_finite %z : (tensor<2xf32>) -> tensor<2xi1>\n"
     "%r = stablehlo.select %f, %z, %p : tensor<2xi1>, tensor<2xf32>",
     "[1.64493406, 1.64493406]"},
    {"ErfInvIsTheInverse", "tensor<3xf64>",
     "%a = stablehlo.constant dense<[0.0, 1.0, -0.5]> : tensor<3xf64>\n"
     "%r = chlo.erf_inv %a : tensor<3xf64> -> tensor<3xf64>",
     "[0.0, 0x7FF0000000000000, -0.47693627620446987]"},
};

constexpr Row kMovement[] = {
    {"BitcastJoinsTheLowerElementsFirst", "tensor<2xi16>",
     "%a = stablehlo.constant dense<[[1, 2], [3, -1]]> : tensor<2x2xi8>\n"
     "%r = stablehlo.bitcast_convert %a : (tensor<2x2xi8>) -> tensor<2xi16>",
     "[513, -253]"},
    {"BitcastOfASplatSplitsIt", "tensor<2x2xi32>",
     "%a = stablehlo.constant dense<1> : tensor<2xi64>\n"
     "%r = stablehlo.bitcast_convert %a : (tensor<2xi64>) -> tensor<2x2xi32>",
     "[[1, 0], [1, 0]]"},
    {"BitcastOfFourBitsJoinsThem", "tensor<1xui8>",
     "%a = stablehlo.constant dense<[[3, -1]]> : tensor<1x2xi4>\n"
     "%r = stablehlo.bitcast_convert %a : (tensor<1x2xi4>) -> tensor<1xui8>",
     "243"},
    {"IotaOfComplexNumbers", "tensor<3xcomplex<f32>>",
     "%r = stablehlo.iota dim = 0 : tensor<3xcomplex<f32>>", "[(0.0,0.0), (1.0,0.0), (2.0,0.0)]"},
    {"ViewsOfFourBits", "tensor<2x2xi4>",
     "%a = stablehlo.iota dim = 0 : tensor<4xi4>\n"
     "%b = stablehlo.reshape %a : (tensor<4xi4>) -> tensor<2x2xi4>\n"
     "%c = stablehlo.transpose %b, dims = [1, 0] : (tensor<2x2xi4>) -> tensor<2x2xi4>\n"
     "%r = stablehlo.reverse %c, dims = [0] : tensor<2x2xi4>",
     "[[1, 3], [0, 2]]"},
    {"RealDynamicSliceTakesItsBoundsFromArrays", "tensor<2xi32>",
     "%a = stablehlo.iota dim = 0 : tensor<6xi32>\n"
     "%s = stablehlo.constant dense<1> : tensor<1xi64>\n"
     "%l = stablehlo.constant dense<5> : tensor<1xi64>\n"
     "%t = stablehlo.constant dense<2> : tensor<1xi64>\n"
     "%r = stablehlo.real_dynamic_slice %a, %s, %l, %t : (tensor<6xi32>, tensor<1xi64>, "
     "tensor<1xi64>, tensor<1xi64>) -> tensor<2xi32>",
     "[1, 3]"},
    {"DynamicPadMayCut", "tensor<4xi32>",
     "%a = stablehlo.iota dim = 0 : tensor<3xi32>\n"
     "%v = stablehlo.constant dense<9> : tensor<i32>\n"
     "%l = stablehlo.constant dense<-1> : tensor<1xi64>\n"
     "%h = stablehlo.constant dense<1> : tensor<1xi64>\n"
     "%i = stablehlo.constant dense<1> : tensor<1xi64>\n"
     "%p = stablehlo.dynamic_pad %a, %v, %l, %h, %i : (tensor<3xi32>, tensor<i32>, tensor<1xi64>, "
     "tensor<1xi64>, tensor<1xi64>) -> tensor<5xi32>\n"
     "%r = stablehlo.slice %p [0:4] : (tensor<5xi32>) -> tensor<4xi32>",
     "[9, 1, 9, 2]"},
};

constexpr Row kStructured[] = {
    {"ReduceOfComplexNumbers", "tensor<2xcomplex<f64>>",
     "%a = stablehlo.constant dense<[[(1.0,1.0), (2.0,-1.0)], [(3.0,0.0), (0.0,5.0)]]> : "
     "tensor<2x2xcomplex<f64>>\n"
     "%z = stablehlo.constant dense<(0.0,0.0)> : tensor<complex<f64>>\n"
     "%r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : "
     "(tensor<2x2xcomplex<f64>>, tensor<complex<f64>>) -> tensor<2xcomplex<f64>>",
     "[(3.0,0.0), (3.0,5.0)]"},
    {"SortOfEightBitFloats", "tensor<4xf8E4M3FN>",
     "%a = stablehlo.constant dense<[2.0, -1.0, 0.5, 1.0]> : tensor<4xf8E4M3FN>\n"
     "%r = \"stablehlo.sort\"(%a) <{dimension = 0 : i64}> ({\n"
     "^bb0(%x: tensor<f8E4M3FN>, %y: tensor<f8E4M3FN>):\n"
     "%c = stablehlo.compare GT, %x, %y : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<i1>\n"
     "stablehlo.return %c : tensor<i1>}) : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>",
     "[2.0, 1.0, 0.5, -1.0]"},
    {"ScatterOfComplexSkipsWhatLeavesTheOperand", "tensor<3xcomplex<f32>>",
     "%a = stablehlo.constant dense<(1.0,0.0)> : tensor<3xcomplex<f32>>\n"
     "%i = stablehlo.constant dense<[[2], [-1], [2], [9]]> : tensor<4x1xi32>\n"
     "%u = stablehlo.constant dense<(0.0,1.0)> : tensor<4xcomplex<f32>>\n"
     "%r = \"stablehlo.scatter\"(%a, %i, %u) <{scatter_dimension_numbers = "
     "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
     "index_vector_dim = 1>}> ({\n"
     "^bb0(%x: tensor<complex<f32>>, %y: tensor<complex<f32>>):\n"
     "%s = stablehlo.add %x, %y : tensor<complex<f32>>\n"
     "stablehlo.return %s : tensor<complex<f32>>}) : (tensor<3xcomplex<f32>>, tensor<4x1xi32>, "
     "tensor<4xcomplex<f32>>) -> tensor<3xcomplex<f32>>",
     "[(1.0,0.0), (1.0,0.0), (1.0,2.0)]"},
    {"ReduceWindowOfComplexWithDilations", "tensor<3xcomplex<f32>>",
     "%a = stablehlo.constant dense<[(1.0,0.0), (2.0,0.0), (3.0,0.0)]> : tensor<3xcomplex<f32>>\n"
     "%z = stablehlo.constant dense<(0.0,0.0)> : tensor<complex<f32>>\n"
     "%r = \"stablehlo.reduce_window\"(%a, %z) <{window_dimensions = array<i64: 2>, "
     "window_dilations = array<i64: 2>, base_dilations = array<i64: 2>, window_strides = "
     "array<i64: 1>, padding = dense<0> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<complex<f32>>, %y: tensor<complex<f32>>):\n"
     "%s = stablehlo.add %x, %y : tensor<complex<f32>>\n"
     "stablehlo.return %s : tensor<complex<f32>>}) : (tensor<3xcomplex<f32>>, "
     "tensor<complex<f32>>) -> tensor<3xcomplex<f32>>",
     "[(3.0,0.0), (0.0,0.0), (5.0,0.0)]"},
    {"SelectThatBroadcasts", "tensor<2x2xi8>",
     "%p = stablehlo.constant dense<[[true], [false]]> : tensor<2x1xi1>\n"
     "%a = stablehlo.constant dense<[1, 2]> : tensor<2xi8>\n"
     "%b = stablehlo.constant dense<7> : tensor<i8>\n"
     "%r = chlo.broadcast_select %p, %a, %b : (tensor<2x1xi1>, tensor<2xi8>, tensor<i8>) -> "
     "tensor<2x2xi8>",
     "[[1, 2], [7, 7]]"},
    {"CumulativeSumByAWindow", "tensor<2x3xi32>",
     "%a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>\n"
     "%z = stablehlo.constant dense<0> : tensor<i32>\n"
     "%r = \"stablehlo.reduce_window\"(%a, %z) <{window_dimensions = array<i64: 1, 3>, padding = "
     "dense<[[0, 0], [2, 0]]> : tensor<2x2xi64>}> ({\n^bb0(%x: tensor<i32>, %y: tensor<i32>):\n"
     "%s = stablehlo.add %x, %y : tensor<i32>\nstablehlo.return %s : tensor<i32>}) : "
     "(tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>",
     "[[1, 3, 6], [4, 9, 15]]"},
    {"CumulativeMinimumFromTheEnd", "tensor<3x2xf32>",
     "%a = stablehlo.constant dense<[[1.0, 9.0], [5.0, 2.0], [3.0, 4.0]]> : tensor<3x2xf32>\n"
     "%z = stablehlo.constant dense<0x7F800000> : tensor<f32>\n"
     "%r = \"stablehlo.reduce_window\"(%a, %z) <{window_dimensions = array<i64: 3, 1>, padding = "
     "dense<[[0, 2], [0, 0]]> : tensor<2x2xi64>}> ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     "%s = stablehlo.minimum %x, %y : tensor<f32>\nstablehlo.return %s : tensor<f32>}) : "
     "(tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>",
     "[[1.0, 2.0], [3.0, 2.0], [3.0, 4.0]]"},
    {"CumulativeProductOfAnotherBody", "tensor<4xi32>",
     "%a = stablehlo.constant dense<[2, 3, -1, 4]> : tensor<4xi32>\n"
     "%z = stablehlo.constant dense<1> : tensor<i32>\n"
     "%r = \"stablehlo.reduce_window\"(%a, %z) <{window_dimensions = array<i64: 4>, padding = "
     "dense<[[3, 0]]> : tensor<1x2xi64>}> ({\n^bb0(%x: tensor<i32>, %y: tensor<i32>):\n"
     "%n = stablehlo.negate %x : tensor<i32>\n%m = stablehlo.negate %y : tensor<i32>\n"
     "%s = stablehlo.multiply %n, %m : tensor<i32>\nstablehlo.return %s : tensor<i32>}) : "
     "(tensor<4xi32>, tensor<i32>) -> tensor<4xi32>",
     "[2, 6, -6, -24]"},
    {"ScatterSkipsWindowsThatHangOver", "tensor<4x2xi32>",
     "%a = stablehlo.constant dense<0> : tensor<4x2xi32>\n"
     "%i = stablehlo.constant dense<[[3], [1], [-1]]> : tensor<3x1xi32>\n"
     "%u = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 10], [11, 12]]]> : "
     "tensor<3x2x2xi32>\n"
     "%r = \"stablehlo.scatter\"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<"
     "update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
     "^bb0(%x: tensor<i32>, %y: tensor<i32>):\n%s = stablehlo.add %x, %y : tensor<i32>\n"
     "stablehlo.return %s : tensor<i32>}) : (tensor<4x2xi32>, tensor<3x1xi32>, tensor<3x2x2xi32>) "
     "-> tensor<4x2xi32>",
     "[[0, 0], [5, 6], [7, 8], [0, 0]]"},
    {"ScanAlongRows", "tensor<2x3xi32>",
     "%a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>\n"
     "%z = stablehlo.constant dense<10> : tensor<2xi32>\n"
     "%o, %c = \"chlo.scan\"(%a, %z) <{dimension = 1 : i64, is_reverse = false, "
     "operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({\n"
     "^bb0(%x: tensor<2xi32>, %y: tensor<2xi32>):\n%s = stablehlo.add %x, %y : tensor<2xi32>\n"
     "%m = stablehlo.multiply %s, %x : tensor<2xi32>\n"
     "stablehlo.return %m, %s : tensor<2xi32>, tensor<2xi32>}) : (tensor<2x3xi32>, tensor<2xi32>) "
     "-> "
     "(tensor<2x3xi32>, tensor<2xi32>)\n"
     "%r = stablehlo.add %o, %o : tensor<2x3xi32>",
     "[[22, 52, 96], [112, 190, 300]]"},
    {"ScanFromTheEndCarries", "tensor<3xi32>",
     "%a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>\n"
     "%z = stablehlo.constant dense<10> : tensor<3xi32>\n"
     "%o, %c = \"chlo.scan\"(%a, %z) <{dimension = 0 : i64, is_reverse = true, "
     "operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({\n"
     "^bb0(%x: tensor<3xi32>, %y: tensor<3xi32>):\n%s = stablehlo.add %x, %y : tensor<3xi32>\n"
     "%m = stablehlo.multiply %s, %x : tensor<3xi32>\n"
     "stablehlo.return %m, %s : tensor<3xi32>, tensor<3xi32>}) : (tensor<2x3xi32>, tensor<3xi32>) "
     "-> "
     "(tensor<2x3xi32>, tensor<3xi32>)\n"
     "%r = stablehlo.add %c, %c : tensor<3xi32>",
     "[30, 34, 38]"},
    {"MapOfASquare", "tensor<3xi8>",
     "%a = stablehlo.constant dense<[2, -3, 12]> : tensor<3xi8>\n"
     "%r = \"stablehlo.map\"(%a) <{dimensions = array<i64: 0>}> ({\n"
     "^bb0(%x: tensor<i8>):\n%s = stablehlo.multiply %x, %x : tensor<i8>\n"
     "stablehlo.return %s : tensor<i8>}) : (tensor<3xi8>) -> tensor<3xi8>",
     "[4, 9, -112]"},
    {"BranchesInABody", "tensor<3xi32>",
     "%a = stablehlo.constant dense<[0, 1, 5]> : tensor<3xi32>\n"
     "%b = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>\n"
     "%r = \"stablehlo.map\"(%a, %b) <{dimensions = array<i64: 0>}> ({\n"
     "^bb0(%x: tensor<i32>, %y: tensor<i32>):\n"
     "%c = \"stablehlo.case\"(%x) ({\nstablehlo.return %y : tensor<i32>\n}, {\n"
     "%d = stablehlo.add %y, %y : tensor<i32>\nstablehlo.return %d : tensor<i32>\n}, {\n"
     "stablehlo.return %x : tensor<i32>\n}) : (tensor<i32>) -> tensor<i32>\n"
     "%p = stablehlo.compare EQ, %x, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "%i = \"stablehlo.if\"(%p) ({\n%n = stablehlo.negate %x : tensor<i32>\n"
     "stablehlo.return %n : tensor<i32>\n}, {\nstablehlo.return %c : tensor<i32>\n}) : "
     "(tensor<i1>) -> tensor<i32>\n"
     "stablehlo.return %i : tensor<i32>}) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>",
     "[10, 40, -5]"},
    {"ReductionByEuclid", "tensor<2xi32>",
     "%a = stablehlo.constant dense<[[12, 18, 30], [7, 21, 0]]> : tensor<2x3xi32>\n"
     "%z = stablehlo.constant dense<0> : tensor<i32>\n"
     "%r = \"stablehlo.reduce\"(%a, %z) <{dimensions = array<i64: 1>}> ({\n"
     "^bb0(%x: tensor<i32>, %y: tensor<i32>):\n"
     "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
     "%g:2 = stablehlo.while(%p = %x, %q = %y) : tensor<i32>, tensor<i32>\n"
     "cond {\n%c = stablehlo.compare NE, %q, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "stablehlo.return %c : tensor<i1>\n} do {\n"
     "%m = stablehlo.remainder %p, %q : tensor<i32>\n"
     "stablehlo.return %q, %m : tensor<i32>, tensor<i32>\n}\n"
     "stablehlo.return %g#0 : tensor<i32>\n}) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>",
     "[6, 7]"},
    {"ScatterThatMultipliesByAdding", "tensor<3xi32>",
     "%a = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>\n"
     "%i = stablehlo.constant dense<[[2], [0], [2]]> : tensor<3x1xi32>\n"
     "%u = stablehlo.constant dense<[4, 5, 2]> : tensor<3xi32>\n"
     "%r = \"stablehlo.scatter\"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<"
     "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
     "^bb0(%x: tensor<i32>, %y: tensor<i32>):\n"
     "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
     "%one = stablehlo.constant dense<1> : tensor<i32>\n"
     "%g:2 = stablehlo.while(%n = %y, %s = %zero) : tensor<i32>, tensor<i32>\n"
     "cond {\n%c = stablehlo.compare GT, %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "stablehlo.return %c : tensor<i1>\n} do {\n"
     "%m = stablehlo.subtract %n, %one : tensor<i32>\n%t = stablehlo.add %s, %x : tensor<i32>\n"
     "stablehlo.return %m, %t : tensor<i32>, tensor<i32>\n}\n"
     "stablehlo.return %g#1 : tensor<i32>\n}) : (tensor<3xi32>, tensor<3x1xi32>, tensor<3xi32>) -> "
     "tensor<3xi32>",
     "[5, 2, 24]"},
    {"MapWithArraysInsideOfItsBody", "tensor<3xf32>",
     "%a = stablehlo.constant dense<[1.0, -2.0, 0.5]> : tensor<3xf32>\n"
     "%r = \"stablehlo.map\"(%a) <{dimensions = array<i64: 0>}> ({\n^bb0(%x: tensor<f32>):\n"
     "%w = stablehlo.constant dense<[3.0, 1.0, 2.0]> : tensor<3xf32>\n"
     "%b = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<3xf32>\n"
     "%p = stablehlo.multiply %b, %w : tensor<3xf32>\n"
     "%s = \"stablehlo.sort\"(%p) <{dimension = 0 : i64}> ({\n"
     "^bb0(%c: tensor<f32>, %d: tensor<f32>):\n"
     "%l = stablehlo.compare LT, %c, %d : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
     "stablehlo.return %l : tensor<i1>}) : (tensor<3xf32>) -> tensor<3xf32>\n"
     "%h = stablehlo.slice %s [1:3] : (tensor<3xf32>) -> tensor<2xf32>\n"
     "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
     "%t = stablehlo.reduce(%h init: %z) applies stablehlo.add across dimensions = [0] : "
     "(tensor<2xf32>, tensor<f32>) -> tensor<f32>\n"
     "stablehlo.return %t : tensor<f32>}) : (tensor<3xf32>) -> tensor<3xf32>",
     "[5.0, -6.0, 2.5]"},
    {"LoopOverAnArrayInsideOfABody", "tensor<2xi32>",
     "%a = stablehlo.constant dense<[3, 0]> : tensor<2xi32>\n"
     "%r = \"stablehlo.map\"(%a) <{dimensions = array<i64: 0>}> ({\n^bb0(%x: tensor<i32>):\n"
     "%v = stablehlo.constant dense<[1, 0]> : tensor<2xi32>\n"
     "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
     "%one = stablehlo.constant dense<1> : tensor<i32>\n"
     "%g:2 = stablehlo.while(%n = %x, %w = %v) : tensor<i32>, tensor<2xi32>\n"
     "cond {\n%c = stablehlo.compare GT, %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "stablehlo.return %c : tensor<i1>\n} do {\n"
     "%m = stablehlo.subtract %n, %one : tensor<i32>\n"
     "%f = stablehlo.reverse %w, dims = [0] : tensor<2xi32>\n"
     "%t = stablehlo.add %w, %f : tensor<2xi32>\n"
     "stablehlo.return %m, %t : tensor<i32>, tensor<2xi32>\n}\n"
     "%s = stablehlo.slice %g#1 [0:1] : (tensor<2xi32>) -> tensor<1xi32>\n"
     "%q = stablehlo.reshape %s : (tensor<1xi32>) -> tensor<i32>\n"
     "stablehlo.return %q : tensor<i32>}) : (tensor<2xi32>) -> tensor<2xi32>",
     "[4, 1]"},
    {"TopKKeepsTheFirstOfEqualOnes", "tensor<3xi32>",
     "%a = stablehlo.constant dense<[5, 7, 7, 1]> : tensor<4xi32>\n"
     "%v, %r = chlo.top_k(%a, k = 3) : tensor<4xi32> -> (tensor<3xi32>, tensor<3xi32>)",
     "[1, 2, 0]"},
    {"ComplexSumOfTheLastDimensionRoundsInOrder", "tensor<2xcomplex<f32>>",
     "%a = stablehlo.constant dense<[[(1.0e8, 1.0), (1.0, 2.0), (-1.0e8, 3.0)], "
     "[(4.0, -1.0), (5.0, -2.0), (6.0, -3.0)]]> : tensor<2x3xcomplex<f32>>\n"
     "%z = stablehlo.constant dense<(0.5, -0.5)> : tensor<complex<f32>>\n"
     "%r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : "
     "(tensor<2x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2xcomplex<f32>>",
     "[(0.0, 5.5), (15.5, -6.5)]"},
    {"ComplexSumOfTheFirstDimension", "tensor<3xcomplex<f64>>",
     "%a = stablehlo.constant dense<[[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)], "
     "[(4.0, -1.0), (5.0, -2.0), (6.0, -3.5)]]> : tensor<2x3xcomplex<f64>>\n"
     "%z = stablehlo.constant dense<(0.5, -0.5)> : tensor<complex<f64>>\n"
     "%r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : "
     "(tensor<2x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<3xcomplex<f64>>",
     "[(5.5, -0.5), (7.5, -0.5), (9.5, -1.0)]"},
    {"ComplexSumOfTheMiddleDimension", "tensor<2x2xcomplex<f32>>",
     "%a = stablehlo.constant dense<[[[(1.0, 0.0), (2.0, 0.0)], [(3.0, 1.0), (4.0, 2.0)]], "
     "[[(5.0, 3.0), (6.0, 4.0)], [(7.0, 5.0), (8.0, 6.0)]]]> : tensor<2x2x2xcomplex<f32>>\n"
     "%z = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>\n"
     "%r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : "
     "(tensor<2x2x2xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2x2xcomplex<f32>>",
     "[[(4.0, 1.0), (6.0, 2.0)], [(12.0, 8.0), (14.0, 10.0)]]"},
    {"ComplexSumOfTheFirstAndTheLastDimension", "tensor<2xcomplex<f32>>",
     "%a = stablehlo.constant dense<[[[(1.0, 0.0), (2.0, 0.0)], [(3.0, 1.0), (4.0, 2.0)]], "
     "[[(5.0, 3.0), (6.0, 4.0)], [(7.0, 5.0), (8.0, 6.0)]]]> : tensor<2x2x2xcomplex<f32>>\n"
     "%z = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>\n"
     "%r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 2] : "
     "(tensor<2x2x2xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2xcomplex<f32>>",
     "[(14.0, 7.0), (22.0, 14.0)]"},
    {"ComplexSumOfNothingIsTheInitialValue", "tensor<2xcomplex<f32>>",
     "%a = stablehlo.constant dense<> : tensor<2x0xcomplex<f32>>\n"
     "%z = stablehlo.constant dense<(0.5, -0.5)> : tensor<complex<f32>>\n"
     "%r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : "
     "(tensor<2x0xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2xcomplex<f32>>",
     "[(0.5, -0.5), (0.5, -0.5)]"},
};

// The values of ragged dots are JAX's.
constexpr Row kLinear[] = {
    {"RaggedDotOfRows", "tensor<5x3xf32>",
     "%a = stablehlo.constant dense<[[-1.0, -3.0], [-2.0, 0.0], [-3.0, -3.0], [-3.0, 2.0],"
     " [2.0, 0.0]]> : tensor<5x2xf32>\n"
     "%b = stablehlo.constant dense<[[[-1.0, 0.0, -2.0], [-2.0, -1.0, 2.0]], [[3.0, -3.0, "
     "1.0], [1.0, 2.0, 3.0]]]> : tensor<2x2x3xf32>\n"
     "%g = stablehlo.constant dense<[2, 1]> : tensor<2xi32>\n"
     "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{precision_config = [#chlo<precision DEFAULT>, "
     "#chlo<precision DEFAULT>], ragged_dot_dimension_numbers = "
     "#chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],"
     " lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<5x2xf32>, "
     "tensor<2x2x3xf32>, tensor<2xi32>) -> tensor<5x3xf32>",
     "[[7.0, 3.0, -4.0], [2.0, 0.0, 4.0], [-12.0, 3.0, -12.0], [0.0, 0.0, 0.0], [0.0, 0.0,"
     " 0.0]]"},
    {"RaggedDotOfRowsInBatches", "tensor<2x3x1xf32>",
     "%a = stablehlo.constant dense<[[[-3.0, -1.0], [-2.0, -1.0], [3.0, -1.0]], [[-1.0, "
     "1.0], [-2.0, 0.0], [-1.0, 2.0]]]> : tensor<2x3x2xf32>\n"
     "%b = stablehlo.constant dense<[[[[-3.0], [3.0]], [[-2.0], [2.0]]], [[[-1.0], "
     "[-3.0]], [[0.0], [3.0]]]]> : tensor<2x2x2x1xf32>\n"
     "%g = stablehlo.constant dense<[[1, 2], [0, 2]]> : tensor<2x2xi32>\n"
     "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{precision_config = [#chlo<precision DEFAULT>, "
     "#chlo<precision DEFAULT>], ragged_dot_dimension_numbers = "
     "#chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], "
     "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], "
     "lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}> : (tensor<2x3x2xf32>, "
     "tensor<2x2x2x1xf32>, tensor<2x2xi32>) -> tensor<2x3x1xf32>",
     "[[[6.0], [5.0], [0.0]], [[3.0], [0.0], [0.0]]]"},
    {"RaggedDotOfTerms", "tensor<2x2x2xf32>",
     "%a = stablehlo.constant dense<[[-3.0, 0.0, -2.0, 0.0], [-3.0, 2.0, 1.0, 3.0]]> : "
     "tensor<2x4xf32>\n"
     "%b = stablehlo.constant dense<[[-2.0, 2.0], [3.0, 1.0], [1.0, 3.0], [-3.0, -3.0]]> :"
     " tensor<4x2xf32>\n"
     "%g = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"
     "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{precision_config = [#chlo<precision DEFAULT>, "
     "#chlo<precision DEFAULT>], ragged_dot_dimension_numbers = "
     "#chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0],"
     " lhs_ragged_dimensions = [1]>}> : (tensor<2x4xf32>, tensor<4x2xf32>, tensor<2xi32>) "
     "-> tensor<2x2x2xf32>",
     "[[[6.0, -6.0], [6.0, -6.0]], [[-2.0, -6.0], [7.0, 5.0]]]"},
    {"RaggedDotOfBatches", "tensor<2x1x2xf32>",
     "%a = stablehlo.constant dense<[[[-2.0, -1.0]], [[1.0, 2.0]]]> : tensor<2x1x2xf32>\n"
     "%b = stablehlo.constant dense<[[[-3.0, -3.0], [2.0, 2.0]], [[3.0, -2.0], [-2.0, "
     "-2.0]]]> : tensor<2x2x2xf32>\n"
     "%g = stablehlo.constant dense<[1, 1]> : tensor<2xi32>\n"
     "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{precision_config = [#chlo<precision DEFAULT>, "
     "#chlo<precision DEFAULT>], ragged_dot_dimension_numbers = "
     "#chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
     "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], "
     "lhs_ragged_dimensions = [0]>}> : (tensor<2x1x2xf32>, tensor<2x2x2xf32>, "
     "tensor<2xi32>) -> tensor<2x1x2xf32>",
     "[[[4.0, 4.0]], [[-1.0, -6.0]]]"},
    {"DotOfComplexNumbers", "tensor<1x1xcomplex<f32>>",
     "%a = stablehlo.constant dense<[[(1.0,1.0), (2.0,0.0)]]> : tensor<1x2xcomplex<f32>>\n"
     "%b = stablehlo.constant dense<[[(0.0,1.0)], [(3.0,-1.0)]]> : tensor<2x1xcomplex<f32>>\n"
     "%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1x2xcomplex<f32>>, "
     "tensor<2x1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>",
     "(5.0,-1.0)"},
    {"EinsumOfMatrices", "tensor<2x1xi32>",
     "%a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>\n"
     "%b = stablehlo.constant dense<[[5], [6]]> : tensor<2x1xi32>\n"
     "%r = stablehlo.einsum %a, %b, config = \"ab,bc->ac\" : (tensor<2x2xi32>, tensor<2x1xi32>) "
     "-> tensor<2x1xi32>",
     "[[17], [39]]"},
    {"UnaryEinsumOfADiagonal", "tensor<f32>",
     "%a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>\n"
     "%r = \"stablehlo.unary_einsum\"(%a) <{einsum_config = \"aa->\"}> : (tensor<2x2xf32>) -> "
     "tensor<f32>",
     "5.0"},
    {"ConvolutionOfComplexNumbersReversed", "tensor<1x1x2xcomplex<f32>>",
     "%a = stablehlo.constant dense<[[[(1.0,0.0), (2.0,0.0), (3.0,0.0)]]]> : "
     "tensor<1x1x3xcomplex<f32>>\n"
     "%b = stablehlo.constant dense<[[[(1.0,0.0), (0.0,1.0)]]]> : tensor<1x1x2xcomplex<f32>>\n"
     "%r = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = "
     "{reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
     "(tensor<1x1x3xcomplex<f32>>, tensor<1x1x2xcomplex<f32>>) -> tensor<1x1x2xcomplex<f32>>",
     "[[[(2.0,1.0), (3.0,2.0)]]]"},
    // The first of 10, 1, 2, 3 is left out: 1 + 20, 2 + 30, 3 + 0.
    {"ConvolutionWithNegativePadding", "tensor<1x1x3xf32>",
     "%a = stablehlo.constant dense<[[[10.0, 1.0, 2.0, 3.0]]]> : tensor<1x1x4xf32>\n"
     "%b = stablehlo.constant dense<[[[1.0, 10.0]]]> : tensor<1x1x2xf32>\n"
     "%r = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = "
     "{pad = [[-1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
     "(tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> tensor<1x1x3xf32>",
     "[[[21.0, 32.0, 3.0]]]"},
    {"CholeskyOfAKnownSquare", "tensor<2x2xf32>",
     "%a = stablehlo.constant dense<[[4.0, 0.0], [6.0, 10.0]]> : tensor<2x2xf32>\n"
     "%r = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>",
     "[[2.0, 0.0], [3.0, 1.0]]"},
    {"CholeskyUpperOfComplexNumbers", "tensor<2x2xcomplex<f64>>",
     "%a = stablehlo.constant dense<[[(4.0,0.0), (0.0,2.0)], [(9.0,9.0), (5.0,0.0)]]> : "
     "tensor<2x2xcomplex<f64>>\n"
     "%r = stablehlo.cholesky %a, lower = false : tensor<2x2xcomplex<f64>>",
     "[[(2.0,0.0), (0.0,1.0)], [(0.0,0.0), (2.0,0.0)]]"},
    {"TriangularSolveFromTheLeft", "tensor<2x1xf32>",
     "%a = stablehlo.constant dense<[[2.0, 99.0], [1.0, 4.0]]> : tensor<2x2xf32>\n"
     "%b = stablehlo.constant dense<[[6.0], [11.0]]> : tensor<2x1xf32>\n"
     "%r = \"stablehlo.triangular_solve\"(%a, %b) <{left_side = true, lower = true, unit_diagonal "
     "= "
     "false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xf32>, "
     "tensor<2x1xf32>) -> tensor<2x1xf32>",
     "[[3.0], [2.0]]"},
    // X A^T = B with A = [[2, 1], [0, 4]] upper: x = [1, 2] gives [2*1 + 1*2, 4*2] = [4, 8].
    {"TriangularSolveFromTheRightTransposed", "tensor<1x2xf32>",
     "%a = stablehlo.constant dense<[[2.0, 1.0], [0.0, 4.0]]> : tensor<2x2xf32>\n"
     "%b = stablehlo.constant dense<[[4.0, 8.0]]> : tensor<1x2xf32>\n"
     "%r = \"stablehlo.triangular_solve\"(%a, %b) <{left_side = false, lower = false, "
     "unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<2x2xf32>, "
     "tensor<1x2xf32>) -> tensor<1x2xf32>",
     "[[1.0, 2.0]]"},
    {"FourierTransformOfThree", "tensor<3xcomplex<f32>>",
     "%a = stablehlo.constant dense<[(1.0,0.0), (1.0,0.0), (1.0,0.0)]> : tensor<3xcomplex<f32>>\n"
     "%f = stablehlo.fft %a, type = FFT, length = [3] : (tensor<3xcomplex<f32>>) -> "
     "tensor<3xcomplex<f32>>\n"
     "%r = stablehlo.fft %f, type = IFFT, length = [3] : (tensor<3xcomplex<f32>>) -> "
     "tensor<3xcomplex<f32>>",
     "[(1.0,0.0), (1.0,0.0), (1.0,0.0)]"},
    {"RealFourierTransformOfFour", "tensor<3xcomplex<f64>>",
     "%a = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf64>\n"
     "%r = stablehlo.fft %a, type = RFFT, length = [4] : (tensor<4xf64>) -> "
     "tensor<3xcomplex<f64>>",
     "[(10.0,0.0), (-2.0,2.0), (-2.0,0.0)]"},
    {"InverseRealFourierTransformOfFour", "tensor<4xf64>",
     "%a = stablehlo.constant dense<[(10.0,0.0), (-2.0,2.0), (-2.0,0.0)]> : "
     "tensor<3xcomplex<f64>>\n"
     "%r = stablehlo.fft %a, type = IRFFT, length = [4] : (tensor<3xcomplex<f64>>) -> "
     "tensor<4xf64>",
     "[1.0, 2.0, 3.0, 4.0]"},
};

constexpr Row kOther[] = {
    // The first two of the known answers of threefry 2x32 with 20 rounds: key and counter zero.
    {"ThreefryOfZero", "tensor<2xui32>",
     "%s = stablehlo.constant dense<0> : tensor<2xui64>\n"
     "%n, %r = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> "
     "(tensor<2xui64>, tensor<2xui32>)",
     "[1797259609, 2579123966]"},
    // The first known answer of philox 4x32 with 10 rounds.
    {"PhiloxOfZero", "tensor<4xui32>",
     "%s = stablehlo.constant dense<0> : tensor<3xui64>\n"
     "%n, %r = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> "
     "(tensor<3xui64>, tensor<4xui32>)",
     "[1713891541, 3781805453, 3159862348, 2600524760]"},
    // In a state of two words the key is the upper half of the counter too.
    {"PhiloxOfTwoWords", "tensor<3xui32>",
     "%s = stablehlo.constant dense<[17179869185, 38654705671]> : tensor<2xui64>\n"
     "%n, %r = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> "
     "(tensor<2xui64>, tensor<3xui32>)",
     "[3906191518, 1221519202, 4021650971]"},
    {"CollectivesOfOneProcessGiveWhatTheyGet", "tensor<2xf32>",
     "%a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
     "%b = \"stablehlo.all_reduce\"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n%s = stablehlo.add %x, %y : tensor<f32>\n"
     "stablehlo.return %s : tensor<f32>}) : (tensor<2xf32>) -> tensor<2xf32>\n"
     "%i = stablehlo.replica_id : tensor<ui32>\n"
     "%f = stablehlo.convert %i : (tensor<ui32>) -> tensor<f32>\n"
     "%c = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2xf32>\n"
     "%r = stablehlo.add %b, %c : tensor<2xf32>",
     "[1.0, 2.0]"},
    {"AsyncIsDoneAtOnce", "tensor<2xf32>",
     "%a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
     "%f = \"stablehlo.async_start\"(%a) ({\n^bb0(%x: tensor<2xf32>):\n"
     "%y = stablehlo.add %x, %x : tensor<2xf32>\nstablehlo.return %y : tensor<2xf32>\n}) : "
     "(tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>\n"
     "%r = \"stablehlo.async_done\"(%f) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>",
     "[2.0, 4.0]"},
    {"BatchNormInference", "tensor<2x2xf32>",
     "%a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>\n"
     "%s = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
     "%o = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32>\n"
     "%m = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>\n"
     "%v = stablehlo.constant dense<[1.0, 4.0]> : tensor<2xf32>\n"
     "%r = \"stablehlo.batch_norm_inference\"(%a, %s, %o, %m, %v) <{epsilon = 0.0 : f32, "
     "feature_index = 1 : i64}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, "
     "tensor<2xf32>) -> tensor<2x2xf32>",
     "[[-1.0, 0.0], [1.0, 2.0]]"},
    {"BatchNormTrainingGivesTheMean", "tensor<2xf32>",
     "%a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>\n"
     "%s = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf32>\n"
     "%y, %r, %v = \"stablehlo.batch_norm_training\"(%a, %s, %s) <{epsilon = 0.0 : f32, "
     "feature_index = 1 : i64}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> "
     "(tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)",
     "[2.0, 3.0]"},
    {"TuplesAndTokensPassThrough", "tensor<2xf32>",
     "%a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
     "%b = stablehlo.constant dense<7> : tensor<i32>\n"
     "%k = stablehlo.create_token : !stablehlo.token\n"
     "%l = stablehlo.after_all %k, %k : !stablehlo.token\n"
     "%t = stablehlo.tuple %b, %l, %a : tuple<tensor<i32>, !stablehlo.token, tensor<2xf32>>\n"
     "%o = stablehlo.optimization_barrier %t : tuple<tensor<i32>, !stablehlo.token, "
     "tensor<2xf32>>\n"
     "%r = stablehlo.get_tuple_element %o[2] : (tuple<tensor<i32>, !stablehlo.token, "
     "tensor<2xf32>>) -> tensor<2xf32>",
     "[1.0, 2.0]"},
    {"QuantiseRoundsAndSaturates", "tensor<3xf32>",
     "%a = stablehlo.constant dense<[1.3, -0.2, 1000.0]> : tensor<3xf32>\n"
     "%q = stablehlo.uniform_quantize %a : (tensor<3xf32>) -> "
     "tensor<3x!quant.uniform<i8:f32, 0.5:3>>\n"
     "%r = stablehlo.uniform_dequantize %q : (tensor<3x!quant.uniform<i8:f32, 0.5:3>>) -> "
     "tensor<3xf32>",
     "[1.5, 0.0, 62.0]"},
    {"QuantisedSumIsThatOfWhatItStandsFor", "tensor<2xf32>",
     "%a = stablehlo.constant dense<[1.0, 2.5]> : tensor<2xf32>\n"
     "%q = stablehlo.uniform_quantize %a : (tensor<2xf32>) -> "
     "tensor<2x!quant.uniform<i8:f32, 0.5:3>>\n"
     "%s = stablehlo.add %q, %q : tensor<2x!quant.uniform<i8:f32, 0.5:3>>\n"
     "%r = stablehlo.uniform_dequantize %s : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> "
     "tensor<2xf32>",
     "[2.0, 5.0]"},
};

TEST(DefinitionTest, ElementwiseOperationsGiveTheirValues) { check_all(kElementwise); }
TEST(DefinitionTest, MovementsGiveTheirValues) { check_all(kMovement); }
TEST(DefinitionTest, BodiesOfAnyTypeGiveTheirValues) { check_all(kStructured); }
TEST(DefinitionTest, LinearAlgebraGivesItsValues) { check_all(kLinear); }
TEST(DefinitionTest, TransfersInsideOfAProgramAreRefusedWithWhatHelps) {
  const auto module = stablehlo::text::read_text(
      "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
      "%t = stablehlo.create_token : !stablehlo.token\n"
      "%o = \"stablehlo.outfeed\"(%a, %t) <{outfeed_config = \"\"}> : (tensor<2xf32>, "
      "!stablehlo.token) -> !stablehlo.token\nreturn %a : tensor<2xf32>\n}\n");
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  const auto plan = make_plan(*module, {});
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().code(), ErrorCode::kUnimplemented);
  EXPECT_NE(plan.error().message().find("register a custom call"), std::string::npos)
      << plan.error().message();
}

TEST(DefinitionTest, RaggedDotsThatDoNotFitAreRefused) {
  for (const char* numbers : {"lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
                              "lhs_ragged_dimensions = [0]",
                              "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [9], "
                              "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]",
                              "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2], "
                              "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]"}) {
    const auto module = stablehlo::text::read_text(
        "func.func @main(%a: tensor<5x2xf32>, %b: tensor<2x2x3xf32>, %g: tensor<2xi32>) -> "
        "tensor<5x3xf32> {\n%r = \"chlo.ragged_dot\"(%a, %b, %g) <{ragged_dot_dimension_numbers = "
        "#chlo.ragged_dot<" +
        std::string(numbers) +
        ">}> : (tensor<5x2xf32>, tensor<2x2x3xf32>, tensor<2xi32>) -> tensor<5x3xf32>\n"
        "return %r : tensor<5x3xf32>\n}\n");
    ASSERT_TRUE(module.has_value()) << module.error().to_string();
    EXPECT_FALSE(stablehlo::verify::verify(*module).has_value()) << numbers;
  }
}

TEST(DefinitionTest, OtherOperationsGiveTheirValues) { check_all(kOther); }

}  // namespace
}  // namespace millrace::devices::cpu::testing
