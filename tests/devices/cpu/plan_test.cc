#include "millrace/devices/cpu/compile/make_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "tests/devices/cpu/run_support.h"

namespace millrace::devices::cpu {
namespace {

using testing::bytes_of;
using testing::count_steps;
using testing::iota;
using testing::plan_error;
using testing::TestProgram;
using testing::values_of;

TEST(PlanTest, ElementwiseChainWithBroadcastsIsOneLoop) {
  TestProgram p(R"(func.func @main(%x: tensor<64x10xf32>, %b: tensor<10xf32>) -> tensor<64x10xf32> {
    %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<10xf32>) -> tensor<64x10xf32>
    %1 = stablehlo.add %x, %0 : tensor<64x10xf32>
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<64x10xf32>
    %3 = stablehlo.maximum %1, %2 : tensor<64x10xf32>
    return %3 : tensor<64x10xf32>
  })");
  EXPECT_EQ(p.step_names(), (std::vector<std::string>{"fused loop of 2"}));
  const auto x = iota(640), b = iota(10, 0.5f);
  const auto y = values_of<float>(p.run({bytes_of(x), bytes_of(b)})[0]);
  for (std::size_t i = 0; i < 640; ++i) EXPECT_EQ(y[i], std::max(x[i] + b[i % 10], 0.0f));
}

TEST(PlanTest, WhatWritesNothingDoesNothingHoweverManyRowsItHas) {
  TestProgram p(
      R"(func.func @main(%a: tensor<2147483648x0xi32>, %b: tensor<0x0xi32>) -> (tensor<2147483648x0xi32>, tensor<2147483648x0xi32>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2147483648x0xi32>, tensor<0x0xi32>) -> tensor<2147483648x0xi32>
    %1 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %2 = stablehlo.compare LT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }) : (tensor<2147483648x0xi32>) -> tensor<2147483648x0xi32>
    return %0, %1 : tensor<2147483648x0xi32>, tensor<2147483648x0xi32>
  })");
  EXPECT_THAT(p.step_names(),
              ::testing::UnorderedElementsAre("stablehlo.dot_general of no elements",
                                              "stablehlo.sort of no elements"));
  for (const auto& made : p.run({{}, {}})) EXPECT_TRUE(made.empty());
}

// The type has no kernel of its own; the list of its rows would not fit in 64 bits.
TEST(PlanTest, WhatWritesNothingByItsDefinitionDoesNothingEither) {
  TestProgram p(
      R"(func.func @main(%a: tensor<4611686018427387904x0xf8E4M3FN>, %b: tensor<0x0xf8E4M3FN>) -> tensor<4611686018427387904x0xf8E4M3FN> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4611686018427387904x0xf8E4M3FN>, tensor<0x0xf8E4M3FN>) -> tensor<4611686018427387904x0xf8E4M3FN>
    return %0 : tensor<4611686018427387904x0xf8E4M3FN>
  })");
  EXPECT_EQ(p.step_names(), (std::vector<std::string>{"stablehlo.dot_general of no elements"}));
  EXPECT_TRUE(p.run({{}, {}})[0].empty());
}

TEST(PlanTest, LoopThatFeedsItselfThroughAReductionIsSplit) {
  // softmax: the division needs the whole sum.
  TestProgram p(R"(func.func @main(%x: tensor<8x33xf32>) -> tensor<8x33xf32> {
    %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<8x33xf32>, tensor<f32>) -> tensor<8xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x33xf32>
    %d = stablehlo.subtract %x, %mb : tensor<8x33xf32>
    %e = stablehlo.exponential %d : tensor<8x33xf32>
    %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x33xf32>, tensor<f32>) -> tensor<8xf32>
    %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<8xf32>) -> tensor<8x33xf32>
    %y = stablehlo.divide %e, %sb : tensor<8x33xf32>
    return %y : tensor<8x33xf32>
  })");
  EXPECT_EQ(p.plan().steps().size(), 3u);
  const auto x = iota(8 * 33);
  const auto y = values_of<float>(p.run({bytes_of(x)})[0]);
  for (std::size_t r = 0; r < 8; ++r) {
    double sum = 0;
    for (std::size_t i = 0; i < 33; ++i) sum += std::exp(static_cast<double>(x[r * 33 + i]));
    for (std::size_t i = 0; i < 33; ++i)
      EXPECT_NEAR(y[r * 33 + i], std::exp(static_cast<double>(x[r * 33 + i])) / sum, 1e-6);
  }
}

