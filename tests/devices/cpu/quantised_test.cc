// Quantised arrays where no float stands for them: what passes their stored integers on, and what
// does not run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/devices/cpu/run_support.h"

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

TEST(Quantised, BodiesOnThemAreRefusedWithWhatHelps) {
  const auto module = read::read_text(
      "func.func @main(%a: " QUANTISED
      ", %s: tensor<!quant.uniform<i8:f32, 0.5:3>>) -> tensor<!quant.uniform<i8:f32, 0.5:3>> {\n"
      " %0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [0] : "
      "(" QUANTISED
      ", tensor<!quant.uniform<i8:f32, 0.5:3>>) -> tensor<!quant.uniform<i8:f32, 0.5:3>>\n"
      " return %0 : tensor<!quant.uniform<i8:f32, 0.5:3>>\n}\n");
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  const auto plan = Plan::create(*module, {});
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().code(), ErrorCode::kUnimplemented);
  EXPECT_THAT(
      plan.error().message(),
      ::testing::HasSubstr("2:7: stablehlo.reduce: a body on quantised elements (what would "
                           "help: stablehlo.uniform_dequantize before"));
}

}  // namespace
}  // namespace millrace::devices::cpu
