// Control flow of a program for several devices: what is computed once, who takes which branch, who
// leaves which loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/devices/stablehlo/spread/run_spread.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using ::testing::HasSubstr;
using K = ir::OpKind;
using testing::count;
using testing::PerDevice;
using testing::run;
using testing::run_spread;
using testing::spread_text;

const std::string kSumOfAll =
    "\"stablehlo.all_reduce\"(%v) ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%s = stablehlo.add "
    "%a, %b : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}) {replica_groups = dense<> : "
    "tensor<0x0xi64>} : (tensor<f32>) -> tensor<f32>\n";

// SP-1
TEST(SpreadControl, WhatIsEqualOnAllDevicesIsComputedOnce) {
  const auto made = spread_text(
      "func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {\n"
      "%c = stablehlo.constant dense<2.0> : tensor<f32>\n"
      "%d = stablehlo.exponential %c : tensor<f32>\n"
      "%e = stablehlo.multiply %x, %d : tensor<f32>\n"
      "%v = stablehlo.sine %e : tensor<f32>\n%r = " +
          kSumOfAll +
          "%t = stablehlo.tanh %r : tensor<f32>\nreturn %d, %t : tensor<f32>, tensor<f32>\n}\n",
      {64, 1});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(count(*made, K::kExponential), 1);
  EXPECT_EQ(count(*made, K::kSine), 64);
  EXPECT_EQ(count(*made, K::kTanh), 1);
  EXPECT_EQ(made->outputs[0], (std::vector<int>{0, 1}));
  EXPECT_EQ(made->outputs[63], (std::vector<int>{0, 1}));
}

// SP-1
TEST(SpreadControl, AGroupComputesOnceWhatItsMembersHaveInCommon) {
  const auto made = spread_text(
      "func.func @main(%x: tensor<2xf32>) -> tensor<4xf32> {\n"
      "%g = \"stablehlo.all_gather\"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, "
      "1], "
      "[2, 3]]> : tensor<2x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>\n"
      "%r = stablehlo.tanh %g : tensor<4xf32>\nreturn %r : tensor<4xf32>\n}\n",
      {4, 1});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(count(*made, K::kTanh), 2);
}

// A while that adds up over all devices n times; the counter is uniform.
std::string counted_loop(const std::string& more = "") {
  return "func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<i32>) {\n"
         "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
         "%r:2 = \"stablehlo.while\"(%zero, %x) ({\n^bb0(%i: tensor<i32>, %v: tensor<f32>):\n"
         "%n = stablehlo.constant dense<3> : tensor<i32>\n"
         "%p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
         "stablehlo.return %p : tensor<i1>\n}, {\n^bb0(%i: tensor<i32>, %w: tensor<f32>):\n"
         "%one = stablehlo.constant dense<1> : tensor<i32>\n"
         "%j = stablehlo.add %i, %one : tensor<i32>\n%v = stablehlo.negate %w : tensor<f32>\n"
         "%sum = " +
         kSumOfAll + more +
         "%next = stablehlo.add %sum, %w : tensor<f32>\n"
         "stablehlo.return %j, %next : tensor<i32>, tensor<f32>\n}) : (tensor<i32>, tensor<f32>) "
         "-> (tensor<i32>, tensor<f32>)\nreturn %r#1, %r#0 : tensor<f32>, tensor<i32>\n}\n";
}

TEST(SpreadControl, AJointLoopCountsOnceAndCarriesEachDevicesValue) {
  const auto made = spread_text(counted_loop(), {2, 1});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(count(*made, K::kWhile), 1);
  EXPECT_EQ(count(*made, K::kCompare), 1);
  // w - (w0 + w1): (1, 10) -> (-10, -1) -> (1, 10) -> (-10, -1).
  EXPECT_EQ(run_spread(*made, {{{1}}, {{10}}}), (PerDevice{{{-10}, {3}}, {{-1}, {3}}}));
}

