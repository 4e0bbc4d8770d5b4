// cpu.<op>: one operation of about a million elements on the embedded CPU device, in milliseconds,
// of kinds that no benchmark of models shows: movements with computed places, bodies of users,
// sorts, transforms, factorisations, random bits, complex and small element types. The peer is
// XLA's CPU client in this process; both through a Runtime, on one core.
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/figure.h"
#include "bench/pjrt_bare.h"
#include "millrace/core/async/blocking.h"
#include "millrace/devices/stablehlo/ir/float_format.h"
#include "millrace/millrace.h"

namespace millrace::bench {
namespace {

struct Row {
  const char* name;
  const char* arguments;  // of @main: "%a: T, %b: U"
  const char* result;     // its type
  const char* body;       // defines %r
};

#define REDUCER(op, type)                                                     \
  "({\n^bb0(%x: tensor<" type ">, %y: tensor<" type ">):\n%s = stablehlo." op \
  " %x, %y : "                                                                \
  "tensor<" type ">\nstablehlo.return %s : tensor<" type ">\n})"

#define DOT(name, a, b, result, dims)                                        \
  {name, "%a: tensor<" a ">, %b: tensor<" b ">", "tensor<" result ">",       \
   "%r = stablehlo.dot_general %a, %b, " dims " : (tensor<" a ">, tensor<" b \
   ">) -> tensor<" result ">"}
#define SQUARE_DOT(name, n, type) \
  DOT(name, n "x" n "x" type, n "x" n "x" type, n "x" n "x" type, "contracting_dims = [1] x [0]")
#define UNARY(name, op, type)                                        \
  {name, "%a: tensor<1048576x" type ">", "tensor<1048576x" type ">", \
   "%r = stablehlo." op " %a : tensor<1048576x" type ">"}

constexpr Row kRows[] = {
    SQUARE_DOT("dot_f64_64", "64", "f64"),
    SQUARE_DOT("dot_f64_256", "256", "f64"),
    SQUARE_DOT("dot_f64_1024", "1024", "f64"),
    DOT("dot_f64_batched", "1024x8x8xf64", "1024x8x8xf64", "1024x8x8xf64",
        "batching_dims = [0] x [0], contracting_dims = [2] x [1]"),
    DOT("dot_f64_batched_32", "256x32x32xf64", "256x32x32xf64", "256x32x32xf64",
        "batching_dims = [0] x [0], contracting_dims = [2] x [1]"),
    DOT("dot_f64_vector", "1024x1024xf64", "1024xf64", "1024xf64", "contracting_dims = [1] x [0]"),
    DOT("dot_f64_by_vector", "1024xf64", "1024x1024xf64", "1024xf64",
        "contracting_dims = [0] x [0]"),
    SQUARE_DOT("dot_c64_256", "256", "complex<f32>"),
    SQUARE_DOT("dot_c128_256", "256", "complex<f64>"),
    SQUARE_DOT("dot_i64_256", "256", "i64"),
    DOT("dot_i8_256", "256x256xi8", "256x256xi8", "256x256xi32", "contracting_dims = [1] x [0]"),
    SQUARE_DOT("dot_bf16_256", "256", "bf16"),
    {"convolution_f64", "%a: tensor<1x32x56x56xf64>, %k: tensor<32x32x3x3xf64>",
     "tensor<1x32x56x56xf64>",
     "%r = stablehlo.convolution(%a, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], "
     "window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : "
     "i64} : (tensor<1x32x56x56xf64>, tensor<32x32x3x3xf64>) -> tensor<1x32x56x56xf64>"},
    {"convolution_bf16", "%a: tensor<1x32x56x56xbf16>, %k: tensor<32x32x3x3xbf16>",
     "tensor<1x32x56x56xbf16>",
     "%r = stablehlo.convolution(%a, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], "
     "window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : "
     "i64} : (tensor<1x32x56x56xbf16>, tensor<32x32x3x3xbf16>) -> tensor<1x32x56x56xbf16>"},
    UNARY("log_f32", "log", "f32"),
    UNARY("log_plus_one_f32", "log_plus_one", "f32"),
    UNARY("exponential_minus_one_f32", "exponential_minus_one", "f32"),
    {"shift_left_i8", "%a: tensor<1048576xi8>, %b: tensor<1048576xi8>", "tensor<1048576xi8>",
     "%r = stablehlo.shift_left %a, %b : tensor<1048576xi8>"},
    {"power_i32", "%a: tensor<1048576xi32>, %b: tensor<1048576xi32>", "tensor<1048576xi32>",
     "%r = stablehlo.power %a, %b : tensor<1048576xi32>"},
    {"largest_of_rows_f32", "%a: tensor<1024x1024xf32>, %z: tensor<f32>", "tensor<1024xf32>",
     "%r = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : "
     "(tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>"},
    {"largest_of_short_rows_f32", "%a: tensor<100000x10xf32>, %z: tensor<f32>",
     "tensor<100000xf32>",
     "%r = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : "
     "(tensor<100000x10xf32>, tensor<f32>) -> tensor<100000xf32>"},
    {"largest_of_columns_f16", "%a: tensor<1024x1024xf16>, %z: tensor<f16>", "tensor<1024xf16>",
     "%r = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [0] : "
     "(tensor<1024x1024xf16>, tensor<f16>) -> tensor<1024xf16>"},
    UNARY("exponential_f64", "exponential", "f64"),
    UNARY("tanh_f64", "tanh", "f64"),
    UNARY("log_plus_one_f64", "log_plus_one", "f64"),
    {"reduce_rows_f64", "%a: tensor<1024x1024xf64>, %z: tensor<f64>", "tensor<1024xf64>",
     "%r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : "
     "(tensor<1024x1024xf64>, tensor<f64>) -> tensor<1024xf64>"},
    {"transpose", "%a: tensor<1024x1024xf32>", "tensor<1024x1024xf32>",
     "%r = stablehlo.transpose %a, dims = [1, 0] : (tensor<1024x1024xf32>) -> "
     "tensor<1024x1024xf32>"},
    {"reverse", "%a: tensor<1024x1024xf32>", "tensor<1024x1024xf32>",
     "%r = stablehlo.reverse %a, dims = [0, 1] : tensor<1024x1024xf32>"},
    {"pad", "%a: tensor<700x700xf32>, %z: tensor<f32>", "tensor<1401x702xf32>",
     "%r = stablehlo.pad %a, %z, low = [1, 1], high = [1, 1], interior = [1, 0] : "
     "(tensor<700x700xf32>, tensor<f32>) -> tensor<1401x702xf32>"},
    {"concatenate", "%a: tensor<1024x512xf32>, %b: tensor<1024x512xf32>", "tensor<1024x1024xf32>",
     "%r = stablehlo.concatenate %a, %b, dim = 1 : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> "
     "tensor<1024x1024xf32>"},
    {"dynamic_slice", "%a: tensor<1024x1024xf32>, %i: tensor<i32>", "tensor<1000x1000xf32>",
     "%r = stablehlo.dynamic_slice %a, %i, %i, sizes = [1000, 1000] : (tensor<1024x1024xf32>, "
     "tensor<i32>, tensor<i32>) -> tensor<1000x1000xf32>"},
    {"gather_rows", "%a: tensor<4096x64xf32>, %i: tensor<16384x1xi32>", "tensor<16384x64xf32>",
     "%r = \"stablehlo.gather\"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1, 64>}> : (tensor<4096x64xf32>, tensor<16384x1xi32>) -> tensor<16384x64xf32>"},
    {"gather_elements", "%a: tensor<4096xf32>, %i: tensor<1048576x1xi32>", "tensor<1048576xf32>",
     "%r = \"stablehlo.gather\"(%a, %i) <{dimension_numbers = #stablehlo.gather<"
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 1>}> : (tensor<4096xf32>, tensor<1048576x1xi32>) -> tensor<1048576xf32>"},
    {"scatter_add", "%a: tensor<4096xf32>, %i: tensor<1048576x1xi32>, %u: tensor<1048576xf32>",
     "tensor<4096xf32>",
     "%r = \"stablehlo.scatter\"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<"
     "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
     "1>}> " REDUCER("add", "f32") " : (tensor<4096xf32>, tensor<1048576x1xi32>, "
                                   "tensor<1048576xf32>) -> tensor<4096xf32>"},
    {"scatter_rows", "%a: tensor<4096x64xf32>, %i: tensor<16384x1xi32>, %u: tensor<16384x64xf32>",
     "tensor<4096x64xf32>",
     "%r = \"stablehlo.scatter\"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<"
     "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
     "index_vector_dim = 1>}> " REDUCER(
         "add", "f32") " : (tensor<4096x64xf32>, tensor<16384x1xi32>, tensor<16384x64xf32>) -> "
                       "tensor<4096x64xf32>"},
    {"reduce_window", "%a: tensor<1024x1024xf32>", "tensor<1022x1022xf32>",
     "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
     "%r = \"stablehlo.reduce_window\"(%a, %z) <{window_dimensions = array<i64: 3, 3>}> " REDUCER(
         "add", "f32") " : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1022x1022xf32>"},
    {"cumulative_sum", "%a: tensor<512x2048xf32>", "tensor<512x2048xf32>",
     "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
     "%r = \"stablehlo.reduce_window\"(%a, %z) <{window_dimensions = array<i64: 1, 2048>, padding "
     "= "
     "dense<[[0, 0], [2047, 0]]> : tensor<2x2xi64>}> " REDUCER(
         "add", "f32") " : (tensor<512x2048xf32>, tensor<f32>) -> tensor<512x2048xf32>"},
    {"cumulative_maximum", "%a: tensor<1048576xf32>, %z: tensor<f32>", "tensor<1048576xf32>",
     "%r = \"stablehlo.reduce_window\"(%a, %z) <{window_dimensions = array<i64: 1048576>, "
     "padding = dense<[[1048575, 0]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     "%s = stablehlo.maximum %x, %y : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}) : "
     "(tensor<1048576xf32>, tensor<f32>) -> tensor<1048576xf32>"},
    {"select_and_scatter",
     "%a: tensor<16x64x32x32xf32>, %u: tensor<16x64x16x16xf32>, %z: tensor<f32>",
     "tensor<16x64x32x32xf32>",
     "%r = \"stablehlo.select_and_scatter\"(%a, %u, %z) <{window_dimensions = array<i64: 1, 1, 2, "
     "2>, window_strides = array<i64: 1, 1, 2, 2>}> ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     "%s = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
     "stablehlo.return %s : tensor<i1>\n}, {\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n%s = "
     "stablehlo.add %x, %y : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}) : "
     "(tensor<16x64x32x32xf32>, tensor<16x64x16x16xf32>, tensor<f32>) -> tensor<16x64x32x32xf32>"},
    {"select_and_scatter_overlapping",
     "%a: tensor<8x56x56x64xf32>, %u: tensor<8x28x28x64xf32>, %z: tensor<f32>",
     "tensor<8x56x56x64xf32>",
     "%r = \"stablehlo.select_and_scatter\"(%a, %u, %z) <{window_dimensions = array<i64: 1, 3, 3, "
     "1>, window_strides = array<i64: 1, 2, 2, 1>, padding = dense<[[0, 0], [0, 1], [0, 1], [0, "
     "0]]> : tensor<4x2xi64>}> ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     "%s = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
     "stablehlo.return %s : tensor<i1>\n}, {\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n%s = "
     "stablehlo.add %x, %y : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}) : "
     "(tensor<8x56x56x64xf32>, tensor<8x28x28x64xf32>, tensor<f32>) -> tensor<8x56x56x64xf32>"},
    {"sort", "%a: tensor<1048576xf32>", "tensor<1048576xf32>",
     "%r = \"stablehlo.sort\"(%a) <{dimension = 0 : i64}> ({\n^bb0(%x: tensor<f32>, %y: "
     "tensor<f32>):\n%s = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> "
     "tensor<i1>\nstablehlo.return %s : tensor<i1>\n}) : (tensor<1048576xf32>) -> "
     "tensor<1048576xf32>"},
    {"sort_pairs", "%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xi32>", "tensor<1024x1024xi32>",
     "%q, %r = \"stablehlo.sort\"(%a, %b) <{dimension = 1 : i64}> ({\n^bb0(%x: tensor<f32>, %y: "
     "tensor<f32>, %v: tensor<i32>, %w: tensor<i32>):\n%s = stablehlo.compare GT, %x, %y : "
     "(tensor<f32>, tensor<f32>) -> tensor<i1>\nstablehlo.return %s : tensor<i1>\n}) : "
     "(tensor<1024x1024xf32>, tensor<1024x1024xi32>) -> (tensor<1024x1024xf32>, "
     "tensor<1024x1024xi32>)"},
    {"arg_max",
     "%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xi32>, %z: tensor<f32>, %i: "
     "tensor<i32>",
     "tensor<1024xi32>",
     "%q, %r = \"stablehlo.reduce\"(%a, %b, %z, %i) <{dimensions = array<i64: 1>}> ({\n"
     "^bb0(%x: tensor<f32>, %j: tensor<i32>, %y: tensor<f32>, %k: tensor<i32>):\n"
     "%g = stablehlo.compare GT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
     "%s = stablehlo.select %g, %x, %y : tensor<i1>, tensor<f32>\n"
     "%t = stablehlo.select %g, %j, %k : tensor<i1>, tensor<i32>\n"
     "stablehlo.return %s, %t : tensor<f32>, tensor<i32>\n}) : (tensor<1024x1024xf32>, "
     "tensor<1024x1024xi32>, tensor<f32>, tensor<i32>) -> (tensor<1024xf32>, tensor<1024xi32>)"},
    {"arg_max_vocabulary",
     "%a: tensor<50000xf32>, %b: tensor<50000xi32>, %z: tensor<f32>, %i: "
     "tensor<i32>",
     "tensor<i32>",
     "%q, %r = \"stablehlo.reduce\"(%a, %b, %z, %i) <{dimensions = array<i64: 0>}> ({\n"
     "^bb0(%x: tensor<f32>, %j: tensor<i32>, %y: tensor<f32>, %k: tensor<i32>):\n"
     "%g = stablehlo.compare GT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
     "%s = stablehlo.select %g, %x, %y : tensor<i1>, tensor<f32>\n"
     "%t = stablehlo.select %g, %j, %k : tensor<i1>, tensor<i32>\n"
     "stablehlo.return %s, %t : tensor<f32>, tensor<i32>\n}) : (tensor<50000xf32>, "
     "tensor<50000xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)"},
    {"products_of_3x3_f32", "%a: tensor<20000x3x3xf32>, %b: tensor<20000x3x3xf32>",
     "tensor<20000x3x3xf32>",
     "%r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : "
     "(tensor<20000x3x3xf32>, tensor<20000x3x3xf32>) -> tensor<20000x3x3xf32>"},
    {"convolve_signal", "%a: tensor<1x1x10000xf32>, %b: tensor<1x1x101xf32>",
     "tensor<1x1x10100xf32>",
     "%r = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = "
     "{pad = [[100, 100]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
     "(tensor<1x1x10000xf32>, tensor<1x1x101xf32>) -> tensor<1x1x10100xf32>"},
    {"fft_rows", "%a: tensor<1024x1024xcomplex<f32>>", "tensor<1024x1024xcomplex<f32>>",
     "%r = stablehlo.fft %a, type = FFT, length = [1024] : (tensor<1024x1024xcomplex<f32>>) -> "
     "tensor<1024x1024xcomplex<f32>>"},
    {"fft_1000", "%a: tensor<1000x1000xcomplex<f32>>", "tensor<1000x1000xcomplex<f32>>",
     "%r = stablehlo.fft %a, type = FFT, length = [1000] : (tensor<1000x1000xcomplex<f32>>) -> "
     "tensor<1000x1000xcomplex<f32>>"},
    {"fft_long", "%a: tensor<1048576xcomplex<f32>>", "tensor<1048576xcomplex<f32>>",
     "%r = stablehlo.fft %a, type = FFT, length = [1048576] : (tensor<1048576xcomplex<f32>>) -> "
     "tensor<1048576xcomplex<f32>>"},
    {"rfft", "%a: tensor<1024x1024xf32>", "tensor<1024x513xcomplex<f32>>",
     "%r = stablehlo.fft %a, type = RFFT, length = [1024] : (tensor<1024x1024xf32>) -> "
     "tensor<1024x513xcomplex<f32>>"},
    {"cholesky", "%a: tensor<512x512xf32>", "tensor<512x512xf32>",
     "%r = stablehlo.cholesky %a, lower = true : tensor<512x512xf32>"},
    {"cholesky_f64", "%a: tensor<64x128x128xf64>", "tensor<64x128x128xf64>",
     "%r = stablehlo.cholesky %a, lower = true : tensor<64x128x128xf64>"},
    {"triangular_solve", "%a: tensor<512x512xf32>, %b: tensor<512x512xf32>", "tensor<512x512xf32>",
     "%r = \"stablehlo.triangular_solve\"(%a, %b) <{left_side = true, lower = true, unit_diagonal "
     "= "
     "false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<512x512xf32>, "
     "tensor<512x512xf32>) -> tensor<512x512xf32>"},
    {"threefry", "%s: tensor<2xui64>", "tensor<1048576xui32>",
     "%n, %r = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> "
     "(tensor<2xui64>, tensor<1048576xui32>)"},
    {"philox", "%s: tensor<3xui64>", "tensor<1048576xui32>",
     "%n, %r = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> "
     "(tensor<3xui64>, tensor<1048576xui32>)"},
    {"complex_add", "%a: tensor<1048576xcomplex<f32>>", "tensor<1048576xcomplex<f32>>",
     "%r = stablehlo.add %a, %a : tensor<1048576xcomplex<f32>>"},
    {"complex_multiply", "%a: tensor<1048576xcomplex<f32>>", "tensor<1048576xcomplex<f32>>",
     "%r = stablehlo.multiply %a, %a : tensor<1048576xcomplex<f32>>"},
    {"complex_abs", "%a: tensor<1048576xcomplex<f32>>", "tensor<1048576xf32>",
     "%r = stablehlo.abs %a : (tensor<1048576xcomplex<f32>>) -> tensor<1048576xf32>"},
    {"complex_real", "%a: tensor<1048576xcomplex<f32>>", "tensor<1048576xf32>",
     "%r = stablehlo.real %a : (tensor<1048576xcomplex<f32>>) -> tensor<1048576xf32>"},
    {"complex_exp", "%a: tensor<1048576xcomplex<f32>>", "tensor<1048576xcomplex<f32>>",
     "%r = stablehlo.exponential %a : tensor<1048576xcomplex<f32>>"},
    {"complex_reduce", "%a: tensor<1024x1024xcomplex<f32>>, %z: tensor<complex<f32>>",
     "tensor<1024xcomplex<f32>>",
     "%r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : "
     "(tensor<1024x1024xcomplex<f32>>, tensor<complex<f32>>) -> tensor<1024xcomplex<f32>>"},
    {"complex_dot", "%a: tensor<256x256xcomplex<f32>>", "tensor<256x256xcomplex<f32>>",
     "%r = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : "
     "(tensor<256x256xcomplex<f32>>, tensor<256x256xcomplex<f32>>) -> "
     "tensor<256x256xcomplex<f32>>"},
    {"dot_f16", "%a: tensor<256x256xf16>", "tensor<256x256xf16>",
     "%r = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<256x256xf16>, "
     "tensor<256x256xf16>) -> tensor<256x256xf16>"},
    {"dot_i32", "%a: tensor<256x256xi32>", "tensor<256x256xi32>",
     "%r = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<256x256xi32>, "
     "tensor<256x256xi32>) -> tensor<256x256xi32>"},
    {"f8_convert", "%a: tensor<1048576xf32>", "tensor<1048576xf8E4M3FN>",
     "%r = stablehlo.convert %a : (tensor<1048576xf32>) -> tensor<1048576xf8E4M3FN>"},
    {"f8_back", "%a: tensor<1048576xf8E4M3FN>", "tensor<1048576xf32>",
     "%r = stablehlo.convert %a : (tensor<1048576xf8E4M3FN>) -> tensor<1048576xf32>"},
    {"f16_add", "%a: tensor<1048576xf16>", "tensor<1048576xf16>",
     "%r = stablehlo.add %a, %a : tensor<1048576xf16>"},
    {"f64_exp", "%a: tensor<1048576xf64>", "tensor<1048576xf64>",
     "%r = stablehlo.exponential %a : tensor<1048576xf64>"},
    {"tan", "%a: tensor<1048576xf32>", "tensor<1048576xf32>",
     "%r = stablehlo.tan %a : tensor<1048576xf32>"},
    {"power", "%a: tensor<1048576xf32>", "tensor<1048576xf32>",
     "%r = stablehlo.power %a, %a : tensor<1048576xf32>"},
    {"atan2", "%a: tensor<1048576xf32>, %b: tensor<1048576xf32>", "tensor<1048576xf32>",
     "%r = stablehlo.atan2 %a, %b : tensor<1048576xf32>"},
    {"cbrt", "%a: tensor<1048576xf32>", "tensor<1048576xf32>",
     "%r = stablehlo.cbrt %a : tensor<1048576xf32>"},
    {"remainder", "%a: tensor<1048576xf32>, %b: tensor<1048576xf32>", "tensor<1048576xf32>",
     "%r = stablehlo.remainder %a, %b : tensor<1048576xf32>"},
    {"popcnt", "%a: tensor<1048576xi32>", "tensor<1048576xi32>",
     "%r = stablehlo.popcnt %a : tensor<1048576xi32>"},
    {"reduce_precision", "%a: tensor<1048576xf32>", "tensor<1048576xf32>",
     "%r = stablehlo.reduce_precision %a, format = e5m10 : tensor<1048576xf32>"},
    {"batch_norm", "%a: tensor<32x64x16x32xf32>, %s: tensor<64xf32>", "tensor<32x64x16x32xf32>",
     "%r, %m, %v = \"stablehlo.batch_norm_training\"(%a, %s, %s) <{epsilon = 0.001 : f32, "
     "feature_index = 1 : i64}> : (tensor<32x64x16x32xf32>, tensor<64xf32>, tensor<64xf32>) -> "
     "(tensor<32x64x16x32xf32>, tensor<64xf32>, tensor<64xf32>)"},
};

