// Global programs: arrays that are put together and cut, bodies of sdy.manual_computation over all
// or some axes, one in another, against numbers that were computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/devices/stablehlo/sharding/read_sharding.h"
#include "tests/devices/stablehlo/spread/run_spread.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using ::testing::HasSubstr;
using K = ir::OpKind;
using testing::count;
using testing::Numbers;
using testing::PerDevice;
using testing::run_spread;

// Shardings as text, for arguments and results.
using Texts = std::vector<std::string>;

Result<Spread> spread_over(const std::string& text, int devices, const Texts& arguments,
                           const Texts& results) {
  const auto module = text::read_text(text);
  if (!module) return std::unexpected(module.error());
  MILLRACE_TRY_STATUS(verify::verify(*module));
  MILLRACE_TRY(const auto meshes, sharding::Meshes::of(*module));
  std::vector<sharding::Sharding> in, out;
  for (const std::string& s : arguments) {
    MILLRACE_TRY(in.emplace_back(), sharding::read_sharding("#sdy.sharding" + s, meshes));
  }
  for (const std::string& s : results) {
    MILLRACE_TRY(out.emplace_back(), sharding::read_sharding("#sdy.sharding" + s, meshes));
  }
  return spread_global(*module, devices, {in, out}, true);
}

PerDevice run_over(const std::string& text, int devices, const Texts& arguments,
                   const Texts& results, const PerDevice& inputs) {
  const auto made = spread_over(text, devices, arguments, results);
  if (!made) {
    ADD_FAILURE() << made.error().to_string();
    return {};
  }
  return run_spread(*made, inputs);
}

const std::string kMesh = "sdy.mesh @mesh = <[\"a\"=2, \"b\"=2]>\n";
const std::string kNegate =
    kMesh +
    "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n%r = stablehlo.negate %x : "
    "tensor<4xf32>\nreturn %r : tensor<4xf32>\n}\n";

TEST(SpreadGlobal, PartsBecomeAWholeAndAreCutAgain) {
  EXPECT_EQ(run_over(kNegate, 4, {"<@mesh, [{\"a\", \"b\"}]>"}, {"<@mesh, [{\"b\"}]>"},
                     {{{1}}, {{2}}, {{3}}, {{4}}}),
            (PerDevice{{{-1, -2}}, {{-3, -4}}, {{-1, -2}}, {{-3, -4}}}));
}

TEST(SpreadGlobal, DevicesThatHaveEqualPartsShareThem) {
  const auto made = spread_over(kNegate, 4, {"<@mesh, [{\"b\"}]>"}, {"<@mesh, [{}]>"});
  ASSERT_TRUE(made) << made.error().to_string();
  ASSERT_EQ(made->inputs.size(), 2U);
  EXPECT_EQ(made->inputs[1].device, 1);
  EXPECT_EQ(made->outputs, (std::vector<std::vector<int>>{{0}, {0}, {0}, {0}}));
  EXPECT_EQ(count(*made, K::kNegate), 1);
}

TEST(SpreadGlobal, TwoDimensionsAreCutIntoAGrid) {
  const std::string text =
      kMesh +
      "func.func @main(%x: tensor<2x4xf32>) -> tensor<4x2xf32> {\n%r = stablehlo.transpose %x, "
      "dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>\nreturn %r : tensor<4x2xf32>\n}\n";
  // The whole: 1 2 3 4 / 5 6 7 8.
  EXPECT_EQ(run_over(text, 4, {"<@mesh, [{\"a\"}, {\"b\"}]>"}, {"<@mesh, [{\"a\"}, {\"b\"}]>"},
                     {{{1, 2}}, {{3, 4}}, {{5, 6}}, {{7, 8}}}),
            (PerDevice{{{1, 2}}, {{5, 6}}, {{3, 4}}, {{7, 8}}}));
}