// SP-2
TEST(SpreadControl, ADeviceThatHasLeftALoopKeepsItsValue) {
  // Each device goes round as often as it says, and adds up what all have.
  const std::string text =
      "func.func @main(%n: tensor<i32>, %x: tensor<f32>) -> (tensor<i32>, tensor<f32>) {\n"
      "%r:2 = \"stablehlo.while\"(%n, %x) ({\n^bb0(%i: tensor<i32>, %v: tensor<f32>):\n"
      "%z = stablehlo.constant dense<0> : tensor<i32>\n"
      "%p = stablehlo.compare GT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "stablehlo.return %p : tensor<i1>\n}, {\n^bb0(%i: tensor<i32>, %v: tensor<f32>):\n"
      "%one = stablehlo.constant dense<1> : tensor<i32>\n"
      "%j = stablehlo.subtract %i, %one : tensor<i32>\n%sum = " +
      kSumOfAll +
      "stablehlo.return %j, %sum : tensor<i32>, tensor<f32>\n}) : (tensor<i32>, tensor<f32>) -> "
      "(tensor<i32>, tensor<f32>)\nreturn %r#0, %r#1 : tensor<i32>, tensor<f32>\n}\n";
  // Round 1: both have 11. Round 2: device 1 alone goes on, with the 11 that device 0 kept.
  EXPECT_EQ(run(text, {2, 1}, {{{1}, {1}}, {{2}, {10}}}), (PerDevice{{{0}, {11}}, {{0}, {22}}}));
  EXPECT_EQ(run(text, {2, 1}, {{{0}, {1}}, {{0}, {10}}}), (PerDevice{{{0}, {1}}, {{0}, {10}}}));
}

std::string branches(const std::string& predicate) {
  return "func.func @main(%x: tensor<f32>, %q: tensor<i1>) -> tensor<f32> {\n" + predicate +
         "%r = \"stablehlo.if\"(%p) ({\n%v = stablehlo.negate %x : tensor<f32>\n%t = " + kSumOfAll +
         "stablehlo.return %t : tensor<f32>\n}, {\nstablehlo.return %x : tensor<f32>\n}) : "
         "(tensor<i1>) -> tensor<f32>\nreturn %r : tensor<f32>\n}\n";
}

TEST(SpreadControl, AUniformBranchIsTakenByAll) {
  const std::string uniform = "%p = func.call @all(%q) : (tensor<i1>) -> tensor<i1>\n";
  const std::string all =
      "func.func private @all(%q: tensor<i1>) -> tensor<i1> {\n"
      "%v = stablehlo.convert %q : (tensor<i1>) -> tensor<f32>\n%n = " +
      kSumOfAll +
      "%z = stablehlo.constant dense<1.5> : tensor<f32>\n%p = stablehlo.compare GT, %n, %z : "
      "(tensor<f32>, tensor<f32>) -> tensor<i1>\nreturn %p : tensor<i1>\n}\n";
  const auto made = spread_text(branches(uniform) + all, {2, 1});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(count(*made, K::kIf), 1);
  EXPECT_EQ(run_spread(*made, {{{1}, {1}}, {{10}, {1}}}), (PerDevice{{{-11}}, {{-11}}}));
  EXPECT_EQ(run_spread(*made, {{{1}, {1}}, {{10}, {0}}}), (PerDevice{{{1}}, {{10}}}));
}

// SP-2
TEST(SpreadControl, EachDeviceTakesItsOwnBranch) {
  const std::string own = "%p = stablehlo.and %q, %q : tensor<i1>\n";
  EXPECT_EQ(run(branches(own), {2, 1}, {{{1}, {1}}, {{10}, {1}}}), (PerDevice{{{-11}}, {{-11}}}));
  EXPECT_EQ(run(branches(own), {2, 1}, {{{1}, {0}}, {{10}, {0}}}), (PerDevice{{{1}}, {{10}}}));
  EXPECT_EQ(run(branches(own), {2, 1}, {{{1}, {0}}, {{10}, {1}}})[0][0], testing::Numbers{1});
}