TEST(PlanTest, ReductionsOverTheSameArrayShareOneLoop) {
  TestProgram p(R"(func.func @main(%x: tensor<50x10xf32>) -> (tensor<10xf32>, tensor<10xf32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %q = stablehlo.multiply %x, %x : tensor<50x10xf32>
    %a = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<50x10xf32>, tensor<f32>) -> tensor<10xf32>
    %b = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [0] : (tensor<50x10xf32>, tensor<f32>) -> tensor<10xf32>
    return %a, %b : tensor<10xf32>, tensor<10xf32>
  })");
  EXPECT_EQ(p.step_names(), (std::vector<std::string>{"fused loop of 3"}));
}

TEST(PlanTest, ALoopMakesAllThatIsMadeOfItsElements) {
  TestProgram p(
      R"(func.func @main(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
    %0 = stablehlo.multiply %x, %x : tensor<2x2xf32>
    %1 = stablehlo.negate %0 : tensor<2x2xf32>
    %2 = stablehlo.add %0, %x : tensor<2x2xf32>
    %3 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %4 = stablehlo.subtract %0, %3 : tensor<2x2xf32>
    return %1, %2, %4 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
  })");
  // The last one is made of elements of other places, too.
  EXPECT_EQ(p.step_names(), (std::vector<std::string>{"fused loop of 3", "stablehlo.subtract"}));
  const auto out = p.run({bytes_of(std::vector<float>{1, 2, 3, 4})});
  EXPECT_EQ(values_of<float>(out[0]), (std::vector<float>{-1, -4, -9, -16}));
  EXPECT_EQ(values_of<float>(out[1]), (std::vector<float>{2, 6, 12, 20}));
  EXPECT_EQ(values_of<float>(out[2]), (std::vector<float>{0, -5, 5, 0}));
}

// Columns of one array, of which each loop reads some.
TEST(PlanTest, LoopsOverPartsOfTheSameArrayAreOne) {
  TestProgram p(R"(func.func @main(%x: tensor<50x4xf32>) -> (tensor<50x1xf32>, tensor<50x1xf32>) {
    %a = stablehlo.slice %x [0:50, 0:1] : (tensor<50x4xf32>) -> tensor<50x1xf32>
    %b = stablehlo.slice %x [0:50, 1:2] : (tensor<50x4xf32>) -> tensor<50x1xf32>
    %c = stablehlo.slice %x [0:50, 3:4] : (tensor<50x4xf32>) -> tensor<50x1xf32>
    %0 = stablehlo.subtract %a, %b : tensor<50x1xf32>
    %1 = stablehlo.multiply %b, %c : tensor<50x1xf32>
    return %0, %1 : tensor<50x1xf32>, tensor<50x1xf32>
  })");
  EXPECT_EQ(p.step_names(), (std::vector<std::string>{"fused loop of 2"}));
  std::vector<float> x(200), differences, products;
  for (std::size_t i = 0; i < 200; ++i) x[i] = static_cast<float>(i * 7 % 31);
  for (std::size_t i = 0; i < 200; i += 4) {
    differences.push_back(x[i] - x[i + 1]);
    products.push_back(x[i + 1] * x[i + 3]);
  }
  const auto out = p.run({bytes_of(x)});
  EXPECT_EQ(values_of<float>(out[0]), differences);
  EXPECT_EQ(values_of<float>(out[1]), products);
}

// They read nothing in common: each would cost a step.
TEST(PlanTest, LoopsOfOneElementAreOneLoopWhereNoneWaitsForAnother) {
  TestProgram p(R"(func.func @main(%i: tensor<i32>, %x: tensor<f32>, %v: tensor<3xf32>)
      -> (tensor<i32>, tensor<1xf32>, tensor<f32>) {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %twice = stablehlo.add %x, %x : tensor<f32>
    %out = stablehlo.reshape %twice : (tensor<f32>) -> tensor<1xf32>
    %sum = stablehlo.reduce(%v init: %z) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %after = stablehlo.negate %sum : tensor<f32>
    return %next, %out, %after : tensor<i32>, tensor<1xf32>, tensor<f32>
  })");
  const auto out = p.run({bytes_of(std::vector<std::int32_t>{6}), bytes_of(std::vector<float>{2}),
                          bytes_of(std::vector<float>{1, 2, 3})});
  EXPECT_EQ(p.step_names(), (std::vector<std::string>{"stablehlo.reduce", "fused loop of 3"}));
  EXPECT_EQ(values_of<std::int32_t>(out[0]), (std::vector<std::int32_t>{7}));
  EXPECT_EQ(values_of<float>(out[1]), (std::vector<float>{4}));
  EXPECT_EQ(values_of<float>(out[2]), (std::vector<float>{-6}));
}

