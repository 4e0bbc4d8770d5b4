// Bodies that read values of their surroundings: scalars and arrays, in every operation with a
// body, nested, and by way of the written forms. Expected values by hand.
#include <cstring>
#include <string>
#include <vector>

#include "millrace/devices/stablehlo/bytecode/read_bytecode.h"
#include "millrace/devices/stablehlo/bytecode/write_bytecode.h"
#include "millrace/devices/stablehlo/ir/print.h"
#include "tests/devices/cpu/definition/definition_support.h"

namespace millrace::devices::cpu::testing {
namespace {

Array array_of(std::vector<std::int64_t> dims, const std::vector<float>& values) {
  Array a{Shape(DType::kF32, dims), {}};
  a.bytes.resize(values.size() * sizeof(float));
  std::memcpy(a.bytes.data(), values.data(), a.bytes.size());
  return a;
}

void expect_values(const ir::Module& module, const Arrays& inputs, const Array& want) {
  const auto slow = interpreted(module, "main", inputs);
  ASSERT_TRUE(slow.has_value()) << slow.error().to_string();
  EXPECT_EQ(difference(*slow, {want}), "") << "by the interpreter";
  const auto fast = planned(module, "main", inputs);
  ASSERT_TRUE(fast.has_value()) << fast.error().to_string();
  EXPECT_EQ(difference(*fast, {want}), "") << "by the planner";
}

// @main gets %x = [1, 2, 3, 4], %k = 10 and %v = [[5, 6]], and returns %r.
void expect_result(const std::string& type, const std::string& body, const Array& want) {
  const std::string text =
      "func.func @main(%x: tensor<4xf32>, %k: tensor<f32>, %v: tensor<1x2xf32>) -> " + type +
      " {\n%zero = stablehlo.constant dense<0.0> : tensor<f32>\n" + body + "\nreturn %r : " + type +
      "\n}\n";
  const Arrays inputs = {array_of({4}, {1, 2, 3, 4}), array_of({}, {10}), array_of({1, 2}, {5, 6})};
  const auto module = stablehlo::text::read_text(text);
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  const Status verdict = stablehlo::verify::verify(*module);
  ASSERT_TRUE(verdict.has_value()) << verdict.error().to_string();
  expect_values(*module, inputs, want);
  const auto artifact =
      stablehlo::bytecode::write_bytecode(*module, stablehlo::bytecode::kNewestVersion);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  const auto again = stablehlo::bytecode::read_bytecode(*artifact);
  ASSERT_TRUE(again.has_value()) << again.error().to_string();
  EXPECT_EQ(ir::print(*again), ir::print(*module));
  expect_values(*again, inputs, want);
}

TEST(CapturesTest, AReductionReadsAScalar) {
  expect_result("tensor<f32>", R"(
%r = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0>}> ({
^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %0 = stablehlo.multiply %b, %k : tensor<f32>
  %1 = stablehlo.add %a, %0 : tensor<f32>
  "stablehlo.return"(%1) : (tensor<f32>) -> ()
}) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>)",
                array_of({}, {100}));
}

TEST(CapturesTest, AReductionInsideOfABodyReadsAnArrayAndAnOuterArgument) {
  expect_result("tensor<4xf32>", R"(
%r = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
^bb0(%a: tensor<f32>):
  %0 = "stablehlo.reduce"(%v, %zero) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %1 = stablehlo.multiply %c, %a : tensor<f32>
    %2 = stablehlo.add %b, %1 : tensor<f32>
    %3 = stablehlo.add %2, %k : tensor<f32>
    "stablehlo.return"(%3) : (tensor<f32>) -> ()
  }) : (tensor<1x2xf32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%0) : (tensor<f32>) -> ()
}) : (tensor<4xf32>) -> tensor<4xf32>)",
                array_of({4}, {31, 42, 53, 64}));
}

