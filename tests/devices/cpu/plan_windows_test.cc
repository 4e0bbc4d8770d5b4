// Windows that are pooled or scanned: which are recognised, and that their kernels agree with the
// general walk.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "millrace/devices/cpu/kernels/base/element.h"
#include "tests/devices/cpu/run_support.h"

namespace millrace::devices::cpu {
namespace {

using testing::bytes_of;
using testing::count_steps;
using testing::iota;
using testing::TestProgram;
using testing::values_of;

// A program with windows whose body ends as text() is given: pooled as often as it says, and by the
// general walk, since a body of two operations more is not recognised.
struct BothWays {
  template <class F>
  BothWays(F text, int pooled)
      : fast(text("stablehlo.return %m : tensor<f32>")),
        general(text("%r = stablehlo.negate %m : tensor<f32>\n%t = stablehlo.negate %r : "
                     "tensor<f32>\nstablehlo.return %t : tensor<f32>")) {
    EXPECT_EQ(count_steps(fast, "pooling"), pooled);
    EXPECT_EQ(count_steps(general, "pooling"), 0);
  }
  TestProgram fast, general;
};

// lax.cummax: each window reaches back to the first element, and so a pooling takes n * n steps.
TEST(PlanWindowsTest, ACumulativeMaximumIsNoPooling) {
  for (const bool reverse : {false, true}) {
    TestProgram p(
        "func.func @main(%x: tensor<300xf32>) -> tensor<300xf32> {\n"
        "%i = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
        "%a = \"stablehlo.reduce_window\"(%x, %i) <{window_dimensions = array<i64: 300>, padding = "
        "dense<[[" +
        std::string(reverse ? "0, 299" : "299, 0") +
        "]]> : tensor<1x2xi64>}> ({\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
        "%m = stablehlo.maximum %p, %q : tensor<f32>\nstablehlo.return %m : tensor<f32>\n}) : "
        "(tensor<300xf32>, tensor<f32>) -> tensor<300xf32>\nreturn %a : tensor<300xf32>\n}\n");
    EXPECT_EQ(count_steps(p, "pooling"), 0);
    std::vector<float> x(300), want(300);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1000);
    if (reverse)
      std::inclusive_scan(x.rbegin(), x.rend(), want.rbegin(),
                          [](float a, float b) { return std::max(a, b); });
    else
      std::inclusive_scan(x.begin(), x.end(), want.begin(),
                          [](float a, float b) { return std::max(a, b); });
    EXPECT_EQ(values_of<float>(p.run({bytes_of(x)})[0]), want);
  }
}

// The first number that is not 0, of those from a place on or up to it.
TEST(PlanWindowsTest, ACumulativeFoldKeepsTheOrderOfItsElements) {
  for (const bool reverse : {false, true}) {
    TestProgram p(
        "func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {\n"
        "%i = stablehlo.constant dense<0> : tensor<i32>\n"
        "%a = \"stablehlo.reduce_window\"(%x, %i) <{window_dimensions = array<i64: 4>, padding = "
        "dense<[[" +
        std::string(reverse ? "0, 3" : "3, 0") +
        "]]> : tensor<1x2xi64>}> ({\n^bb0(%p: tensor<i32>, %q: tensor<i32>):\n"
        "%k = stablehlo.constant dense<0> : tensor<i32>\n"
        "%c = stablehlo.compare NE, %p, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "%s = stablehlo.select %c, %p, %q : tensor<i1>, tensor<i32>\n"
        "stablehlo.return %s : tensor<i32>\n}) : "
        "(tensor<4xi32>, tensor<i32>) -> tensor<4xi32>\nreturn %a : tensor<4xi32>\n}\n");
    const std::vector<std::int32_t> x = {1, 0, 3, 4};
    const std::vector<std::int32_t> want =
        reverse ? std::vector{1, 3, 3, 4} : std::vector{1, 1, 1, 1};
    EXPECT_EQ(values_of<std::int32_t>(p.run({bytes_of(x)})[0]), want);
  }
}

TEST(PlanWindowsTest, MaxPoolAndItsGradientAreRecognisedAndAgreeWithTheGeneralKernels) {
  const auto text = [](const std::string& body) {
    return R"(func.func @main(%x: tensor<3x7x9x5xf32>, %s: tensor<3x3x4x5xf32>) -> (tensor<3x3x4x5xf32>, tensor<3x7x9x5xf32>) {
    %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %a = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %m = stablehlo.maximum %p, %q : tensor<f32>
      )" + body +
           R"(
    }) : (tensor<3x7x9x5xf32>, tensor<f32>) -> tensor<3x3x4x5xf32>
    %b = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %m = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %m : tensor<i1>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %m = stablehlo.add %p, %q : tensor<f32>
      )" + body +
           R"(
    }) : (tensor<3x7x9x5xf32>, tensor<3x3x4x5xf32>, tensor<f32>) -> tensor<3x7x9x5xf32>
    return %a, %b : tensor<3x3x4x5xf32>, tensor<3x7x9x5xf32>
  })";
  };
  auto [fast, general] = BothWays(text, 2);
  auto x = iota(3 * 7 * 9 * 5);
  x[17] = std::numeric_limits<float>::quiet_NaN();
  const auto s = iota(180, 0.5f);
  EXPECT_EQ(fast.run({bytes_of(x), bytes_of(s)})[1], general.run({bytes_of(x), bytes_of(s)})[1]);
  const auto a = values_of<float>(fast.run({bytes_of(x), bytes_of(s)})[0]),
             b = values_of<float>(general.run({bytes_of(x), bytes_of(s)})[0]);
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) << i;
}