TEST(SpreadControl, ACaseOfEachDeviceTakesTheLastBranchForWhatIsOutOfRange) {
  const std::string text =
      "func.func @main(%k: tensor<i32>, %v: tensor<f32>) -> tensor<f32> {\n"
      "%r = \"stablehlo.case\"(%k) ({\nstablehlo.return %v : tensor<f32>\n}, {\n"
      "%m = stablehlo.negate %v : tensor<f32>\nstablehlo.return %m : tensor<f32>\n}, {\n%t = " +
      kSumOfAll +
      "stablehlo.return %t : tensor<f32>\n}) : (tensor<i32>) -> tensor<f32>\n"
      "return %r : tensor<f32>\n}\n";
  EXPECT_EQ(run(text, {4, 1}, {{{0}, {1}}, {{1}, {10}}, {{2}, {100}}, {{-7}, {1000}}}),
            (PerDevice{{{1}}, {{-10}}, {{1111}}, {{1111}}}));
}

// SP-2: the loop of device 1, which is not there, would never end.
TEST(SpreadControl, ALoopOfAnInactiveDeviceDoesNotRun) {
  const std::string text =
      "func.func @main(%q: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {\n"
      "%r = \"stablehlo.if\"(%q) ({\n"
      "%v = \"stablehlo.while\"(%x) ({\n^bb0(%w: tensor<f32>):\n%z = stablehlo.constant dense<0.0> "
      ": tensor<f32>\n%p = stablehlo.compare NE, %w, %z : (tensor<f32>, tensor<f32>) -> "
      "tensor<i1>\nstablehlo.return %p : tensor<i1>\n}, {\n^bb0(%w: tensor<f32>):\n%one = "
      "stablehlo.constant dense<1.0> : tensor<f32>\n%next = stablehlo.subtract %w, %one : "
      "tensor<f32>\nstablehlo.return %next : tensor<f32>\n}) : (tensor<f32>) -> tensor<f32>\n%t "
      "= " +
      kSumOfAll +
      "stablehlo.return %t : tensor<f32>\n}, {\nstablehlo.return %x : tensor<f32>\n}) : "
      "(tensor<i1>) -> tensor<f32>\nreturn %r : tensor<f32>\n}\n";
  EXPECT_EQ(run(text, {2, 1}, {{{1}, {4}}, {{0}, {-1}}})[1][0], testing::Numbers{-1});
}

TEST(SpreadControl, ControlFlowWithoutCollectivesIsEachDevicesOwn) {
  const std::string text =
      "func.func @main(%n: tensor<i32>) -> tensor<i32> {\n"
      "%id = stablehlo.replica_id : tensor<ui32>\n%k = stablehlo.convert %id : (tensor<ui32>) -> "
      "tensor<i32>\n%r:2 = \"stablehlo.while\"(%n, %k) ({\n^bb0(%i: tensor<i32>, %v: "
      "tensor<i32>):\n"
      "%z = stablehlo.constant dense<0> : tensor<i32>\n"
      "%p = stablehlo.compare GT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "stablehlo.return %p : tensor<i1>\n}, {\n^bb0(%i: tensor<i32>, %v: tensor<i32>):\n"
      "%one = stablehlo.constant dense<1> : tensor<i32>\n"
      "%j = stablehlo.subtract %i, %one : tensor<i32>\n%w = stablehlo.add %v, %v : tensor<i32>\n"
      "stablehlo.return %j, %w : tensor<i32>, tensor<i32>\n}) : (tensor<i32>, tensor<i32>) -> "
      "(tensor<i32>, tensor<i32>)\nreturn %r#1 : tensor<i32>\n}\n";
  EXPECT_EQ(run(text, {3, 1}, {{{1}}, {{2}}, {{3}}}), (PerDevice{{{0}}, {{4}}, {{16}}}));
}

