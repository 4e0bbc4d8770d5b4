// Each short form reads to the same module as its generic form.
#include <string>

#include <gtest/gtest.h>

#include "millrace/devices/stablehlo/ir/print.h"
#include "millrace/devices/stablehlo/text/read_text.h"
#include "tests/support/equal_modules.h"

namespace millrace::devices::stablehlo::text {
namespace {

struct Case {
  const char* name;
  const char* arguments;
  const char* pretty;
  const char* generic;
};

std::string wrapped(const Case& c, const char* body) {
  return "func.func @main(" + std::string(c.arguments) + ") {\n  " + body + "\n  func.return\n}\n";
}

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Pretty : public ::testing::TestWithParam<Case> {};

TEST_P(Pretty, ReadsAsTheGenericForm) {
  const auto pretty = read_text(wrapped(GetParam(), GetParam().pretty));
  ASSERT_TRUE(pretty) << pretty.error().message();
  const auto generic = read_text(wrapped(GetParam(), GetParam().generic));
  ASSERT_TRUE(generic) << generic.error().message();
  std::string why;
  EXPECT_TRUE(ir::equal(*pretty, *generic, &why)) << why << '\n'
                                                  << ir::print(*pretty) << ir::print(*generic);
  const auto again = read_text(ir::print(*pretty));
  ASSERT_TRUE(again) << again.error().message() << '\n' << ir::print(*pretty);
  EXPECT_TRUE(ir::equal(*pretty, *again, &why)) << why;
}

constexpr const char* kTwo = "%a: tensor<4xf32>, %b: tensor<4xf32>";
constexpr const char* kSquare = "%a: tensor<4x4xf32>, %s: tensor<f32>, %i: tensor<i32>";

const Case
    kCases
        [] =
            {
                {"Unary", kTwo, "%r = stablehlo.abs %a : tensor<4xf32>",
                 R"(%r = "stablehlo.abs"(%a) : (tensor<4xf32>) -> tensor<4xf32>)"},
                {"UnaryWithAccuracy", kTwo,
                 "%r = stablehlo.exponential %a {result_accuracy = #stablehlo.result_accuracy<ulps "
                 "= 2, mode = "
                 "#stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>",
                 R"(%r = "stablehlo.exponential"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<TOLERANCE>, ulps = 2>}> : (tensor<4xf32>) -> tensor<4xf32>)"},
                {"AccuracyInBits", kTwo,
                 "%r = stablehlo.exponential %a {result_accuracy = #stablehlo.result_accuracy<atol "
                 "= "
                 "0x7FF8000000000000, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : "
                 "tensor<4xf32>",
                 R"(%r = "stablehlo.exponential"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<TOLERANCE>, atol = 0x7FF8000000000000>}> : (tensor<4xf32>) -> tensor<4xf32>)"},
                {"Convert", kTwo, "%r = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xi32>",
                 R"(%r = "stablehlo.convert"(%a) : (tensor<4xf32>) -> tensor<4xi32>)"},
                {"IsFinite", kTwo, "%r = stablehlo.is_finite %a : (tensor<4xf32>) -> tensor<4xi1>",
                 R"(%r = "stablehlo.is_finite"(%a) : (tensor<4xf32>) -> tensor<4xi1>)"},
                {"Binary", kTwo, "%r = stablehlo.add %a, %b : tensor<4xf32>",
                 R"(%r = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)"},
                {"BinarySignature", kTwo,
                 "%r = stablehlo.shift_left %a, %b : (tensor<4xf32>, tensor<4xf32>) -> "
                 "tensor<?xf32>",
                 R"(%r = "stablehlo.shift_left"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>)"},
                {"Complex", kTwo, "%r = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>",
                 R"(%r = "stablehlo.complex"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>)"},
                {"Clamp", kTwo, "%r = stablehlo.clamp %a, %b, %a : tensor<4xf32>",
                 R"(%r = "stablehlo.clamp"(%a, %b, %a) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)"},
                {"Select", "%p: tensor<4xi1>, %a: tensor<4xf32>",
                 "%r = stablehlo.select %p, %a, %a : tensor<4xi1>, tensor<4xf32>",
                 R"(%r = "stablehlo.select"(%p, %a, %a) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)"},
                {"Compare", kTwo,
                 "%r = stablehlo.compare  LT, %a, %b,  FLOAT : (tensor<4xf32>, tensor<4xf32>) -> "
                 "tensor<4xi1>",
                 R"(%r = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>)"},
                {"CompareUntyped", kTwo,
                 "%r = stablehlo.compare NE, %a, %b : (tensor<4xf32>, tensor<4xf32>) -> "
                 "tensor<4xi1>",
                 R"(%r = "stablehlo.compare"(%a, %b) {comparison_direction = #stablehlo.comparison_direction<NE>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>)"},
                {"Constant", "", "%r = stablehlo.constant dense<[1, -2]> : tensor<2xi32>",
                 R"(%r = "stablehlo.constant"() <{value = dense<"0x01000000FEFFFFFF"> : tensor<2xi32>}> : () -> tensor<2xi32>)"},
                {"ConstantInBrackets", "",
                 R"(%r = stablehlo.constant() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>)",
                 R"(%r = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>)"},
                {"Iota", "", "%r = stablehlo.iota dim = 1 : tensor<2x3xi32>",
                 R"(%r = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3xi32>)"},
                {"DynamicIota", "%n: tensor<1xi64>",
                 "%r = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>",
                 R"(%r = "stablehlo.dynamic_iota"(%n) <{iota_dimension = 0 : i64}> : (tensor<1xi64>) -> tensor<?xi32>)"},
                {"Reshape", kSquare,
                 "%r = stablehlo.reshape %a : (tensor<4x4xf32>) -> tensor<16xf32>",
                 R"(%r = "stablehlo.reshape"(%a) : (tensor<4x4xf32>) -> tensor<16xf32>)"},
                {"BroadcastInDim", kSquare,
                 "%r = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2xf32>",
                 R"(%r = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>)"},
                {"DynamicBroadcastInDim", "%a: tensor<?xf32>, %n: tensor<1xi64>",
                 "%r = stablehlo.dynamic_broadcast_in_dim %a, %n, dims = [0] "
                 "{known_expanding_dimensions = "
                 "array<i64: 0>} : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>",
                 R"(%r = "stablehlo.dynamic_broadcast_in_dim"(%a, %n) <{broadcast_dimensions = array<i64: 0>, known_expanding_dimensions = array<i64: 0>}> : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>)"},
                {"Broadcast", kSquare,
                 "%r = stablehlo.broadcast %s, sizes = [2] : (tensor<f32>) -> tensor<2xf32>",
                 R"(%r = "stablehlo.broadcast"(%s) <{broadcast_sizes = array<i64: 2>}> : (tensor<f32>) -> tensor<2xf32>)"},
                {"Transpose", kSquare,
                 "%r = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x4xf32>) -> "
                 "tensor<4x4xf32>",
                 R"(%r = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>)"},
                {"Reverse", kSquare, "%r = stablehlo.reverse %a, dims = [1] : tensor<4x4xf32>",
                 R"(%r = "stablehlo.reverse"(%a) <{dimensions = array<i64: 1>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>)"},
                {"Slice", kSquare,
                 "%r = stablehlo.slice %a [0:2, 1:4:3] : (tensor<4x4xf32>) -> tensor<2x1xf32>",
                 R"(%r = "stablehlo.slice"(%a) <{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 2, 4>, strides = array<i64: 1, 3>}> : (tensor<4x4xf32>) -> tensor<2x1xf32>)"},
                {"SliceOfScalar", kSquare,
                 "%r = stablehlo.slice %s [] : (tensor<f32>) -> tensor<f32>",
                 R"(%r = "stablehlo.slice"(%s) <{start_indices = array<i64>, limit_indices = array<i64>, strides = array<i64>}> : (tensor<f32>) -> tensor<f32>)"},
                {"DynamicSlice", kSquare,
                 "%r = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 4] : (tensor<4x4xf32>, "
                 "tensor<i32>, "
                 "tensor<i32>) -> tensor<1x4xf32>",
                 R"(%r = "stablehlo.dynamic_slice"(%a, %i, %i) <{slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>)"},
                {"DynamicUpdateSlice", kSquare,
                 "%r = stablehlo.dynamic_update_slice %a, %a, %i, %i : (tensor<4x4xf32>, "
                 "tensor<4x4xf32>, "
                 "tensor<i32>, tensor<i32>) -> tensor<4x4xf32>",
                 R"(%r = "stablehlo.dynamic_update_slice"(%a, %a, %i, %i) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>)"},
                {"Concatenate", kTwo,
                 "%r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> "
                 "tensor<8xf32>",
                 R"(%r = "stablehlo.concatenate"(%a, %b) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>)"},
                {"Pad", "%a: tensor<4xf32>, %s: tensor<f32>",
                 "%r = stablehlo.pad %a, %s, low = [-1], high = [2], interior = [0] : "
                 "(tensor<4xf32>, "
                 "tensor<f32>) -> tensor<5xf32>",
                 R"(%r = "stablehlo.pad"(%a, %s) <{edge_padding_low = array<i64: -1>, edge_padding_high = array<i64: 2>, interior_padding = array<i64: 0>}> : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>)"},
                {"DotGeneral", kSquare,
                 "%r = stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = "
                 "[1] x [1], "
                 "precision = [DEFAULT, HIGHEST], algorithm = <lhs_precision_type = tf32, "
                 "rhs_precision_type = "
                 "tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
                 "num_primitive_operations = 1, allow_imprecise_accumulation = false> : "
                 "(tensor<4x4xf32>, "
                 "tensor<4x4xf32>) -> tensor<4xf32>",
                 R"(%r = "stablehlo.dot_general"(%a, %a) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>)"},
                {"DotGeneralOuter", kTwo,
                 "%r = stablehlo.dot_general %a, %b, contracting_dims = [] x [] : (tensor<4xf32>, "
                 "tensor<4xf32>) -> tensor<4x4xf32>",
                 R"(%r = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>)"},
                {"Dot", kTwo,
                 "%r = stablehlo.dot %a, %b, precision = [HIGH, DEFAULT] : (tensor<4xf32>, "
                 "tensor<4xf32>) -> "
                 "tensor<f32>",
                 R"(%r = "stablehlo.dot"(%a, %b) <{precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>)"},
                {"Convolution", "%a: tensor<1x8x8x1xf32>, %w: tensor<3x3x1x2xf32>",
                 "%r = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, "
                 "0, 1, f], "
                 "window = {stride = [2, 1], pad = [[1, 1], [0, 2]], lhs_dilate = [1, 1], "
                 "rhs_dilate = [1, 2], "
                 "reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : "
                 "i64, "
                 "precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision "
                 "DEFAULT>]} : "
                 "(tensor<1x8x8x1xf32>, tensor<3x3x1x2xf32>) -> tensor<1x4x6x2xf32>",
                 R"(%r = "stablehlo.convolution"(%a, %w) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[1, 1], [0, 2]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 2>, window_reversal = array<i1: false, true>, window_strides = array<i64: 2, 1>}> : (tensor<1x8x8x1xf32>, tensor<3x3x1x2xf32>) -> tensor<1x4x6x2xf32>)"},
                {"ConvolutionWithoutWindow", "%a: tensor<1x2xf32>, %w: tensor<2x3xf32>",
                 "%r = stablehlo.convolution(%a, %w) dim_numbers = [b, f]x[i, o]->[b, f], window = "
                 "{} "
                 "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2xf32>, "
                 "tensor<2x3xf32>) -> tensor<1x3xf32>",
                 R"(%r = "stablehlo.convolution"(%a, %w) {dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2xf32>, tensor<2x3xf32>) -> tensor<1x3xf32>)"},
                {"Fft", "%a: tensor<16xf32>",
                 "%r = stablehlo.fft %a, type =  RFFT, length = [16] : (tensor<16xf32>) -> "
                 "tensor<9xcomplex<f32>>",
                 R"(%r = "stablehlo.fft"(%a) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 16>}> : (tensor<16xf32>) -> tensor<9xcomplex<f32>>)"},
                {"ReduceCompact", kSquare,
                 "%r = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [0] "
                 ": "
                 "(tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>",
                 R"(%r = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: 0>}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %z = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %z : tensor<f32>
      }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>)"},
                {"ReduceLong", kSquare,
                 R"(%r:2 = stablehlo.reduce(%a init: %s), (%a init: %s) across dimensions = [1] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
      reducer(%x: tensor<f32>, %y: tensor<f32>) (%p: tensor<f32>, %q: tensor<f32>)  {
        %z = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %z, %q : tensor<f32>, tensor<f32>
      })",
                 R"(%r:2 = "stablehlo.reduce"(%a, %a, %s, %s) <{dimensions = array<i64: 1>}> ({
      ^bb0(%x: tensor<f32>, %p: tensor<f32>, %y: tensor<f32>, %q: tensor<f32>):
        %z = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %z, %q : tensor<f32>, tensor<f32>
      }) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>))"},
                {"While", kSquare,
                 R"(%r:2 = stablehlo.while(%n = %i, %x = %a) : tensor<i32>, tensor<4x4xf32> attributes {mhlo.note = "n"}
      cond {
        %c = stablehlo.compare LT, %n, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        stablehlo.return %n, %x : tensor<i32>, tensor<4x4xf32>
      })",
                 R"(%r:2 = "stablehlo.while"(%i, %a) ({
      ^bb0(%n: tensor<i32>, %x: tensor<4x4xf32>):
        %c = stablehlo.compare LT, %n, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }, {
      ^bb0(%n: tensor<i32>, %x: tensor<4x4xf32>):
        stablehlo.return %n, %x : tensor<i32>, tensor<4x4xf32>
      }) {mhlo.note = "n"} : (tensor<i32>, tensor<4x4xf32>) -> (tensor<i32>, tensor<4x4xf32>))"},
                {"CustomCall", kTwo,
                 R"(%r = stablehlo.custom_call @foo.bar(%a) {api_version = 4 : i32, backend_config = {n = 1 : i64}} : (tensor<4xf32>) -> tensor<4xf32>)", R"(%r = "stablehlo.custom_call"(%a) <{call_target_name = "foo.bar", api_version = 4 : i32, backend_config = {n = 1}}> : (tensor<4xf32>) -> tensor<4xf32>)"},
                {"Composite", kTwo,
                 R"(%r = stablehlo.composite "chlo.erf" %a {decomposition = @chlo.erf.impl, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>)",
                 R"(%r = "stablehlo.composite"(%a) <{name = "chlo.erf", decomposition = @chlo.erf.impl, version = 1 : i32}> : (tensor<4xf32>) -> tensor<4xf32>)"},
                {"Rng", "%a: tensor<f32>, %n: tensor<1xi64>",
                 "%r = stablehlo.rng %a, %a, %n, distribution =  UNIFORM : (tensor<f32>, "
                 "tensor<f32>, "
                 "tensor<1xi64>) -> tensor<4xf32>",
                 R"(%r = "stablehlo.rng"(%a, %a, %n) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>)"},
                {"RngBitGenerator", "%a: tensor<2xui64>",
                 "%r:2 = stablehlo.rng_bit_generator %a, algorithm =  THREE_FRY : (tensor<2xui64>) "
                 "-> "
                 "(tensor<2xui64>, tensor<4xui32>)",
                 R"(%r:2 = "stablehlo.rng_bit_generator"(%a) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>))"},
                {"ReducePrecision", kTwo,
                 "%r = stablehlo.reduce_precision %a, format = e5m10 : tensor<4xf32>",
                 R"(%r = "stablehlo.reduce_precision"(%a) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<4xf32>) -> tensor<4xf32>)"},
                {"Cholesky", kSquare, "%r = stablehlo.cholesky %a, lower = true : tensor<4x4xf32>",
                 R"(%r = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<4x4xf32>) -> tensor<4x4xf32>)"},
                {"GetDimensionSize", kSquare,
                 "%r = stablehlo.get_dimension_size %a, dim = 1 : (tensor<4x4xf32>) -> tensor<i32>",
                 R"(%r = "stablehlo.get_dimension_size"(%a) <{dimension = 1 : i64}> : (tensor<4x4xf32>) -> tensor<i32>)"},
                {"Tuple", kSquare,
                 "%r = stablehlo.tuple %a, %i : tuple<tensor<4x4xf32>, tensor<i32>>",
                 R"(%r = "stablehlo.tuple"(%a, %i) : (tensor<4x4xf32>, tensor<i32>) -> tuple<tensor<4x4xf32>, tensor<i32>>)"},
                {"GetTupleElement", "%t: tuple<tensor<f32>, tensor<i32>>",
                 "%r = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tensor<i32>>) -> "
                 "tensor<i32>",
                 R"(%r = "stablehlo.get_tuple_element"(%t) <{index = 1 : i32}> : (tuple<tensor<f32>, tensor<i32>>) -> tensor<i32>)"},
                {"AfterAll", "%t: !stablehlo.token",
                 "%r = stablehlo.after_all %t, %t : !stablehlo.token",
                 R"(%r = "stablehlo.after_all"(%t, %t) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token)"},
                {"CreateToken", "", "%r = stablehlo.create_token : !stablehlo.token",
                 R"(%r = "stablehlo.create_token"() : () -> !stablehlo.token)"},
                {"ReplicaId", "", "%r = stablehlo.replica_id : tensor<ui32>",
                 R"(%r = "stablehlo.replica_id"() : () -> tensor<ui32>)"},
                {"OptimizationBarrier", kSquare,
                 "%r:2 = stablehlo.optimization_barrier %a, %i : tensor<4x4xf32>, tensor<i32>",
                 R"(%r:2 = "stablehlo.optimization_barrier"(%a, %i) : (tensor<4x4xf32>, tensor<i32>) -> (tensor<4x4xf32>, tensor<i32>))"},
                {"EmptyBarrier", "", "stablehlo.optimization_barrier ()",
                 R"("stablehlo.optimization_barrier"() : () -> ())"},
                {"Einsum", kSquare,
                 R"(%r = stablehlo.einsum %a, %a, config = "ab,bc->ac" : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>)",
                 R"(%r = "stablehlo.einsum"(%a, %a) <{einsum_config = "ab,bc->ac"}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>)"},
                {"UniformQuantize", kTwo,
                 "%r = stablehlo.uniform_quantize %a : (tensor<4xf32>) -> "
                 "tensor<4x!quant.uniform<i8:f32, "
                 "2.0:15>>",
                 R"(%r = "stablehlo.uniform_quantize"(%a) : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8<-128:127>:f32, 2.0:15>>)"},
                {"ChloUnary", kTwo, "%r = chlo.erf %a : tensor<4xf32> -> tensor<4xf32>",
                 R"(%r = "chlo.erf"(%a) : (tensor<4xf32>) -> tensor<4xf32>)"},
                {"ChloBinary", kTwo,
                 "%r = chlo.next_after %a, %b : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>",
                 R"(%r = "chlo.next_after"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)"},
                {"ChloTopK", kTwo,
                 "%r:2 = chlo.top_k(%a, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)",
                 R"(%r:2 = "chlo.top_k"(%a) <{k = 2 : i64}> : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>))"},
                {"BoundsAsExtension", "%a: tensor<?x4xf32, #stablehlo.bounds<8, ?>>",
                 "stablehlo.custom_call @f(%a) : (tensor<?x4xf32, "
                 "#stablehlo.type_extensions<bounds = [8, "
                 "?]>>) -> ()",
                 R"("stablehlo.custom_call"(%a) {call_target_name = "f"} : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>) -> ())"},
                {"UnknownOperation", kTwo,
                 R"(%r:2 = "my.op"(%a) ({ "my.end"() : () -> () }, {}) {x} : (tensor<4xf32>) -> (i32, none))",
                 R"(%r:2 = "my.op"(%a) <{x}> ({ "my.end"() : () -> () }, {}) : (tensor<4xf32>) -> (i32, none))"},
};

INSTANTIATE_TEST_SUITE_P(Forms, Pretty, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace millrace::devices::stablehlo::text