TEST(SpreadGlobal, WhatPartsDoNotDivideIsPadded) {
  const std::string text =
      "sdy.mesh @line = <[\"a\"=4]>\nfunc.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {\n%r = "
      "stablehlo.negate %x : tensor<5xf32>\nreturn %r : tensor<5xf32>\n}\n";
  // Two each, of which the third has one and the fourth none.
  EXPECT_EQ(run_over(text, 4, {"<@line, [{\"a\"}]>"}, {"<@line, [{\"a\"}]>"},
                     {{{1, 2}}, {{3, 4}}, {{5, 77}}, {{88, 99}}}),
            (PerDevice{{{-1, -2}}, {{-3, -4}}, {{-5, 0}}, {{0, 0}}}));
}

TEST(SpreadGlobal, DevicesOfAMeshMayComeInAnyOrder) {
  const std::string text =
      "sdy.mesh @mesh = <[\"a\"=2], device_ids=[1, 0]>\nfunc.func @main(%x: tensor<2xf32>) -> "
      "tensor<2xf32> {\nreturn %x : tensor<2xf32>\n}\n";
  EXPECT_EQ(run_over(text, 2, {"<@mesh, [{\"a\"}]>"}, {"<@mesh, [{}]>"}, {{{1}}, {{2}}}),
            (PerDevice{{{2, 1}}, {{2, 1}}}));
}

TEST(SpreadGlobal, UnreducedPartsAddUp) {
  EXPECT_EQ(run_over(kNegate, 4, {"<@mesh, [{\"b\"}], unreduced={\"a\"}>"}, {"<@mesh, [{}]>"},
                     {{{1, 2}}, {{3, 4}}, {{10, 20}}, {{30, 40}}})[3][0],
            (Numbers{-11, -22, -33, -44}));
  const PerDevice out =
      run_over(kNegate, 4, {"<@mesh, [{}]>"}, {"<@mesh, [{\"b\"}], unreduced={\"a\"}>"},
               PerDevice(4, {{1, 2, 3, 4}}));
  EXPECT_EQ(out, (PerDevice{{{-1, -2}}, {{-3, -4}}, {{0, 0}}, {{0, 0}}}));
}

// Adds up %v over groups of devices.
std::string sum(const std::string& groups, const std::string& type) {
  return "\"stablehlo.all_reduce\"(%v) ({\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n%s = "
         "stablehlo.add %p, %q : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}) "
         "{replica_groups "
         "= " +
         groups +
         ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, "
         "use_global_device_ids} : (" +
         type + ") -> " + type + "\n";
}

std::string manual(const std::string& body, const std::string& axes, const std::string& in,
                   const std::string& out, const std::string& part, const std::string& result) {
  return kMesh + "func.func @main(%x: tensor<4xf32>) -> " + result +
         " {\n%r = sdy.manual_computation(%x) in_shardings=[<@mesh, " + in +
         ">] out_shardings=[<@mesh, " + out + ">] manual_axes={" + axes + "} (%v: " + part +
         ") {\n" + body + "} : (tensor<4xf32>) -> " + result + "\nreturn %r : " + result + "\n}\n";
}
const PerDevice kWhole(4, {{1, 2, 3, 4}});

TEST(SpreadGlobal, EachDeviceOfAManualComputationHasItsPart) {
  const std::string text =
      manual("%t = " + sum("dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>", "tensor<1xf32>") +
                 "sdy.return %t : tensor<1xf32>\n",
             "\"a\", \"b\"", "[{\"a\", \"b\"}]", "[{\"b\"}]", "tensor<1xf32>", "tensor<2xf32>");
  EXPECT_EQ(run_over(text, 4, {"<@mesh, [{}]>"}, {"<@mesh, [{}]>"}, kWhole)[1][0],
            (Numbers{1 + 3, 2 + 4}));
}

TEST(SpreadGlobal, AxesThatAreNotManualHaveNoClones) {
  const std::string text =
      manual("%t = " + sum("dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>", "tensor<2xf32>") +
                 "%n = stablehlo.tanh %v : tensor<2xf32>\nsdy.return %t : tensor<2xf32>\n",
             "\"a\"", "[{\"a\"}]", "[{}]", "tensor<2xf32>", "tensor<2xf32>");
  const auto made = spread_over(text, 4, {"<@mesh, [{}]>"}, {"<@mesh, [{}]>"});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(count(*made, K::kTanh), 2);
  EXPECT_EQ(run_spread(*made, kWhole)[0][0], (Numbers{1 + 3, 2 + 4}));
}

