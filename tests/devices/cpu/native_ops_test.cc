#include "millrace/devices/cpu/compile/native_ops.h"

#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/devices/stablehlo/ir/print.h"
#include "tests/devices/cpu/definition/definition_support.h"

namespace millrace::devices::cpu::testing {
namespace {

using ::testing::HasSubstr;

// As JAX writes lax.approx_max_k, its comparator's end included.
std::string approximate(const std::string& config, const std::string& result) {
  return "func.func @largest(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) "
         "-> tensor<i1> {\n"
         "  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
         "  stablehlo.return %0 : tensor<i1>\n}\n"
         "func.func @main() -> (tensor<2x" +
         result + "xf32>, tensor<2x" + result +
         "xi32>) {\n"
         "  %x = stablehlo.constant dense<[[1.0, 4.0, 2.0, 4.0], [-1.0, -4.0, 0.0, 5.0]]> : "
         "tensor<2x4xf32>\n"
         "  %at = stablehlo.iota dim = 1 : tensor<2x4xi32>\n"
         "  %none = stablehlo.constant dense<-1> : tensor<i32>\n"
         "  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
         "  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %at, %least, %none) {called_computations "
         "= [@largest], mhlo.backend_config = {" +
         config +
         "}} : (tensor<2x4xf32>, "
         "tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x" +
         result + "xf32>, tensor<2x" + result +
         "xi32>)\n"
         "  return %0#0, %0#1 : tensor<2x" +
         result + "xf32>, tensor<2x" + result + "xi32>\n}\n";
}

TEST(NativeOpsTest, AnApproximateTopKIsAnExactOne) {
  auto module = stablehlo::text::read_text(
      approximate("aggregate_to_topk = true, is_fallback = true, recall_target = 9.5e-01 : f32, "
                  "reduction_dim = 1 : i64, top_k = 3 : i64",
                  "3"));
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  use_native_ops(*module);
  const Status verdict = stablehlo::verify::verify(*module);
  ASSERT_TRUE(verdict.has_value()) << verdict.error().to_string();
  for (const auto& run : {interpreted, planned}) {
    const auto made = run(*module, "main", {});
    ASSERT_TRUE(made.has_value()) << made.error().to_string();
    EXPECT_EQ(text_of((*made)[0]), "tensor<2x3xf32> [4, 4, 2, 5, 0, -1]");
    EXPECT_EQ(text_of((*made)[1]), "tensor<2x3xi32> [1, 3, 2, 3, 2, 0]");
  }
}

// As JAX gives it for f32 by XLA's CPU client; for the least it has no answer.
TEST(NativeOpsTest, ANaNIsTheLargestOfAnApproximateTopK) {
  for (const auto& [direction, values, places] :
       {std::tuple("GT", "tensor<2x3xf32> [nan, 4, 2, nan, nan, 5]",
                   "tensor<2x3xi32> [1, 3, 2, 0, 2, 3]"),
        std::tuple("LT", "tensor<2x3xf32> [1, 2, 4, -4, 5, nan]",
                   "tensor<2x3xi32> [0, 2, 3, 1, 3, 0]")}) {
    std::string text = approximate("reduction_dim = 1 : i64, top_k = 3 : i64", "3");
    text.replace(text.find("GT"), 2, direction);
    const std::string numbers = "[[1.0, 4.0, 2.0, 4.0], [-1.0, -4.0, 0.0, 5.0]]";
    text.replace(text.find(numbers), numbers.size(),
                 "[[1.0, 0x7FC00000, 2.0, 4.0], [0x7FC00000, -4.0, 0x7FC00000, 5.0]]");
    auto module = stablehlo::text::read_text(text);
    ASSERT_TRUE(module.has_value()) << module.error().to_string();
    use_native_ops(*module);
    const Status verdict = stablehlo::verify::verify(*module);
    ASSERT_TRUE(verdict.has_value()) << verdict.error().to_string();
    for (const auto& run : {interpreted, planned}) {
      const auto made = run(*module, "main", {});
      ASSERT_TRUE(made.has_value()) << made.error().to_string();
      EXPECT_EQ(text_of((*made)[0]), values);
      EXPECT_EQ(text_of((*made)[1]), places);
    }
  }
}

TEST(NativeOpsTest, ACompositeOfOtherTypesIsItsDecomposition) {
  auto module = stablehlo::text::read_text(
      "func.func private @f(%x: tensor<2xf32>) -> tensor<2xf64> {\n"
      "  %0 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf64>\n"
      "  return %0 : tensor<2xf64>\n}\n"
      "func.func @main() -> tensor<2xf64> {\n"
      "  %x = stablehlo.constant dense<[1.0, 4.0]> : tensor<2xf32>\n"
      "  %0 = stablehlo.composite \"chlo.erf\" %x {decomposition = @f, version = 1 : i32} : "
      "(tensor<2xf32>) -> tensor<2xf64>\n"
      "  return %0 : tensor<2xf64>\n}\n");
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  use_native_ops(*module);
  const Status verdict = stablehlo::verify::verify(*module);
  ASSERT_TRUE(verdict.has_value()) << verdict.error().to_string();
  for (const auto& run : {interpreted, planned}) {
    const auto made = run(*module, "main", {});
    ASSERT_TRUE(made.has_value()) << made.error().to_string();
    EXPECT_EQ(text_of((*made)[0]), "tensor<2xf64> [1, 4]");
  }
}

TEST(NativeOpsTest, AnApproximateTopKOfNoDimensionStays) {
  auto module = stablehlo::text::read_text(approximate("reduction_dim = 2 : i64", "3"));
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  use_native_ops(*module);
  EXPECT_THAT(ir::print(*module), HasSubstr("ApproxTopK"));
}

}  // namespace
}  // namespace millrace::devices::cpu::testing