// 1,000 ones, of which a sum in bf16 would end at 256.
TEST(PlanWindowsTest, ALongCumulativeSumOfHalvesDoesNotStandStill) {
  TestProgram p(R"(func.func @main(%x: tensor<1000x2xbf16>) -> tensor<1000x2xbf16> {
    %z = stablehlo.constant dense<0.0> : tensor<bf16>
    %a = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1000, 1>,
      padding = dense<[[999, 0], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%p: tensor<bf16>, %q: tensor<bf16>):
      %m = stablehlo.add %p, %q : tensor<bf16>
      stablehlo.return %m : tensor<bf16>
    }) : (tensor<1000x2xbf16>, tensor<bf16>) -> tensor<1000x2xbf16>
    return %a : tensor<1000x2xbf16>
  })");
  const std::vector<std::uint16_t> ones(2000, BFloat16(1.0f).bits);
  const auto sums = values_of<std::uint16_t>(p.run({bytes_of(ones)})[0]);
  for (std::size_t row = 0; row < 1000; ++row) {
    const std::uint16_t want = BFloat16(static_cast<float>(row + 1)).bits;
    ASSERT_EQ(sums[2 * row], want) << row;
    ASSERT_EQ(sums[2 * row + 1], want) << row;
  }
}

TEST(PlanWindowsTest, WindowsOverTwoAndThreeDimensionsArePooledAndPaddingAddsNothing) {
  struct Case {
    std::string op, from, to, window;
    std::size_t elements;
  };
  const std::string flat =
      "window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>, "
      "padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>";
  const std::string deep =
      "window_dimensions = array<i64: 1, 2, 3, 2, 1>, window_strides = array<i64: 1, 1, 2, 2, 1>, "
      "padding = dense<[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]> : tensor<5x2xi64>";
  const std::string image =
      "window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 1, 1, 1>, "
      "padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>";
  for (const Case& c : {Case{"add", "3x7x9x5", "3x4x5x5", flat, 945},
                        Case{"add", "1x150x150x8", "1x150x150x8", image, 180000},
                        Case{"add", "2x3x7x9x5", "2x3x4x5x5", deep, 1890},
                        Case{"minimum", "2x3x7x9x5", "2x3x4x5x5", deep, 1890}}) {
    const auto text = [&](const std::string& body) {
      return "func.func @main(%x: tensor<" + c.from + "xf32>) -> tensor<" + c.to + R"(xf32> {
      %i = stablehlo.constant dense<1.5> : tensor<f32>
      %a = "stablehlo.reduce_window"(%x, %i) <{)" +
             c.window + R"(}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %m = stablehlo.)" +
             c.op + R"( %p, %q : tensor<f32>
        )" + body +
             R"(
      }) : (tensor<)" +
             c.from + "xf32>, tensor<f32>) -> tensor<" + c.to + R"(xf32>
      return %a : tensor<)" +
             c.to + "xf32>\n}";
    };
    auto [fast, general] = BothWays(text, 1);
    const auto x = iota(c.elements, 0.5f);
    EXPECT_EQ(fast.run({bytes_of(x)}), general.run({bytes_of(x)}));
  }
}

// The gradient of a window over planes, one of which is padding.
TEST(PlanWindowsTest, AGradientOverThreeDimensionsIsNotPooled) {
  TestProgram p(
      R"(func.func @main(%x: tensor<2x1x2x2xf32>, %s: tensor<2x2x1x1xf32>) -> tensor<2x1x2x2xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %b = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>,
      padding = dense<[[0, 0], [1, 0], [0, 0], [0, 0]]> : tensor<4x2xi64>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %m = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %m : tensor<i1>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %m = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<2x1x2x2xf32>, tensor<2x2x1x1xf32>, tensor<f32>) -> tensor<2x1x2x2xf32>
    return %b : tensor<2x1x2x2xf32>
  })");
  const std::vector<float> x{1, 2, 4, 3, 8, 7, 6, 5}, s{10, 20, 30, 40};
  EXPECT_EQ(values_of<float>(p.run({bytes_of(x), bytes_of(s)})[0]),
            (std::vector<float>{0, 0, 20, 0, 40, 0, 0, 0}));
}

// A row would be combined at each place, 1,024 times as often as is asked for.
TEST(PlanWindowsTest, SumsOfWindowsFarApartAreNotPooled) {
  TestProgram p(R"(func.func @main(%x: tensor<65536xf32>) -> tensor<64xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %a = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1024>, window_strides = array<i64: 1024>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %m = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<65536xf32>, tensor<f32>) -> tensor<64xf32>
    return %a : tensor<64xf32>
  })");
  EXPECT_EQ(count_steps(p, "pooling"), 0);
  std::vector<float> x(65536), want(64);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i % 7);
    want[i / 1024] += x[i];
  }
  EXPECT_EQ(values_of<float>(p.run({bytes_of(x)})[0]), want);
}

}  // namespace
}  // namespace millrace::devices::cpu