std::string text_of(const Row& row) {
  const std::string type = row.result;
  return "func.func @main(" + std::string(row.arguments) + ") -> " + type + " {\n" + row.body +
         "\nreturn %r : " + type + "\n}\n";
}

// Numbers in [0, 1) for floats; small ones, which are indices too, for integers. A square matrix
// gets a heavy diagonal, so that it can be factorised.
std::vector<std::byte> made_up(const Shape& shape) {
  std::vector<std::byte> bytes(shape.size_bytes());
  std::minstd_rand random(7);
  const DType type = shape.dtype();
  const bool complex = is_complex(type);
  const std::size_t width = byte_width(type) / (complex ? 2 : 1);
  const std::int64_t n = shape.rank() < 2 ? 0 : shape.dim(shape.rank() - 1);
  for (std::size_t i = 0; i * width < bytes.size(); ++i) {
    double x = static_cast<double>(random() % 4096) / 4096;
    const auto at = static_cast<std::int64_t>(i);
    if (n > 0 && n == shape.dim(shape.rank() - 2) && !complex && at / n % n == at % n)
      x += static_cast<double>(n);
    const auto put = [&](auto value) { std::memcpy(&bytes[i * width], &value, width); };
    if (type == DType::kF64 || type == DType::kC128)
      put(x);
    else if (type == DType::kBF16 || type == DType::kF16)
      put(static_cast<std::uint16_t>(devices::stablehlo::ir::encode_float(type, x)));
    else if (type == DType::kF32 || type == DType::kC64)
      put(static_cast<float>(x));
    else if (width == 1)
      put(static_cast<std::uint8_t>(random() % 64));
    else
      put(static_cast<std::uint64_t>(random() % 4096));
  }
  return bytes;
}