TEST(PlanTest, TwentyLoopsOfOneElementAreOneLoop) {
  std::string arguments, types, body, results;
  std::vector<std::vector<std::byte>> inputs;
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i), comma = i == 0 ? "" : ", ";
    arguments += comma + "%a" + n + ": tensor<f32>";
    types += comma + "tensor<f32>";
    body += "%r" + n + " = stablehlo.add %a" + n + ", %a" + n + " : tensor<f32>\n";
    results += comma + "%r" + n;
    inputs.push_back(bytes_of(std::vector<float>{static_cast<float>(i)}));
  }
  TestProgram p("func.func @main(" + arguments + ") -> (" + types + ") {\n" + body + "return " +
                results + " : " + types + "\n}");
  EXPECT_EQ(p.step_names(), (std::vector<std::string>{"fused loop of 20"}));
  const auto out = p.run(inputs);
  for (std::size_t i = 0; i < 20; ++i)
    EXPECT_EQ(values_of<float>(out[i]), (std::vector<float>{2 * static_cast<float>(i)}));
}

// What a loop needs the whole of before its first element, it does not make.
struct WholeCase {
  const char* name;
  const char* text;  // of x = {1, 2, 3, 4} and i = 10
  std::vector<std::vector<float>> results;
};
class WholeTest : public ::testing::TestWithParam<WholeCase> {};

TEST_P(WholeTest, IsMadeBeforeTheLoopThatNeedsIt) {
  TestProgram p(GetParam().text);
  const auto out =
      p.run({bytes_of(std::vector<float>{1, 2, 3, 4}), bytes_of(std::vector<float>{10})});
  ASSERT_EQ(out.size(), GetParam().results.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    EXPECT_EQ(values_of<float>(out[i]), GetParam().results[i]) << i;
}

INSTANTIATE_TEST_SUITE_P(
    Reductions, WholeTest,
    ::testing::Values(
        WholeCase{
            "ResultOfTheSameShape",
            R"(func.func @main(%x: tensor<4xf32>, %i: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.multiply %x, %x : tensor<4xf32>
    %1 = stablehlo.reshape %0 : (tensor<4xf32>) -> tensor<4x1xf32>
    %2 = stablehlo.reduce(%1 init: %i) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
    %3 = stablehlo.add %0, %2 : tensor<4xf32>
    return %3, %2 : tensor<4xf32>, tensor<4xf32>
  })",
            {{12, 18, 28, 42}, {11, 14, 19, 26}}},
        WholeCase{"ResultOfASibling",
                  R"(func.func @main(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<4xf32> {
    %0 = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<4x1xf32>
    %1 = stablehlo.reduce(%0 init: %i) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.add %x, %1 : tensor<4xf32>
    return %2 : tensor<4xf32>
  })",
                  {{12, 14, 16, 18}}},
        WholeCase{
            "InitialValueOfASibling",
            R"(func.func @main(%x: tensor<4xf32>, %i: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %1 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %0, %1 : tensor<f32>, tensor<f32>
  })",
            {{20}, {30}}},
        WholeCase{
            "InitialValueOfAReader",
            R"(func.func @main(%x: tensor<4xf32>, %i: tensor<f32>) -> (tensor<f32>, tensor<4xf32>, tensor<f32>) {
    %0 = stablehlo.multiply %x, %x : tensor<4xf32>
    %1 = stablehlo.reduce(%0 init: %i) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.negate %0 : tensor<4xf32>
    %3 = stablehlo.reduce(%2 init: %1) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %1, %2, %3 : tensor<f32>, tensor<4xf32>, tensor<f32>
  })",
            {{40}, {-1, -4, -9, -16}, {10}}},
        WholeCase{"InitialValueOfOneElement",
                  R"(func.func @main(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.multiply %i, %i : tensor<f32>
    %1 = stablehlo.reshape %i : (tensor<f32>) -> tensor<1x1xf32>
    %2 = stablehlo.reduce(%1 init: %0) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1xf32>, tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  })",
                  {{110}}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(PlanTest, ReductionOfFirstAndLastDimensionsIsRight) {
  TestProgram p(R"(func.func @main(%x: tensor<6x5x4xf32>) -> (tensor<5xf32>, tensor<6x4xf32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %a = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 2] : (tensor<6x5x4xf32>, tensor<f32>) -> tensor<5xf32>
    %b = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<6x5x4xf32>, tensor<f32>) -> tensor<6x4xf32>
    return %a, %b : tensor<5xf32>, tensor<6x4xf32>
  })");
  const auto x = iota(120);
  const auto out = p.run({bytes_of(x)});
  std::vector<float> a(5), b(24);
  for (std::size_t i = 0; i < 120; ++i) {
    a[i / 4 % 5] += x[i];
    b[i / 20 * 4 + i % 4] += x[i];
  }
  EXPECT_EQ(values_of<float>(out[0]), a);
  EXPECT_EQ(values_of<float>(out[1]), b);
}

