// Quantised arrays where the stored integers count: what passes them on, and bodies on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/devices/cpu/run_support.h"
#include "tests/support/interpreter.h"

namespace millrace::devices::cpu {
namespace {

using testing::bytes_of;
using testing::TestProgram;
using testing::values_of;

#define QUANTISED "tensor<4x!quant.uniform<i8:f32, 0.5:3>>"

TEST(Quantised, SelectPassesTheStoredIntegersOn) {
  TestProgram program("func.func @main(%p: tensor<4xi1>, %a: " QUANTISED ", %b: " QUANTISED
                      ") -> " QUANTISED
                      "{\n %0 = stablehlo.select %p, %a, %b : (tensor<4xi1>, " QUANTISED
                      ", " QUANTISED ") -> " QUANTISED "\n return %0 : " QUANTISED "\n}\n");
  const std::vector<std::uint8_t> p = {1, 0, 0, 1};
  const std::vector<std::int8_t> a = {-128, 1, 2, 127}, b = {10, -11, 12, 13};
  EXPECT_EQ(values_of<std::int8_t>(program.run({bytes_of(p), bytes_of(a), bytes_of(b)})[0]),
            (std::vector<std::int8_t>{-128, -11, 12, 127}));
}

TEST(Quantised, BitcastGivesTheStoredIntegers) {
  TestProgram program("func.func @main(%a: " QUANTISED
                      ") -> tensor<4xui8> {\n %0 = \"stablehlo.bitcast_convert\"(%a) : (" QUANTISED
                      ") -> tensor<4xui8>\n return %0 : tensor<4xui8>\n}\n");
  const std::vector<std::int8_t> a = {-128, -1, 2, 127};
  EXPECT_EQ(values_of<std::uint8_t>(program.run({bytes_of(a)})[0]),
            (std::vector<std::uint8_t>{128, 255, 2, 127}));
}

// By the numbers that the integers stand for. Enough of them that threads would share the rows.
TEST(Quantised, TopKHasTheScalesOfItsRows) {
  const std::string element = "!quant.uniform<i8:f32:1, {0.5, 1.0:8}>>",
                    from = "tensor<4x2x4096x" + element,
                    to = "(tensor<4x2x3x" + element + ", tensor<4x2x3xi32>)";
  TestProgram program("func.func @main(%a: " + from + ") -> " + to + " {\n" +
                      "%v, %r = chlo.top_k(%a, k = 3) : " + from + " -> " + to +
                      "\nreturn %v, %r : tensor<4x2x3x" + element + ", tensor<4x2x3xi32>\n}\n");
  std::vector<std::int8_t> a(4UL * 2 * 4096), want_values;
  std::vector<std::int32_t> want_places;
  for (int row = 0; row < 8; ++row) {
    for (int k = 0; k < 3; ++k) {
      const int place = 1000 * (k + 1) + row;
      a[static_cast<std::size_t>(4096 * row + place)] = static_cast<std::int8_t>(100 - k);
      want_values.push_back(static_cast<std::int8_t>(100 - k));
      want_places.push_back(place);
    }
  }
  const auto results = program.run({bytes_of(a)});
  EXPECT_EQ(values_of<std::int8_t>(results[0]), want_values);
  EXPECT_EQ(values_of<std::int32_t>(results[1]), want_places);
}

// What is moved takes its scales along, wherever their axis goes.
TEST(Quantised, ScalesPerAxisGoWhereTheirAxisGoes) {
  const auto real = [](const std::string& op, const std::string& axis_and_scales,
                       const std::string& shape, const std::string& extents) {
    const std::string from = "tensor<2x3x!quant.uniform<i8:f32:1, {0.5, 1.0:8, 2.0:3}>>";
    const std::string to = "tensor<" + extents + "!quant.uniform<i8:f32:" + axis_and_scales + ">>";
    TestProgram program("func.func @main(%a: " + from + ") -> tensor<" + shape +
                        "xf32> {\n %0 = " + op + " : (" + from + ") -> " + to +
                        "\n %1 = stablehlo.uniform_dequantize %0 : (" + to + ") -> tensor<" +
                        shape + "xf32>\n return %1 : tensor<" + shape + "xf32>\n}\n");
    // Stands for 1 2 4 and -1 0 -2.
    return values_of<float>(
        program.run({bytes_of(std::vector<std::int8_t>{2, 10, 5, -2, 8, 2})})[0]);
  };
  const std::string three = ", {0.5, 1.0:8, 2.0:3}";
  EXPECT_EQ(real("stablehlo.transpose %a, dims = [1, 0]", "0" + three, "3x2", "3x2x"),
            (std::vector<float>{1, -1, 2, 0, 4, -2}));
  EXPECT_EQ(real("stablehlo.broadcast_in_dim %a, dims = [0, 2]", "2" + three, "2x2x3", "2x2x3x"),
            (std::vector<float>{1, 2, 4, 1, 2, 4, -1, 0, -2, -1, 0, -2}));
  EXPECT_EQ(real("stablehlo.broadcast_in_dim %a, dims = [1, 0]", "0" + three, "3x2", "3x2x"),
            (std::vector<float>{1, -1, 2, 0, 4, -2}));
  EXPECT_EQ(real("stablehlo.reshape %a", "2" + three, "2x1x3", "2x1x3x"),
            (std::vector<float>{1, 2, 4, -1, 0, -2}));
}

TEST(Quantised, TheOneScaleOfAnAxisIsBroadcastWithIt) {
  const std::string from = "tensor<2x1x!quant.uniform<i8:f32:1, {0.5:1}>>";
  const std::string to = "tensor<2x3x!quant.uniform<i8:f32:1, {0.5:1, 0.5:1, 0.5:1}>>";
  TestProgram program("func.func @main(%a: " + from +
                      ") -> tensor<2x3xf32> {\n %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] "
                      ": (" +
                      from + ") -> " + to + "\n %1 = stablehlo.uniform_dequantize %0 : (" + to +
                      ") -> tensor<2x3xf32>\n return %1 : tensor<2x3xf32>\n}\n");
  EXPECT_EQ(values_of<float>(program.run({bytes_of(std::vector<std::int8_t>{3, 7})})[0]),
            (std::vector<float>{1, 1, 1, 3, 3, 3}));
}

#define SCALAR "tensor<!quant.uniform<i8:f32, 0.5:3>>"
#define ADD                                                                        \
  "{\n^bb0(%x: " SCALAR ", %y: " SCALAR "):\n %2 = stablehlo.add %x, %y : " SCALAR \
  "\n stablehlo.return %2 : " SCALAR "\n }"

using Bytes = std::vector<std::int8_t>;

// What `op` makes of a and s (3 stands for 0), as stored.
Bytes made(const std::string& op, const std::string& type, const Bytes& a,
           const std::string& more = "", const std::vector<std::vector<std::byte>>& others = {}) {
  TestProgram program("func.func @main(%a: tensor<" + std::to_string(a.size()) +
                      "x!quant.uniform<i8:f32, 0.5:3>>, %s: " SCALAR + more + ") -> " + type +
                      " {\n %0 = " + op + "\n return %0 : " + type + "\n}\n");
  std::vector<std::vector<std::byte>> inputs = {bytes_of(a), bytes_of(Bytes{3})};
  inputs.insert(inputs.end(), others.begin(), others.end());
  return values_of<std::int8_t>(program.run(inputs)[0]);
}

// 1 + 2 + 3 - 1; and each step rounds: 62 + 62 ends at 62, of which 10 are taken.
TEST(Quantised, ReduceAddsWhatTheyStandFor) {
  const std::string sum =
      "stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [0] : (" QUANTISED
      ", " SCALAR ") -> " SCALAR;
  EXPECT_EQ(made(sum, SCALAR, {5, 7, 9, 1}), Bytes{13});
  EXPECT_EQ(made(sum, SCALAR, {127, 127, -17, 3}), Bytes{107});
}

TEST(Quantised, ReduceOfABodyWithOtherTypesInside) {
  // Twice the sum, by way of floats: ((0 + 1) * 2 + 2) * 2.
  EXPECT_EQ(made("\"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> ({\n^bb0(%x: " SCALAR
                 ", %y: " SCALAR "):\n"
                 " %2 = stablehlo.uniform_dequantize %x : (" SCALAR ") -> tensor<f32>\n"
                 " %3 = stablehlo.uniform_dequantize %y : (" SCALAR ") -> tensor<f32>\n"
                 " %4 = stablehlo.add %2, %3 : tensor<f32>\n"
                 " %5 = stablehlo.add %4, %4 : tensor<f32>\n"
                 " %6 = stablehlo.uniform_quantize %5 : (tensor<f32>) -> " SCALAR "\n"
                 " stablehlo.return %6 : " SCALAR
                 "\n }) : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, " SCALAR ") -> " SCALAR,
                 SCALAR, {5, 7}),
            Bytes{19});
}

TEST(Quantised, ReduceWindowPadsWithTheInitialValue) {
  EXPECT_EQ(made("\"stablehlo.reduce_window\"(%a, %s) <{window_dimensions = array<i64: 2>, padding "
                 "= dense<[[1, 0]]> : tensor<1x2xi64>}> (" ADD ") : (" QUANTISED ", " SCALAR
                 ") -> " QUANTISED,
                 QUANTISED, {5, 7, 9, 1}),
            (Bytes{5, 9, 13, 7}));
}

TEST(Quantised, SortComparesWhatTheyStandFor) {
  // The negative of a number is not that of its stored integer: 3 stands for 0.
  EXPECT_EQ(made("\"stablehlo.sort\"(%a) <{dimension = 0 : i64}> ({\n^bb0(%x: " SCALAR
                 ", %y: " SCALAR "):\n"
                 " %2 = stablehlo.multiply %x, %x : " SCALAR "\n"
                 " %3 = stablehlo.multiply %y, %y : " SCALAR "\n"
                 " %4 = stablehlo.compare LT, %2, %3 : (" SCALAR ", " SCALAR ") -> tensor<i1>\n"
                 " stablehlo.return %4 : tensor<i1>\n }) : (" QUANTISED ") -> " QUANTISED,
                 QUANTISED, {0, 9, 4, 5}),
            (Bytes{4, 5, 0, 9}));
}

TEST(Quantised, SortOfUnsignedStorage) {
#define UNSIGNED "!quant.uniform<u8:f32, 0.5:128>"
  TestProgram program(
      "func.func @main(%a: tensor<3x" UNSIGNED ">) -> tensor<3x" UNSIGNED
      "> {\n"
      " %0 = \"stablehlo.sort\"(%a) <{dimension = 0 : i64}> ({\n"
      "^bb0(%x: tensor<" UNSIGNED ">, %y: tensor<" UNSIGNED
      ">):\n"
      " %2 = stablehlo.compare GT, %x, %y : (tensor<" UNSIGNED ">, tensor<" UNSIGNED
      ">) -> tensor<i1>\n stablehlo.return %2 : tensor<i1>\n }) : (tensor<3x" UNSIGNED
      ">) -> tensor<3x" UNSIGNED ">\n return %0 : tensor<3x" UNSIGNED ">\n}\n");
  const std::vector<std::uint8_t> a = {0, 200, 100};
  EXPECT_EQ(values_of<std::uint8_t>(program.run({bytes_of(a)})[0]),
            (std::vector<std::uint8_t>{200, 100, 0}));
}

TEST(Quantised, SelectAndScatterGivesToTheLargest) {
  EXPECT_EQ(made("\"stablehlo.select_and_scatter\"(%a, %u, %s) <{window_dimensions = array<i64: "
                 "2>, window_strides = array<i64: 2>}> ({\n^bb0(%x: " SCALAR ", %y: " SCALAR
                 "):\n %2 = stablehlo.compare GE, %x, %y : (" SCALAR ", " SCALAR
                 ") -> tensor<i1>\n stablehlo.return %2 : tensor<i1>\n }, " ADD ") : (" QUANTISED
                 ", tensor<2x!quant.uniform<i8:f32, 0.5:3>>, " SCALAR ") -> " QUANTISED,
                 QUANTISED, {5, 7, 9, 1}, ", %u: tensor<2x!quant.uniform<i8:f32, 0.5:3>>",
                 {bytes_of(Bytes{13, 23})}),
            (Bytes{3, 13, 23, 3}));
}

TEST(Quantised, ScatterAddsTwice) {
  EXPECT_EQ(made("\"stablehlo.scatter\"(%a, %i, %u) <{scatter_dimension_numbers = "
                 "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = "
                 "[0], index_vector_dim = 1>}> (" ADD ") : (" QUANTISED
                 ", tensor<2x1xi32>, tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> " QUANTISED,
                 QUANTISED, {5, 7, 9, 1},
                 ", %i: tensor<2x1xi32>, %u: tensor<2x!quant.uniform<i8:f32, 0.5:3>>",
                 {bytes_of(std::vector<std::int32_t>{2, 2}), bytes_of(Bytes{5, 7})}),
            (Bytes{5, 7, 15, 1}));
}

// Op by op too; and a selection inside of a body: the larger in size, whatever its sign.
TEST(Quantised, TheEvaluatorSelectsAndReduces) {
  const auto module = stablehlo::text::read_text(
      "func.func @main(%p: tensor<4xi1>, %a: " QUANTISED ", %b: " QUANTISED ", %s: " SCALAR
      ") -> (" QUANTISED ", " SCALAR
      ") {\n"
      " %0 = stablehlo.select %p, %a, %b : (tensor<4xi1>, " QUANTISED ", " QUANTISED
      ") -> " QUANTISED
      "\n"
      " %1 = \"stablehlo.reduce\"(%0, %s) <{dimensions = array<i64: 0>}> ({\n^bb0(%x: " SCALAR
      ", %y: " SCALAR
      "):\n"
      " %2 = stablehlo.abs %x : " SCALAR "\n %3 = stablehlo.abs %y : " SCALAR
      "\n"
      " %4 = stablehlo.compare GT, %2, %3 : (" SCALAR ", " SCALAR
      ") -> tensor<i1>\n"
      " %5 = stablehlo.select %4, %x, %y : (tensor<i1>, " SCALAR ", " SCALAR ") -> " SCALAR
      "\n stablehlo.return %5 : " SCALAR "\n }) : (" QUANTISED ", " SCALAR ") -> " SCALAR
      "\n return %0, %1 : " QUANTISED ", " SCALAR "\n}\n");
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  const std::vector<std::uint8_t> p = {1, 0, 0, 1};
  const auto made = testing::interpret(*module, *module->find("main"),
                                       {{Shape(DType::kI1, {4}), bytes_of(p)},
                                        {Shape(DType::kI8, {4}), bytes_of(Bytes{-20, 1, 2, 20})},
                                        {Shape(DType::kI8, {4}), bytes_of(Bytes{10, -11, 12, 13})},
                                        {Shape(DType::kI8, {}), bytes_of(Bytes{3})}});
  ASSERT_TRUE(made.has_value()) << made.error().to_string();
  EXPECT_EQ(values_of<std::int8_t>((*made)[0].bytes), (Bytes{-20, -11, 12, 20}));
  EXPECT_EQ(values_of<std::int8_t>((*made)[1].bytes), Bytes{-20});
}

TEST(Quantised, BodiesOnOtherElementsThanTheArraysAreRefusedWithWhatHelps) {
  const auto module = stablehlo::text::read_text(
      "func.func @main(%a: " QUANTISED ", %s: " SCALAR
      ") -> tensor<!quant.uniform<i16:f32, 0.25>> {\n"
      " %0 = \"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> ({\n"
      "^bb0(%x: tensor<!quant.uniform<i16:f32, 0.25>>, %y: tensor<!quant.uniform<i16:f32, "
      "0.25>>):\n"
      " stablehlo.return %x : tensor<!quant.uniform<i16:f32, 0.25>>\n }) : (" QUANTISED ", " SCALAR
      ") -> tensor<!quant.uniform<i16:f32, 0.25>>\n"
      " return %0 : tensor<!quant.uniform<i16:f32, 0.25>>\n}\n");
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  const auto plan = make_plan(*module, {});
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().code(), ErrorCode::kUnimplemented);
  EXPECT_THAT(plan.error().message(),
              ::testing::HasSubstr("2:7: stablehlo.reduce: a body on other quantised elements than "
                                   "those of the arrays is not supported"));
}

}  // namespace
}  // namespace millrace::devices::cpu