TEST(SpreadGlobal, PartitionIdIsThatOfThePlace) {
  const std::string text = manual(
      "%i = stablehlo.partition_id : tensor<ui32>\n%f = stablehlo.convert %i : (tensor<ui32>) -> "
      "tensor<f32>\n%g = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> "
      "tensor<1xf32>\n%t = stablehlo.add %v, %g : tensor<1xf32>\nsdy.return %t : tensor<1xf32>\n",
      "\"a\", \"b\"", "[{\"a\", \"b\"}]", "[{\"a\", \"b\"}]", "tensor<1xf32>", "tensor<4xf32>");
  EXPECT_EQ(run_over(text, 4, {"<@mesh, [{}]>"}, {"<@mesh, [{}]>"}, kWhole)[0][0],
            (Numbers{1, 3, 5, 7}));
}

TEST(SpreadGlobal, AManualComputationInAnother) {
  const std::string inner =
      "%t = sdy.manual_computation(%v) in_shardings=[<@mesh, [{\"b\"}]>] out_shardings=[<@mesh, "
      "[{\"b\"}]>] manual_axes={\"b\"} (%w: tensor<1xf32>) {\n"
      "%i = stablehlo.partition_id : tensor<ui32>\n%f = stablehlo.convert %i : (tensor<ui32>) -> "
      "tensor<f32>\n%g = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> "
      "tensor<1xf32>\n%u = stablehlo.add %w, %g : tensor<1xf32>\nsdy.return %u : tensor<1xf32>\n"
      "} : (tensor<2xf32>) -> tensor<2xf32>\nsdy.return %t : tensor<2xf32>\n";
  const std::string text =
      manual(inner, "\"a\"", "[{\"a\"}]", "[{\"a\"}]", "tensor<2xf32>", "tensor<4xf32>");
  EXPECT_EQ(run_over(text, 4, {"<@mesh, [{}]>"}, {"<@mesh, [{}]>"}, kWhole)[0][0],
            (Numbers{1, 3, 5, 7}));
}

TEST(SpreadGlobal, AManualComputationInALoopOfTheWhole) {
  const std::string body =
      "%t = " + sum("dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>", "tensor<1xf32>") +
      "%u = stablehlo.add %t, %v : tensor<1xf32>\nsdy.return %u : tensor<1xf32>\n";
  const std::string text =
      kMesh +
      "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
      "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "%r:2 = \"stablehlo.while\"(%zero, %x) ({\n^bb0(%i: tensor<i32>, %y: tensor<4xf32>):\n"
      "%n = stablehlo.constant dense<2> : tensor<i32>\n"
      "%p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "stablehlo.return %p : tensor<i1>\n}, {\n^bb0(%i: tensor<i32>, %y: tensor<4xf32>):\n"
      "%one = stablehlo.constant dense<1> : tensor<i32>\n"
      "%j = stablehlo.add %i, %one : tensor<i32>\n"
      "%k = sdy.manual_computation(%y) in_shardings=[<@mesh, [{\"a\", \"b\"}]>] "
      "out_shardings=[<@mesh, [{\"a\", \"b\"}]>] manual_axes={\"a\", \"b\"} (%v: tensor<1xf32>) "
      "{\n" +
      body +
      "} : (tensor<4xf32>) -> tensor<4xf32>\n"
      "stablehlo.return %j, %k : tensor<i32>, tensor<4xf32>\n}) : (tensor<i32>, tensor<4xf32>) -> "
      "(tensor<i32>, tensor<4xf32>)\nreturn %r#1 : tensor<4xf32>\n}\n";
  // 1 2 3 4 have the sum 10; 11 12 13 14 have 50.
  EXPECT_EQ(run_over(text, 4, {"<@mesh, [{}]>"}, {"<@mesh, [{}]>"}, kWhole)[0][0],
            (Numbers{61, 62, 63, 64}));
}