// A line of text with 4 TiB of ones: they would be made by a run, which then says that there is no
// memory for them.
TEST(PlanTest, LargeConstantsOfOneElementAreMadeByRuns) {
  const auto module = stablehlo::text::read_text(R"(func.func @main() -> tensor<4xf32> {
    %c = stablehlo.constant dense<1.0> : tensor<1099511627776xf32>
    %0 = stablehlo.slice %c [7:11] : (tensor<1099511627776xf32>) -> tensor<4xf32>
    %1 = stablehlo.constant dense<[0, 3]> : tensor<2xi64>
    %2 = "stablehlo.torch_index_select"(%c, %1) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<1099511627776xf32>, tensor<2xi64>) -> tensor<2xf32>
    %3 = stablehlo.concatenate %2, %2, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    %4 = stablehlo.add %0, %3 : tensor<4xf32>
    return %4 : tensor<4xf32>
  })");
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  const auto plan = make_plan(*module, {});
  ASSERT_TRUE(plan.has_value()) << plan.error().to_string();
  EXPECT_LT((*plan)->constant_bytes(), 1U << 20);
  EXPECT_GE((*plan)->temporary_bytes(), std::size_t{1} << 42);
}

TEST(PlanTest, LargeConstantsOfOneElementAreRight) {
  TestProgram p(R"(func.func @main(%i: tensor<2xi64>) -> (tensor<2xf32>, tensor<300000xf32>) {
    %c = stablehlo.constant dense<1.5> : tensor<300000xf32>
    %0 = "stablehlo.torch_index_select"(%c, %i) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<300000xf32>, tensor<2xi64>) -> tensor<2xf32>
    return %0, %c : tensor<2xf32>, tensor<300000xf32>
  })");
  EXPECT_LT(p.plan().constant_bytes(), 1U << 20);
  const auto out = p.run({bytes_of(std::vector<std::int64_t>{0, 299999})});
  EXPECT_EQ(values_of<float>(out[0]), (std::vector<float>{1.5f, 1.5f}));
  EXPECT_EQ(values_of<float>(out[1]), std::vector<float>(300000, 1.5f));
}

TEST(PlanTest, TransposeOfADotIsFoldedIntoIt) {
  TestProgram p(
      R"(func.func @main(%a: tensor<40x30xf32>, %b: tensor<40x20xf32>) -> tensor<20x30xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<40x30xf32>, tensor<40x20xf32>) -> tensor<30x20xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<30x20xf32>) -> tensor<20x30xf32>
    return %1 : tensor<20x30xf32>
  })");
  EXPECT_EQ(p.step_names(), (std::vector<std::string>{"stablehlo.dot_general"}));
  const auto a = iota(1200, 0.25f), b = iota(800, 0.5f);
  const auto c = values_of<float>(p.run({bytes_of(a), bytes_of(b)})[0]);
  for (std::size_t i = 0; i < 20; ++i) {
    for (std::size_t j = 0; j < 30; ++j) {
      double want = 0;
      for (std::size_t k = 0; k < 40; ++k)
        want += static_cast<double>(a[k * 30 + j]) * b[k * 20 + i];
      EXPECT_NEAR(c[i * 30 + j], want, 1e-3) << i << "," << j;
    }
  }
}

TEST(PlanTest, OperationsThatDoNothingDisappear) {
  TestProgram p(R"(func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.pad %x, %c, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    %1 = stablehlo.slice %0 [0:4, 0:4] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.reshape %1 : (tensor<4x4xf32>) -> tensor<2x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x8xf32>) -> tensor<4x4xf32>
    %4 = stablehlo.transpose %3, dims = [0, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %5 = stablehlo.negate %4 : tensor<4x4xf32>
    return %5 : tensor<4x4xf32>
  })");
  EXPECT_EQ(p.step_names(), (std::vector<std::string>{"stablehlo.negate"}));
}