TEST(CapturesTest, AWindowReadsAScalar) {
  expect_result("tensor<3xf32>", R"(
%r = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2>}> ({
^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %0 = stablehlo.add %a, %b : tensor<f32>
  %1 = stablehlo.add %0, %k : tensor<f32>
  "stablehlo.return"(%1) : (tensor<f32>) -> ()
}) : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>)",
                array_of({3}, {23, 25, 27}));
}

// By the distance from 2.5 times a tenth of k: 2 and 3 are as near, and the sort is stable.
TEST(CapturesTest, ASortReadsAScalar) {
  expect_result("tensor<4xf32>", R"(
%q = stablehlo.constant dense<0.25> : tensor<f32>
%m = stablehlo.multiply %k, %q : tensor<f32>
%r = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %0 = stablehlo.subtract %a, %m : tensor<f32>
  %1 = stablehlo.subtract %b, %m : tensor<f32>
  %2 = stablehlo.abs %0 : tensor<f32>
  %3 = stablehlo.abs %1 : tensor<f32>
  %4 = stablehlo.compare LT, %2, %3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "stablehlo.return"(%4) : (tensor<i1>) -> ()
}) : (tensor<4xf32>) -> tensor<4xf32>)",
                array_of({4}, {2, 3, 1, 4}));
}

TEST(CapturesTest, AScatterReadsAScalar) {
  expect_result("tensor<4xf32>", R"(
%at = stablehlo.constant dense<[[2], [2]]> : tensor<2x1xi32>
%u = stablehlo.reshape %v : (tensor<1x2xf32>) -> tensor<2xf32>
%r = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
    inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %0 = stablehlo.multiply %b, %k : tensor<f32>
  %1 = stablehlo.add %a, %0 : tensor<f32>
  "stablehlo.return"(%1) : (tensor<f32>) -> ()
}) : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>)",
                array_of({4}, {1, 2, 113, 4}));
}

// The two bodies read different values: the window's element that is nearer to k / 10 + 1 wins.
TEST(CapturesTest, BothBodiesOfASelectAndScatterReadValues) {
  expect_result("tensor<4xf32>", R"(
%u = stablehlo.reshape %v : (tensor<1x2xf32>) -> tensor<2xf32>
%two = stablehlo.constant dense<2.0> : tensor<f32>
%near = stablehlo.remainder %k, %two : tensor<f32>
%r = "stablehlo.select_and_scatter"(%x, %u, %zero) <{window_dimensions = array<i64: 2>,
    window_strides = array<i64: 2>}> ({
^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %0 = stablehlo.add %b, %near : tensor<f32>
  %1 = stablehlo.compare GE, %a, %0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "stablehlo.return"(%1) : (tensor<i1>) -> ()
}, {
^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %0 = stablehlo.multiply %b, %k : tensor<f32>
  %1 = stablehlo.add %a, %0 : tensor<f32>
  "stablehlo.return"(%1) : (tensor<f32>) -> ()
}) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>)",
                array_of({4}, {0, 50, 0, 60}));
}

// In a loop the value that is read is another one in each round.
TEST(CapturesTest, AReductionInALoopReadsWhatIsCarried) {
  expect_result("tensor<f32>", R"(
%one = stablehlo.constant dense<1.0> : tensor<f32>
%three = stablehlo.constant dense<3.0> : tensor<f32>
%w:2 = "stablehlo.while"(%one, %zero) ({
^bb0(%i: tensor<f32>, %s: tensor<f32>):
  %0 = stablehlo.compare LT, %i, %three : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "stablehlo.return"(%0) : (tensor<i1>) -> ()
}, {
^bb0(%i: tensor<f32>, %s: tensor<f32>):
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %b, %i : tensor<f32>
    %2 = stablehlo.add %a, %1 : tensor<f32>
    "stablehlo.return"(%2) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.add %i, %one : tensor<f32>
  "stablehlo.return"(%3, %0) : (tensor<f32>, tensor<f32>) -> ()
}) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
%r = stablehlo.add %w#1, %zero : tensor<f32>)",
                array_of({}, {30}));
}

}  // namespace
}  // namespace millrace::devices::cpu::testing
