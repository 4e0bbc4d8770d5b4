// Rows of views and many operations: what a plan makes of them is right, and is made in a time that
// grows with them and not with their square.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/devices/cpu/run_support.h"
#include "tests/support/interpreter.h"

namespace millrace::devices::cpu {
namespace {

using testing::Bytes;
using testing::bytes_of;
using testing::TestProgram;

// What the definitions of its operations make of the same inputs.
void expect_as_defined(const std::string& text, const std::vector<Bytes>& inputs) {
  TestProgram p(text);
  const auto module = stablehlo::text::read_text(text);
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  std::vector<testing::Array> arrays;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    arrays.push_back({p.plan().inputs()[i], inputs[i]});
  const auto want = testing::interpret(*module, module->functions().front(), std::move(arrays));
  ASSERT_TRUE(want.has_value()) << want.error().to_string();
  const auto got = p.run(inputs);
  ASSERT_EQ(got.size(), want->size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], (*want)[i].bytes) << text;
}

Bytes numbers(std::int32_t count) {
  std::vector<std::int32_t> v;
  for (std::int32_t i = 0; i < count; ++i) v.push_back(i * 7 + 1);
  return bytes_of(v);
}

TEST(PlanViewsTest, RowsOfEqualViewsAreTheirComposition) {
  expect_as_defined(
      R"(func.func @main(%x: tensor<12x10xi32>) -> (tensor<4x2xi32>, tensor<1x0xi32>) {
    %0 = stablehlo.slice %x [1:12:2, 1:10] : (tensor<12x10xi32>) -> tensor<6x9xi32>
    %1 = stablehlo.slice %0 [1:5, 2:9:3] : (tensor<6x9xi32>) -> tensor<4x3xi32>
    %2 = stablehlo.slice %1 [0:4, 1:3] : (tensor<4x3xi32>) -> tensor<4x2xi32>
    %3 = stablehlo.slice %1 [2:3:4611686018427387904, 3:3] : (tensor<4x3xi32>) -> tensor<1x0xi32>
    %4 = stablehlo.negate %2 : tensor<4x2xi32>
    return %4, %3 : tensor<4x2xi32>, tensor<1x0xi32>
  })",
      {numbers(120)});
  expect_as_defined(
      R"(func.func @main(%x: tensor<3x4x5xi32>) -> (tensor<4x5x3xi32>, tensor<3x4x5xi32>) {
    %0 = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<3x4x5xi32>) -> tensor<5x3x4xi32>
    %1 = stablehlo.transpose %0, dims = [2, 0, 1] : (tensor<5x3x4xi32>) -> tensor<4x5x3xi32>
    %2 = stablehlo.transpose %1, dims = [2, 0, 1] : (tensor<4x5x3xi32>) -> tensor<3x4x5xi32>
    return %1, %2 : tensor<4x5x3xi32>, tensor<3x4x5xi32>
  })",
      {numbers(60)});
  expect_as_defined(
      R"(func.func @main(%x: tensor<3x4x5xi32>) -> (tensor<3x4x5xi32>, tensor<3x4x5xi32>) {
    %0 = stablehlo.reverse %x, dims = [0, 1] : tensor<3x4x5xi32>
    %1 = stablehlo.reverse %0, dims = [1, 2] : tensor<3x4x5xi32>
    %2 = stablehlo.reverse %1, dims = [2, 0] : tensor<3x4x5xi32>
    %3 = stablehlo.negate %1 : tensor<3x4x5xi32>
    return %3, %2 : tensor<3x4x5xi32>, tensor<3x4x5xi32>
  })",
      {numbers(60)});
}

// The loop reads the initial value of a sum when it has written its other results.
TEST(PlanViewsTest, AnInitialValueIsReadFromTheArrayThatTheLoopReads) {
  expect_as_defined(
      R"(func.func @main(%x: tensor<4x4xi32>) -> (tensor<4x4xi32>, tensor<4xi32>) {
    %0 = stablehlo.dot %x, %x : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
    %1 = stablehlo.negate %0 : tensor<4x4xi32>
    %2 = stablehlo.slice %0 [0:1, 0:1] : (tensor<4x4xi32>) -> tensor<1x1xi32>
    %3 = stablehlo.reshape %2 : (tensor<1x1xi32>) -> tensor<i32>
    %4 = stablehlo.reduce(%1 init: %3) applies stablehlo.add across dimensions = [0] : (tensor<4x4xi32>, tensor<i32>) -> tensor<4xi32>
    %5 = stablehlo.dot %1, %1 : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
    return %5, %4 : tensor<4x4xi32>, tensor<4xi32>
  })",
      {numbers(16)});
}

// The layers of a network and their gradients: each value of the way there is read on the way back.
TEST(PlanViewsTest, LayersAndTheirGradientsAreAsDefined) {
  std::string text = "func.func @main(%x0: tensor<8xi32>, %w: tensor<8xi32>) -> tensor<8xi32> {\n";
  constexpr int kLayers = 40;
  const auto op = [&](const char* to, int i, const std::string& what) {
    text += std::string(to) + std::to_string(i) + " = stablehlo." + what + "\n";
  };
  const auto n = [](const char* name, int i) { return name + std::to_string(i); };
  for (int i = 0; i < kLayers; ++i) {
    op("%d", i, "reverse " + n("%x", i) + ", dims = [0] : tensor<8xi32>");
    op("%s", i,
       "concatenate " + n("%d", i) +
           ", %w, dim = 0 : (tensor<8xi32>, tensor<8xi32>) -> tensor<16xi32>");
    op("%c", i, "slice " + n("%s", i) + " [4:12] : (tensor<16xi32>) -> tensor<8xi32>");
    op("%t", i, "multiply " + n("%c", i) + ", " + n("%d", i) + " : tensor<8xi32>");
    op("%x", i + 1, "add " + n("%t", i) + ", " + n("%x", i) + " : tensor<8xi32>");
  }
  op("%g", kLayers, "multiply " + n("%x", kLayers) + ", " + n("%x", kLayers) + " : tensor<8xi32>");
  for (int i = kLayers - 1; i >= 0; --i) {
    op("%a", i, "multiply " + n("%g", i + 1) + ", " + n("%t", i) + " : tensor<8xi32>");
    op("%q", i,
       "concatenate " + n("%a", i) +
           ", %w, dim = 0 : (tensor<8xi32>, tensor<8xi32>) -> tensor<16xi32>");
    op("%b", i, "slice " + n("%q", i) + " [2:10] : (tensor<16xi32>) -> tensor<8xi32>");
    op("%g", i, "add " + n("%b", i) + ", " + n("%g", i + 1) + " : tensor<8xi32>");
  }
  expect_as_defined(text + "return %g0 : tensor<8xi32>\n}", {numbers(8), numbers(8)});
}

}  // namespace
}  // namespace millrace::devices::cpu
