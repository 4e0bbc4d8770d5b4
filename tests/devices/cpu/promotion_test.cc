// Bodies that work in a wider type than the arrays that they combine: the arrays become of it
// first.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/devices/stablehlo/verify/verify.h"
#include "tests/devices/cpu/run_support.h"

namespace millrace::devices::cpu {
namespace {

using testing::bytes_of;
using testing::TestProgram;
using testing::values_of;

std::string add_body(const std::string& type) {
  return "({\n^bb0(%l: tensor<" + type + ">, %r: tensor<" + type +
         ">):\n %z = stablehlo.add %l, %r : tensor<" + type + ">\n stablehlo.return %z : tensor<" +
         type + ">\n})";
}
std::string main_of(const std::string& arguments, const std::string& op,
                    const std::string& result) {
  return "func.func @main(" + arguments + ") -> " + result + " {\n %0 = " + op + " -> " + result +
         "\n return %0 : " + result + "\n}\n";
}

void expect_good(const std::string& text) {
  const auto module = stablehlo::text::read_text(text);
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  const Status status = stablehlo::verify::verify(*module);
  EXPECT_TRUE(status.has_value()) << status.error().to_string();
}

TEST(Promotion, SumOfBytesInABodyOfWords) {
  const std::string text = main_of("%a: tensor<500xi8>, %s: tensor<i8>",
                                   "\"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> " +
                                       add_body("i32") + " : (tensor<500xi8>, tensor<i8>)",
                                   "tensor<i32>");
  expect_good(text);
  TestProgram program(text);
  const std::vector<std::int8_t> a(500, 100), s = {-3};
  EXPECT_EQ(values_of<std::int32_t>(program.run({bytes_of(a), bytes_of(s)})[0]),
            (std::vector<std::int32_t>{49997}));
}

TEST(Promotion, SumOfHalvesInABodyOfSingles) {
  const std::string text = main_of("%a: tensor<3000x2xbf16>, %s: tensor<f32>",
                                   "\"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> " +
                                       add_body("f32") + " : (tensor<3000x2xbf16>, tensor<f32>)",
                                   "tensor<2xf32>");
  expect_good(text);
  TestProgram program(text);
  const std::vector<std::uint16_t> a(6000, 0x3F80);  // 1
  const std::vector<float> s = {0.5F};
  // 3000 is no bf16.
  EXPECT_EQ(values_of<float>(program.run({bytes_of(a), bytes_of(s)})[0]),
            (std::vector<float>{3000.5F, 3000.5F}));
}

TEST(Promotion, SumOfComplexNumbersInAWiderBody) {
  const std::string text =
      main_of("%a: tensor<3xcomplex<f32>>, %s: tensor<complex<f32>>",
              "\"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 0>}> " +
                  add_body("complex<f64>") + " : (tensor<3xcomplex<f32>>, tensor<complex<f32>>)",
              "tensor<complex<f64>>");
  expect_good(text);
  TestProgram program(text);
  const std::vector<float> a = {1, 2, 3, 4, 5, 6}, s = {0.5F, 0.25F};
  EXPECT_EQ(values_of<double>(program.run({bytes_of(a), bytes_of(s)})[0]),
            (std::vector<double>{9.5, 12.25}));
}

TEST(Promotion, WindowsInAWiderBody) {
  const std::string text =
      main_of("%a: tensor<4xf32>, %s: tensor<f32>",
              "\"stablehlo.reduce_window\"(%a, %s) <{window_dimensions = array<i64: 2>}> " +
                  add_body("f64") + " : (tensor<4xf32>, tensor<f32>)",
              "tensor<3xf64>");
  expect_good(text);
  TestProgram program(text);
  const std::vector<float> a = {16777216.0F, 1.0F, 2.0F, 3.0F}, s = {0};
  EXPECT_EQ(values_of<double>(program.run({bytes_of(a), bytes_of(s)})[0]),
            (std::vector<double>{16777217.0, 3.0, 5.0}));
}

TEST(Promotion, ScatterInAWiderBody) {
  const std::string text =
      main_of("%a: tensor<3xf32>, %i: tensor<2x1xi16>, %u: tensor<2xf32>",
              "\"stablehlo.scatter\"(%a, %i, %u) <{scatter_dimension_numbers = "
              "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
              "index_vector_dim = 1>}> " +
                  add_body("f64") + " : (tensor<3xf32>, tensor<2x1xi16>, tensor<2xf32>)",
              "tensor<3xf64>");
  expect_good(text);
  TestProgram program(text);
  const std::vector<float> a = {1, 2, 16777216.0F}, u = {1, 1};
  const std::vector<std::int16_t> i = {2, 2};
  EXPECT_EQ(values_of<double>(program.run({bytes_of(a), bytes_of(i), bytes_of(u)})[0]),
            (std::vector<double>{1, 2, 16777218.0}));
}

TEST(Promotion, SelectAndScatterInAWiderBody) {
  const std::string text = main_of(
      "%a: tensor<4xf32>, %b: tensor<2xf32>, %s: tensor<f32>",
      "\"stablehlo.select_and_scatter\"(%a, %b, %s) <{window_dimensions = array<i64: 3>, "
      "window_strides = array<i64: 1>}> ({\n^bb0(%l: tensor<f32>, %r: tensor<f32>):\n %z = "
      "stablehlo.compare GE, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>\n stablehlo.return "
      "%z : tensor<i1>\n}, " +
          add_body("f64").substr(1) + " : (tensor<4xf32>, tensor<2xf32>, tensor<f32>)",
      "tensor<4xf64>");
  expect_good(text);
  TestProgram program(text);
  const std::vector<float> a = {1, 9, 2, 3}, b = {16777216.0F, 1}, s = {0};
  EXPECT_EQ(values_of<double>(program.run({bytes_of(a), bytes_of(b), bytes_of(s)})[0]),
            (std::vector<double>{0, 16777217.0, 0, 0}));
}

TEST(Promotion, AllReduceOfOneProcessInAWiderBody) {
  const std::string text =
      main_of("%a: tensor<2xbf16>",
              "\"stablehlo.all_reduce\"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}> " +
                  add_body("f32") + " : (tensor<2xbf16>)",
              "tensor<2xf32>");
  expect_good(text);
  TestProgram program(text);
  const std::vector<std::uint16_t> a = {0x3F80, 0x4000};
  EXPECT_EQ(values_of<float>(program.run({bytes_of(a)})[0]), (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace millrace::devices::cpu