// JAX's form of both gradients of a strided convolution, against the plain loops in double.
constexpr char kGradients[] =
    R"(func.func @main(%x: tensor<8x13x13x6xf32>, %dy: tensor<8x6x6x16xf32>, %w: tensor<3x3x6x16xf32>)
    -> (tensor<3x3x6x16xf32>, tensor<8x13x13x6xf32>) {
    %dw = stablehlo.convolution(%x, %dy) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x13x13x6xf32>, tensor<8x6x6x16xf32>) -> tensor<3x3x6x16xf32>
    %r = stablehlo.reverse %w, dims = [0, 1] : tensor<3x3x6x16xf32>
    %dx = stablehlo.convolution(%dy, %r) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 2], [2, 2]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x6x6x16xf32>, tensor<3x3x6x16xf32>) -> tensor<8x13x13x6xf32>
    return %dw, %dx : tensor<3x3x6x16xf32>, tensor<8x13x13x6xf32>
  })";

TEST(PlanTest, ConvolutionGradientsAreRecognisedAndRight) {
  TestProgram p(kGradients);
  EXPECT_EQ(count_steps(p, "backward weights"), 1);
  EXPECT_EQ(count_steps(p, "backward data"), 1);
  const auto x = iota(8 * 13 * 13 * 6, 0.1f), dy = iota(8 * 36 * 16, 0.2f), w = iota(9 * 96, 0.3f);
  const auto out = p.run({bytes_of(x), bytes_of(dy), bytes_of(w)});
  const auto dw = values_of<float>(out[0]), dx = values_of<float>(out[1]);
  std::vector<double> want_dw(dw.size()), want_dx(dx.size());
  for (std::size_t n = 0; n < 8; ++n) {
    for (std::size_t o = 0; o < 36; ++o) {
      for (std::size_t k = 0; k < 9; ++k) {
        const std::size_t y = o / 6 * 2 + k / 3, z = o % 6 * 2 + k % 3;
        for (std::size_t i = 0; i < 6; ++i) {
          for (std::size_t c = 0; c < 16; ++c) {
            const std::size_t xi = ((n * 13 + y) * 13 + z) * 6 + i, di = (n * 36 + o) * 16 + c,
                              wi = (k * 6 + i) * 16 + c;
            want_dw[wi] += static_cast<double>(x[xi]) * dy[di];
            want_dx[xi] += static_cast<double>(w[wi]) * dy[di];
          }
        }
      }
    }
  }
  for (std::size_t i = 0; i < dw.size(); ++i) ASSERT_NEAR(dw[i], want_dw[i], 1e-2) << i;
  for (std::size_t i = 0; i < dx.size(); ++i) ASSERT_NEAR(dx[i], want_dx[i], 1e-2) << i;
}

TEST(PlanTest, AComplexScalarMultipliesOnEitherSide) {
  TestProgram p(
      R"(func.func @main(%x: tensor<700xcomplex<f32>>) -> (tensor<700xcomplex<f32>>, tensor<700xcomplex<f32>>) {
    %c = stablehlo.constant dense<(2.0, -1.0)> : tensor<complex<f32>>
    %b = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<complex<f32>>) -> tensor<700xcomplex<f32>>
    %0 = stablehlo.multiply %x, %b : tensor<700xcomplex<f32>>
    %1 = stablehlo.subtract %b, %x : tensor<700xcomplex<f32>>
    return %0, %1 : tensor<700xcomplex<f32>>, tensor<700xcomplex<f32>>
  })");
  const auto x = iota(1400);
  std::vector<float> products, differences;
  for (std::size_t i = 0; i < x.size(); i += 2) {
    const float re = x[i], im = x[i + 1];
    products.insert(products.end(), {2 * re + im, 2 * im - re});
    differences.insert(differences.end(), {2 - re, -1 - im});
  }
  const auto results = p.run({bytes_of(x)});
  EXPECT_EQ(values_of<float>(results[0]), products);
  EXPECT_EQ(values_of<float>(results[1]), differences);
}

TEST(PlanTest, UnsupportedElementTypeOfAnArgumentIsNamedWithLineAndColumn) {
  const Error e = plan_error(
      "func.func @main(%y: tensor<f32>, %x: tensor<?xf32>) -> tensor<?xf32> {\n"
      "  return %x : tensor<?xf32>\n}");
  EXPECT_EQ(e.code(), ErrorCode::kUnimplemented);
  EXPECT_NE(e.message().find("1:1: @main: argument 1: the type tensor<?xf32>"), std::string::npos)
      << e.message();
}