// One device with the program that is measured. Thread-safety: confined.
class Side {
 public:
  explicit Side(RuntimeOptions options) {
    options.threads = 1;
    Result<Runtime> made = Runtime::create(std::move(options));
    if (!made) give_up("cpu", made.error().to_string());
    runtime_ = std::make_unique<Runtime>(*std::move(made));
  }
  // And its arguments, in place of what was there.
  Status load(const std::string& text) {
    arguments_.clear();
    MILLRACE_TRY(program_, wait_blocking(runtime_->compile(Program::from_text(text, "op"))));
    for (const Shape& shape : program_.input_shapes()) {
      const std::vector<std::byte> bytes = made_up(shape);
      MILLRACE_TRY(Buffer there,
                   wait_blocking(device().put({.data = bytes.data(), .shape = shape})));
      MILLRACE_TRY_STATUS(wait_blocking(there.ready()));
      arguments_.push_back(std::move(there));
    }
    return {};
  }
  double run_ms() const {
    return 1e3 * seconds_of([&] {
             const Result<Buffers> results = wait_blocking(device().execute(program_, arguments_));
             if (!results) give_up("cpu", results.error().to_string());
             const Status done = wait_blocking((*results)[0].ready());
             if (!done) give_up("cpu", done.error().to_string());
           });
  }