TEST(SpreadGlobal, ConstraintsAreWhatTheyGet) {
  const std::string text =
      kMesh +
      "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n%c = sdy.sharding_constraint %x "
      "<@mesh, [{\"a\"}]> : tensor<4xf32>\n%r = stablehlo.negate %c : tensor<4xf32>\nreturn %r : "
      "tensor<4xf32>\n}\n";
  EXPECT_EQ(run_over(text, 4, {"<@mesh, [{}]>"}, {"<@mesh, [{}]>"}, kWhole)[2][0],
            (Numbers{-1, -2, -3, -4}));
}

std::string fault(const std::string& text, int devices = 4) {
  const auto made = spread_over(text, devices, {"<@mesh, [{}]>"}, {"<@mesh, [{}]>"});
  return made ? "it was spread" : made.error().message();
}

TEST(SpreadGlobal, FaultsHavePlaceAndNumbers) {
  const std::string keep = "sdy.return %v : tensor<2xf32>\n";
  EXPECT_EQ(fault(kNegate, 2), "argument 0 lies on a mesh of 4 devices, but the program is for 2");
  EXPECT_THAT(
      fault(manual(keep, "\"c\"", "[{\"a\"}]", "[{\"a\"}]", "tensor<2xf32>", "tensor<4xf32>")),
      HasSubstr("3:6: sdy.manual_computation: in_shardings 0: the manual axis \"c\" is not in"));
  EXPECT_THAT(
      fault(manual(keep, "\"b\"", "[{\"a\"}]", "[{\"a\"}]", "tensor<2xf32>", "tensor<4xf32>")),
      HasSubstr("argument 0 of region 0 is tensor<2xf32>, expected tensor<4xf32>"));
  EXPECT_THAT(
      fault(manual("%t = " + sum("dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>", "tensor<2xf32>") +
                       "sdy.return %t : tensor<2xf32>\n",
                   "\"a\"", "[{\"a\"}]", "[{\"a\"}]", "tensor<2xf32>", "tensor<4xf32>")),
      HasSubstr("device 0 is in a group with device 1, which does not come here"));
  EXPECT_THAT(fault(kMesh + "func.func @main(%x: tensor<4xf32>) -> tensor<ui32> {\n%r = "
                            "stablehlo.partition_id : tensor<ui32>\nreturn %r : tensor<ui32>\n}\n"),
              HasSubstr("3:6: stablehlo.partition_id: which device it is on has no meaning"));
  EXPECT_THAT(
      fault(kMesh + "func.func @main(%x: tensor<4xf32> {mhlo.sharding = \"{replicated}\"}) -> "
                    "tensor<4xf32> {\nreturn %x : tensor<4xf32>\n}\n"),
      HasSubstr("argument 0 has mhlo.sharding: annotations of GSPMD are not read"));
  EXPECT_THAT(fault(kMesh + "func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {mhlo.sharding = "
                            "\"{replicated}\"}) {\nreturn %x : tensor<4xf32>\n}\n"),
              HasSubstr("result 0 has mhlo.sharding: annotations of GSPMD are not read"));
  EXPECT_THAT(
      fault(kMesh + "func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {\n"
                    "%y = \"stablehlo.if\"(%p) ({\n"
                    "%t = stablehlo.add %x, %x {mhlo.sharding = \"{replicated}\"} : tensor<4xf32>\n"
                    "stablehlo.return %t : tensor<4xf32>\n}, {\n"
                    "stablehlo.return %x : tensor<4xf32>\n}) : (tensor<i1>) -> tensor<4xf32>\n"
                    "return %y : tensor<4xf32>\n}\n"),
      HasSubstr("4:6: stablehlo.add: it has mhlo.sharding: annotations of GSPMD are not read"));
}

}  // namespace
}  // namespace millrace::devices::stablehlo::spread