// @f0 does `first`; each of the others, up to @f30, calls the one before twice.
std::string calls_without_end(const std::string& first) {
  std::string text = "func.func private @f0(%x: tensor<f32>) -> tensor<f32> {\n" + first + "}\n";
  for (int i = 1; i <= 30; ++i) {
    const std::string call = " = call @f" + std::to_string(i - 1);
    text += "func.func private @f" + std::to_string(i) +
            "(%x: tensor<f32>) -> tensor<f32> {\n  %0" + call +
            "(%x) : (tensor<f32>) -> tensor<f32>\n  %1" + call +
            "(%0) : (tensor<f32>) -> tensor<f32>\n  return %1 : tensor<f32>\n}\n";
  }
  return text;
}

TEST(PlanTest, BodiesThatCallFunctionsToNoEndAreRefused) {
  for (const char* first : {"%0 = stablehlo.add %x, %x : tensor<f32>\n  return %0 : tensor<f32>\n",
                            "return %x : tensor<f32>\n"}) {
    const Error e = plan_error(calls_without_end(first) + R"(
  func.func @main(%x: tensor<2xf32>, %z: tensor<f32>) -> tensor<f32> {
    %r = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = func.call @f30(%a) : (tensor<f32>) -> tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    return %r : tensor<f32>
  })");
    EXPECT_EQ(e.code(), ErrorCode::kResourceExhausted) << e.to_string();
    EXPECT_THAT(e.message(), ::testing::HasSubstr("the body has more than 65536 operations"));
  }
}

TEST(PlanTest, CallsMayStandInsideEachOtherUpToALimit) {
  const auto chain = [](int length) {
    std::string text =
        "func.func private @f0(%x: tensor<f32>) -> tensor<f32> {\n  %0 = stablehlo.add %x, %x : "
        "tensor<f32>\n  return %0 : tensor<f32>\n}\n";
    for (int i = 1; i <= length; ++i) {
      const std::string name = i == length ? "@main" : "@f" + std::to_string(i);
      text += "func.func " + name + "(%x: tensor<f32>) -> tensor<f32> {\n  %0 = call @f" +
              std::to_string(i - 1) +
              "(%x) : (tensor<f32>) -> tensor<f32>\n  return %0 : tensor<f32>\n}\n";
    }
    return text;
  };
  TestProgram program(chain(250));
  EXPECT_EQ(values_of<float>(program.run({bytes_of(std::vector<float>{1.5F})})[0]),
            (std::vector<float>{3}));
  EXPECT_THAT(plan_error(chain(300)).message(),
              ::testing::HasSubstr("more than 256 calls inside each other"));
}

TEST(PlanTest, ResultsThatNoOrTwoArgumentsCanStandInAreRefused) {
  const auto error = [](const std::string& first, const std::string& second) {
    return plan_error("func.func @main(%a: tensor<2xf32> {tf.aliasing_output = " + first +
                      " : i32}, %b: tensor<2xf32> {tf.aliasing_output = " + second +
                      " : i32}) -> (tensor<2xf32>, tensor<2xf32>) {\n  return %a, %b : "
                      "tensor<2xf32>, tensor<2xf32>\n}")
        .message();
  };
  EXPECT_THAT(error("0", "2"),
              ::testing::HasSubstr("1:1: @main: tf.aliasing_output = 2 of argument 1: there "
                                   "are 2 results"));
  EXPECT_THAT(error("-1", "0"), ::testing::HasSubstr("there are 2 results"));
  EXPECT_THAT(error("1", "1"), ::testing::HasSubstr("tf.aliasing_output = 1 of argument 1: "
                                                    "argument 0 is in its place"));
}

// What 64 bits do not hold is no small array.
TEST(PlanTest, ArraysBeyondAnyMemoryAreRefused) {
  for (const char* type : {"tensor<4294967296x4294967296xf32>", "tensor<3x6148914691236517206xf32>",
                           "tensor<4611686018427387904xf64>"}) {
    const std::string t = type;
    const Error e = plan_error(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %a = "
        "stablehlo.iota dim = 0 : " +
        t + "\n  %b = stablehlo.optimization_barrier %a : " + t + "\n  return %x : tensor<f32>\n}");
    EXPECT_EQ(e.code(), ErrorCode::kUnimplemented);
    EXPECT_THAT(e.message(), ::testing::HasSubstr(t));
  }
}

TEST(PlanTest, FunctionsThatCallEachOtherToNoEndAreRefused) {
  const Error e = plan_error(
      calls_without_end("%0 = stablehlo.add %x, %x : tensor<f32>\n  return %0 : tensor<f32>\n") +
      "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %0 = call @f30(%x) : (tensor<f32>) -> "
      "tensor<f32>\n  return %0 : tensor<f32>\n}\n");
  EXPECT_EQ(e.code(), ErrorCode::kResourceExhausted);
  EXPECT_THAT(e.message(), ::testing::HasSubstr("the program has more than 10"));
}