TEST(SpreadControl, CallsAndAsynchronousOperationsStandInTheirPlaces) {
  const std::string text =
      "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
      "%r = func.call @twice(%x) : (tensor<f32>) -> tensor<f32>\n"
      "%q = func.call @twice(%r) : (tensor<f32>) -> tensor<f32>\nreturn %q : tensor<f32>\n}\n"
      "func.func private @twice(%y: tensor<f32>) -> tensor<f32> {\n"
      "%f = \"stablehlo.async_start\"(%y) ({\n^bb0(%v: tensor<f32>):\n%t = " +
      kSumOfAll +
      "stablehlo.return %t : tensor<f32>\n}) : (tensor<f32>) -> "
      "!stablehlo.future<tensor<f32>>\n"
      "%d = \"stablehlo.async_done\"(%f) : (!stablehlo.future<tensor<f32>>) -> tensor<f32>\n"
      "return %d : tensor<f32>\n}\n";
  EXPECT_EQ(run(text, {2, 1}, {{{1}}, {{10}}}), (PerDevice{{{22}}, {{22}}}));
}

TEST(SpreadControl, WhatThereIsNoWayToDoIsRefusedInWords) {
  const auto fault = [](const std::string& op) {
    return testing::fault_of("func.func @main(%t: !stablehlo.token) -> !stablehlo.token {\n%r = " +
                                 op + "\nreturn %r : !stablehlo.token\n}\n",
                             {2, 1});
  };
  EXPECT_THAT(fault("\"stablehlo.outfeed\"(%t) {outfeed_config = \"\"} : (!stablehlo.token) -> "
                    "!stablehlo.token"),
              HasSubstr("2:6: stablehlo.outfeed: the CPU device has no transfers with the host"));
}

TEST(SpreadControl, AChannelOfTwoTypesIsRefusedWithBothPlaces) {
  const auto gather = [](int type) {
    return "\"stablehlo.all_gather\"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, "
           "1]]> "
           ": tensor<1x2xi64>, use_global_device_ids, channel_handle = "
           "#stablehlo.channel_handle<handle = 3, type = " +
           std::to_string(type) + ">} : (tensor<2xf32>) -> tensor<4xf32>\n";
  };
  EXPECT_EQ(
      testing::fault_of("func.func @main(%x: tensor<2xf32>) -> tensor<4xf32> {\n%a = " + gather(1) +
                            "%b = " + gather(2) + "return %b : tensor<4xf32>\n}\n",
                        {2, 1}),
      "3:6: stablehlo.all_gather: channel 3 has type 2, but 2:6: stablehlo.all_gather uses it "
      "with type 1");
}

TEST(SpreadControl, ArgumentsThatMayBeOverwrittenStaySo) {
  const auto made = spread_text(
      "func.func @main(%x: tensor<f32> {tf.aliasing_output = 0 : i32}, %y: tensor<f32> "
      "{tf.aliasing_output = 1 : i32}) -> (tensor<f32>, tensor<f32>) {\n%n = stablehlo.negate %x : "
      "tensor<f32>\n%v = stablehlo.abs %y : tensor<f32>\n%t = " +
          kSumOfAll + "return %n, %t : tensor<f32>, tensor<f32>\n}\n",
      {2, 1});
  ASSERT_TRUE(made) << made.error().to_string();
  const ir::Function& main = *made->module.find("main");
  const auto alias = [&](int i) {
    const auto* a = main.arg_attribute(i, "tf.aliasing_output").as<ir::IntegerAttr>();
    return a == nullptr ? -1 : static_cast<int>(a->value);
  };
  EXPECT_EQ(alias(0), made->outputs[0][0]);
  EXPECT_EQ(alias(1), made->outputs[1][0]);
  EXPECT_EQ(alias(2), -1);
  EXPECT_TRUE(main.arg_attribute(2, "jax.buffer_donor"));
  EXPECT_EQ(made->outputs[0][1], made->outputs[1][1]);
}

}  // namespace
}  // namespace millrace::devices::stablehlo::spread