 private:
  const Device& device() const { return runtime_->device(0); }
  std::unique_ptr<Runtime> runtime_;
  Executable program_;
  std::vector<Buffer> arguments_;
};

void measure(Session& session) {
  constexpr double kLimit = 10;
  const std::string path = plugin_path();
  pin_to_core(0);
  std::unique_ptr<Side> ours, peer;
  for (const Row& row : kRows) {
    const std::string name = std::string("cpu.") + row.name;
    if (!session.wants(name)) continue;
    if (path.empty()) {
      session.skip(name, kNoPlugin);
      continue;
    }
    if (peer == nullptr) {
      ours = std::make_unique<Side>(RuntimeOptions{.device = "cpu"});
      peer = std::make_unique<Side>(plugin_options());
    }
    const std::string text = text_of(row);
    if (const Status loaded = peer->load(text); !loaded) {
      session.skip(name, "XLA refuses it: " + loaded.error().message());
      continue;
    }
    if (const Status loaded = ours->load(text); !loaded) give_up("cpu", loaded.error().to_string());
    session.measure(
        {.name = name,
         .unit = "ms",
         .peer = "XLA's CPU client",
         .goal = Goal::kAtMost,
         .limit = kLimit},
        [&] { return ours->run_ms(); }, [&] { return peer->run_ms(); });
  }
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