TEST(PlanTest, UnsupportedOperationIsNamedWithLineAndColumn) {
  const Error e = plan_error(
      "func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {\n"
      "  %0 = stablehlo.custom_call @unknown(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
      "  return %0 : tensor<4x4xf32>\n}");
  EXPECT_EQ(e.code(), ErrorCode::kUnimplemented);
  EXPECT_NE(e.message().find("2:"), std::string::npos) << e.message();
  EXPECT_NE(e.message().find("stablehlo.custom_call"), std::string::npos) << e.message();
}

TEST(PlanTest, DonatedInputIsOfferedOnlyWhereItsLastReadComesFirst) {
  const auto text = [](const char* result) {
    return std::string(
               R"(func.func @main(%p: tensor<100xf32> {tf.aliasing_output = 0 : i32}, %g: tensor<100xf32>) -> (tensor<100xf32>, tensor<f32>) {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %n = stablehlo.subtract %p, %g : tensor<100xf32>
      %s = stablehlo.reduce(%n init: %z) applies stablehlo.add across dimensions = [0] : (tensor<100xf32>, tensor<f32>) -> tensor<f32>
      %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<100xf32>
      %m = stablehlo.multiply %b, %p : tensor<100xf32>
      )") + result;
  };
  TestProgram safe(text("return %n, %s : tensor<100xf32>, tensor<f32>\n}"));
  ASSERT_EQ(safe.plan().aliases().size(), 1u);
  EXPECT_EQ(safe.plan().aliases()[0].output, 0);
  EXPECT_EQ(safe.plan().aliases()[0].input, 0);
  // %m reads %p again after %n has been written.
  TestProgram unsafe(
      text("%t = stablehlo.add %m, %n : tensor<100xf32>\n"
           "%u = stablehlo.reduce(%t init: %z) applies stablehlo.add across dimensions = [0] : "
           "(tensor<100xf32>, tensor<f32>) -> tensor<f32>\n"
           "return %n, %u : tensor<100xf32>, tensor<f32>\n}"));
  EXPECT_TRUE(unsafe.plan().aliases().empty());
}

// Tokens are no inputs and outputs of a plan.
TEST(PlanTest, DonationBehindTokensIsThatOfTheArrays) {
  TestProgram program(R"(
    func.func @main(%t: !stablehlo.token, %x: tensor<8xf32>, %y: tensor<8xf32> {tf.aliasing_output = 2 : i32},
                    %u: !stablehlo.token) -> (!stablehlo.token, tensor<f32>, tensor<8xf32>) {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %n = stablehlo.subtract %x, %y : tensor<8xf32>
      return %t, %z, %n : !stablehlo.token, tensor<f32>, tensor<8xf32>
    })");
  ASSERT_EQ(program.plan().inputs().size(), 2u);
  ASSERT_EQ(program.plan().donated().size(), 1u);
  EXPECT_EQ(program.plan().donated()[0], 1);
  ASSERT_EQ(program.plan().aliases().size(), 1u);
  EXPECT_EQ(program.plan().aliases()[0].input, 1);
  EXPECT_EQ(program.plan().aliases()[0].output, 1);
}

TEST(PlanTest, AProgramCostsWhatItsStepsDo) {
  TestProgram program(
      R"(func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  })");
  const std::optional<RunCost> cost = program.plan().cost();
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->operations, 2 * 4 * 2 * 8);
  EXPECT_EQ(cost->bytes, 4 * (4 * 8 + 8 * 2 + 4 * 2));
}

TEST(PlanTest, LifetimesThatDoNotMeetShareTheArena) {
  std::string text = "func.func @main(%a: tensor<256x256xf32>) -> tensor<256x256xf32> {\n";
  std::string last = "%a";
  for (int i = 0; i < 20; ++i) {
    const std::string next = "%v" + std::to_string(i);
    text += next + " = stablehlo.dot_general " + last + ", " + last +
            ", contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> "
            "tensor<256x256xf32>\n";
    last = next;
  }
  TestProgram p(text + "return " + last + " : tensor<256x256xf32>\n}");
  EXPECT_LE(p.plan().temporary_bytes(), 3 * 256 * 256 * sizeof(float) + (1u << 20));
}

// An array of 1,024 rows of 256 floats, of which each operation touches a few.
TEST(PlanTest, BytesOfAStepAreThoseThatItMoves) {
  const std::string big = "tensor<1024x256xf32>";
  const auto bytes_of_step = [&](const std::string& signature, const std::string& body,
                                 const std::string& name) -> std::size_t {
    TestProgram p("func.func @main" + signature + " {\n" + body + "\n}");
    for (const Step& step : p.plan().steps()) {
      if (step.info.name == name) return step.info.bytes;
    }
    ADD_FAILURE() << "no step " << name;
    return 0;
  };
  EXPECT_EQ(bytes_of_step("(%x: " + big + ", %i: tensor<i32>) -> tensor<2x256xf32>",
                          "%z = stablehlo.constant dense<0> : tensor<i32>\n"
                          "%0 = stablehlo.dynamic_slice %x, %i, %z, sizes = [2, 256] : (" +
                              big +
                              ", tensor<i32>, tensor<i32>) -> tensor<2x256xf32>\n"
                              "return %0 : tensor<2x256xf32>",
                          "stablehlo.dynamic_slice"),
            2U * 2 * 256 * 4);
  const std::string update =
      "%z = stablehlo.constant dense<0> : tensor<i32>\n"
      "%0 = stablehlo.dynamic_update_slice %x, %u, %i, %z : (" +
      big + ", tensor<2x256xf32>, tensor<i32>, tensor<i32>) -> " + big + "\nreturn %0 : " + big;
  const std::string updated = "(%x: " + big + ", %u: tensor<2x256xf32>, %i: tensor<i32>) -> " + big;
  EXPECT_EQ(bytes_of_step(updated, update, "stablehlo.dynamic_update_slice"), 2U * 2 * 256 * 4);
  EXPECT_EQ(bytes_of_step(updated, update, "copy"), 2U * 1024 * 256 * 4);
  const std::string row = "tensor<4x256xf32>";
  const auto piece = [&](const std::string& name, const std::string& from) {
    return name + " = stablehlo.slice %x [" + from + ", 0:256] : (" + big + ") -> " + row + "\n";
  };
  // Only the piece that is read counts; two pieces that overlap count no more than the array; a
  // repeated element counts once.
  EXPECT_EQ(bytes_of_step("(%x: " + big + ") -> " + row,
                          piece("%a", "0:4") + piece("%b", "2:6") +
                              "%0 = stablehlo.add %a, %b : " + row + "\nreturn %0 : " + row,
                          "stablehlo.add"),
            3U * 4 * 256 * 4);
  EXPECT_EQ(bytes_of_step("(%x: " + row + ", %y: tensor<256xf32>) -> " + row,
                          "%b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<256xf32>) -> " +
                              row + "\n%r = stablehlo.reverse %x, dims = [0] : " + row +
                              "\n%1 = stablehlo.multiply %x, %r : " + row +
                              "\n%0 = stablehlo.add %1, %b : " + row + "\nreturn %0 : " + row,
                          "fused loop of 2"),
            2U * 4 * 256 * 4 + 256 * 4);
  EXPECT_EQ(bytes_of_step("(%x: tensor<0x4xf32>) -> tensor<0x4xf32>",
                          "%0 = stablehlo.negate %x : tensor<0x4xf32>\n"
                          "return %0 : tensor<0x4xf32>",
                          "stablehlo.negate"),
            0U);
  EXPECT_EQ(bytes_of_step("(%y: tensor<256xf32>) -> " + row,
                          "%0 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<256xf32>) -> " +
                              row + "\nreturn %0 : " + row,
                          "stablehlo.broadcast_in_dim"),
            4U * 256 * 4 + 256 * 4);
  EXPECT_EQ(
      bytes_of_step(
          "(%x: " + big + ", %i: tensor<3x1xi32>) -> tensor<3x256xf32>",
          "%0 = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = "
          "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = "
          "[0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 256>}> : (" +
              big + ", tensor<3x1xi32>) -> tensor<3x256xf32>\nreturn %0 : tensor<3x256xf32>",
          "stablehlo.gather"),
      3U * 4 + 2 * 3 * 256 * 4);
  EXPECT_EQ(
      bytes_of_step("(%x: " + big + ", %i: tensor<3x1xi32>, %u: tensor<3x256xf32>) -> " + big,
                    "%0 = \"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = "
                    "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
                    "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
                    "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
                    "  %s = stablehlo.add %a, %b : tensor<f32>\n"
                    "  stablehlo.return %s : tensor<f32>\n}) : (" +
                        big + ", tensor<3x1xi32>, tensor<3x256xf32>) -> " + big +
                        "\nreturn %0 : " + big,
                    "stablehlo.scatter"),
      3U * 4 + 3 * 3 * 256 * 4);
}

}  // namespace
}  // namespace millrace::devices::cpu
