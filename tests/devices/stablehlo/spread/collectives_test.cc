// Each collective, by each way to group processes, against numbers that were computed by hand.
#include <gtest/gtest.h>

#include "tests/devices/stablehlo/spread/run_spread.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using testing::fault_of;
using testing::Numbers;
using testing::PerDevice;
using testing::run;

struct Case {
  std::string name;
  SpreadOptions devices;
  std::string argument;  // its type
  std::string body;      // gives %r from %x
  std::string result;    // its type
  PerDevice inputs;
  PerDevice outputs;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string program(const std::string& argument, const std::string& body,
                    const std::string& result) {
  return "func.func @main(%x: " + argument + ") -> " + result + " {\n" + body +
         "\nreturn %r : " + result + "\n}\n";
}

const std::string kSum =
    "({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%s = stablehlo.add %a, %b : tensor<f32>\n"
    "stablehlo.return %s : tensor<f32>\n})";

// Groups as the attribute has them, a channel (0: none), global ids.
std::string grouped(const std::string& groups, int channel, bool global = false) {
  std::string out = "replica_groups = " + groups;
  if (channel > 0)
    out += ", channel_handle = #stablehlo.channel_handle<handle = " + std::to_string(channel) +
           ", type = 0>";
  return out + (global ? ", use_global_device_ids" : "");
}

std::string all_reduce(const std::string& groups, const std::string& body = kSum) {
  return "%r = \"stablehlo.all_reduce\"(%x) " + body + " {" + groups +
         "} : (tensor<2xf32>) -> tensor<2xf32>";
}

class CollectiveTest : public ::testing::TestWithParam<Case> {};

TEST_P(CollectiveTest, EachDeviceGetsItsNumbers) {
  const Case& c = GetParam();
  EXPECT_EQ(run(program(c.argument, c.body, c.result), c.devices, c.inputs), c.outputs);
}

const PerDevice kTwo = {{{1, 2}}, {{10, 20}}};
const PerDevice kFour = {{{1, 2}}, {{10, 20}}, {{100, 200}}, {{1000, 2000}}};
const std::string kList = "tensor<2xf32>";

INSTANTIATE_TEST_SUITE_P(
    AllReduce, CollectiveTest,
    ::testing::Values(
        Case{"Replicas",
             {2, 1},
             kList,
             all_reduce(grouped("dense<[[0, 1]]> : tensor<1x2xi64>", 0)),
             kList,
             kTwo,
             {{{11, 22}}, {{11, 22}}}},
        Case{"EmptyGroupsAreAll",
             {2, 1},
             kList,
             all_reduce(grouped("dense<> : tensor<0x0xi64>", 0)),
             kList,
             kTwo,
             {{{11, 22}}, {{11, 22}}}},
        Case{"ReplicasWithinEachPartition",
             {2, 2},
             kList,
             all_reduce(grouped("dense<[[0, 1]]> : tensor<1x2xi64>", 0)),
             kList,
             kFour,
             {{{101, 202}}, {{1010, 2020}}, {{101, 202}}, {{1010, 2020}}}},
        Case{"ReplicasAndPartitions",
             {2, 2},
             kList,
             all_reduce(grouped("dense<[[0], [1]]> : tensor<2x1xi64>", 1)),
             kList,
             kFour,
             {{{11, 22}}, {{11, 22}}, {{1100, 2200}}, {{1100, 2200}}}},
        Case{"GlobalIds",
             {2, 2},
             kList,
             all_reduce(grouped("dense<[[0, 3], [2, 1]]> : tensor<2x2xi64>", 1, true)),
             kList,
             kFour,
             {{{1001, 2002}}, {{110, 220}}, {{110, 220}}, {{1001, 2002}}}},
        Case{"AxesOfAMeshThatStandsThere",
             {1, 4},
             kList,
             all_reduce(grouped("#stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = "
                                "[#stablehlo.mesh_axis<name = \"x\", size = 2>, "
                                "#stablehlo.mesh_axis<name = \"y\", size = 2>]>, axes = "
                                "[#stablehlo.axis_ref<name = \"x\">]>",
                                1, true)),
             kList,
             kFour,
             {{{101, 202}}, {{1010, 2020}}, {{101, 202}}, {{1010, 2020}}}},
        Case{"APartOfAnAxis",
             {1, 4},
             kList,
             all_reduce(grouped("#stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = "
                                "[#stablehlo.mesh_axis<name = \"x\", size = 4>]>, axes = "
                                "[#stablehlo.axis_ref<name = \"x\", sub_axis_info = "
                                "#stablehlo.sub_axis_info<pre_size = 2, size = 2>>]>",
                                1, true)),
             kList,
             kFour,
             {{{11, 22}}, {{11, 22}}, {{1100, 2200}}, {{1100, 2200}}}},
        Case{"GroupsOfDifferentLengths",
             {4, 1},
             kList,
             all_reduce(grouped("dense<[[0, 1, 3], [2, -1, -1]]> : tensor<2x3xi64>", 0)),
             kList,
             kFour,
             {{{1011, 2022}}, {{1011, 2022}}, {{100, 200}}, {{1011, 2022}}}}),
    [](const auto& info) { return info.param.name; });

std::string all_gather(const std::string& groups, int dimension, const std::string& from,
                       const std::string& to) {
  return "%r = \"stablehlo.all_gather\"(%x) {all_gather_dim = " + std::to_string(dimension) +
         " : i64, " + groups + "} : (" + from + ") -> " + to;
}

INSTANTIATE_TEST_SUITE_P(
    AllGather, CollectiveTest,
    ::testing::Values(Case{"GathersInTheGroupsOrder",
                           {2, 1},
                           kList,
                           all_gather(grouped("dense<[[1, 0]]> : tensor<1x2xi64>", 0), 0, kList,
                                      "tensor<4xf32>"),
                           "tensor<4xf32>",
                           kTwo,
                           {{{10, 20, 1, 2}}, {{10, 20, 1, 2}}}},
                      Case{"GathersTheInnerDimension",
                           {2, 1},
                           "tensor<2x1xf32>",
                           all_gather(grouped("dense<[[0, 1]]> : tensor<1x2xi64>", 0), 1,
                                      "tensor<2x1xf32>", "tensor<2x2xf32>"),
                           "tensor<2x2xf32>",
                           kTwo,
                           {{{1, 10, 2, 20}}, {{1, 10, 2, 20}}}},
                      Case{"GathersByGlobalIds",
                           {1, 4},
                           kList,
                           all_gather(grouped("dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>", 7, true),
                                      0, kList, "tensor<4xf32>"),
                           "tensor<4xf32>",
                           kFour,
                           {{{1, 2, 100, 200}},
                            {{10, 20, 1000, 2000}},
                            {{1, 2, 100, 200}},
                            {{10, 20, 1000, 2000}}}}),
    [](const auto& info) { return info.param.name; });

std::string reduce_scatter(const std::string& groups, const std::string& from,
                           const std::string& to, int dimension) {
  return "%r = \"stablehlo.reduce_scatter\"(%x) " + kSum +
         " {scatter_dimension = " + std::to_string(dimension) + " : i64, " + groups + "} : (" +
         from + ") -> " + to;
}

INSTANTIATE_TEST_SUITE_P(
    ReduceScatter, CollectiveTest,
    ::testing::Values(Case{"ScattersInTheGroupsOrder",
                           {2, 1},
                           kList,
                           reduce_scatter(grouped("dense<[[1, 0]]> : tensor<1x2xi64>", 0), kList,
                                          "tensor<1xf32>", 0),
                           "tensor<1xf32>",
                           kTwo,
                           {{{22}}, {{11}}}},
                      Case{"ScattersTheInnerDimension",
                           {2, 1},
                           "tensor<1x2xf32>",
                           reduce_scatter(grouped("dense<[[0, 1]]> : tensor<1x2xi64>", 0),
                                          "tensor<1x2xf32>", "tensor<1x1xf32>", 1),
                           "tensor<1x1xf32>",
                           kTwo,
                           {{{11}}, {{22}}}}),
    [](const auto& info) { return info.param.name; });

std::string all_to_all(const std::string& groups, int split, int concat, int count,
                       const std::string& from, const std::string& to) {
  return "%r = \"stablehlo.all_to_all\"(%x) {split_dimension = " + std::to_string(split) +
         " : i64, concat_dimension = " + std::to_string(concat) +
         " : i64, split_count = " + std::to_string(count) + " : i64, " + groups + "} : (" + from +
         ") -> " + to;
}

INSTANTIATE_TEST_SUITE_P(
    AllToAll, CollectiveTest,
    ::testing::Values(Case{"SplitsAndConcatenatesTheSame",
                           {2, 1},
                           kList,
                           all_to_all(grouped("dense<[[0, 1]]> : tensor<1x2xi64>", 0), 0, 0, 2,
                                      kList, kList),
                           kList,
                           kTwo,
                           {{{1, 10}}, {{2, 20}}}},
                      Case{"SplitsOneAndConcatenatesAnother",
                           {1, 2},
                           "tensor<2x1xf32>",
                           all_to_all(grouped("dense<[[1, 0]]> : tensor<1x2xi64>", 1), 0, 1, 2,
                                      "tensor<2x1xf32>", "tensor<1x2xf32>"),
                           "tensor<1x2xf32>",
                           kTwo,
                           {{{20, 2}}, {{10, 1}}}}),
    [](const auto& info) { return info.param.name; });

std::string permute(const std::string& pairs, int channel) {
  const std::string handle =
      channel > 0 ? ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>" : "";
  return "%r = \"stablehlo.collective_permute\"(%x) {source_target_pairs = " + pairs + handle +
         "} : (tensor<2xf32>) -> tensor<2xf32>";
}
std::string broadcast(const std::string& groups) {
  return "%r = \"stablehlo.collective_broadcast\"(%x) {" + groups +
         "} : (tensor<2xf32>) -> tensor<2xf32>";
}

INSTANTIATE_TEST_SUITE_P(
    Moves, CollectiveTest,
    ::testing::Values(
        Case{"PermuteGivesZerosWhereNothingComes",
             {4, 1},
             kList,
             permute("dense<[[0, 1], [1, 2], [3, 3]]> : tensor<3x2xi64>", 0),
             kList,
             kFour,
             {{{0, 0}}, {{1, 2}}, {{10, 20}}, {{1000, 2000}}}},
        Case{"PermuteOfPartitions",
             {2, 2},
             kList,
             permute("dense<[[0, 1]]> : tensor<1x2xi64>", 1),
             kList,
             kFour,
             {{{0, 0}}, {{1, 2}}, {{0, 0}}, {{100, 200}}}},
        Case{"BroadcastLeavesOthersZero",
             {4, 1},
             kList,
             broadcast(grouped("dense<[[2, 1]]> : tensor<1x2xi64>", 0)),
             kList,
             kFour,
             {{{0, 0}}, {{100, 200}}, {{100, 200}}, {{0, 0}}}},
        Case{
            "PartitionAndReplica",
            {2, 2},
            kList,
            "%p = stablehlo.partition_id : tensor<ui32>\n%q = stablehlo.replica_id : tensor<ui32>\n"
            "%s = stablehlo.shift_left %q, %q : tensor<ui32>\n"
            "%r = stablehlo.add %p, %s : tensor<ui32>",
            "tensor<ui32>",
            kFour,
            {{{0}}, {{1}}, {{2}}, {{3}}}}),
    [](const auto& info) { return info.param.name; });

// A body that no operation does: 2 a + b, which shows the order, too.
const std::string kDoubling =
    "({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%two = stablehlo.constant dense<2.0> : "
    "tensor<f32>\n%d = stablehlo.multiply %a, %two : tensor<f32>\n%s = stablehlo.add %d, %b : "
    "tensor<f32>\nstablehlo.return %s : tensor<f32>\n})";
// One with control flow, which is run element by element.
const std::string kBranching =
    "({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%p = stablehlo.compare LT, %a, %b : "
    "(tensor<f32>, tensor<f32>) -> tensor<i1>\n%s = \"stablehlo.if\"(%p) ({\nstablehlo.return %b : "
    "tensor<f32>\n}, {\nstablehlo.return %a : tensor<f32>\n}) : (tensor<i1>) -> tensor<f32>\n"
    "stablehlo.return %s : tensor<f32>\n})";

INSTANTIATE_TEST_SUITE_P(
    Bodies, CollectiveTest,
    ::testing::Values(Case{"OfSeveralOperations",
                           {1, 3},
                           kList,
                           all_reduce(grouped("dense<[[0, 1, 2]]> : tensor<1x3xi64>", 1, true),
                                      kDoubling),
                           kList,
                           {{{1, 2}}, {{10, 20}}, {{100, 200}}},
                           {{{124, 248}}, {{124, 248}}, {{124, 248}}}},
                      Case{"WithControlFlow",
                           {2, 1},
                           kList,
                           all_reduce(grouped("dense<[[0, 1]]> : tensor<1x2xi64>", 0), kBranching),
                           kList,
                           {{{1, 20}}, {{10, 2}}},
                           {{{10, 20}}, {{10, 20}}}}),
    [](const auto& info) { return info.param.name; });

TEST(Collectives, AllReduceOfSeveralArraysUsesOneBodyForEach) {
  const std::string text =
      "func.func @main(%x: tensor<2xf32>, %y: tensor<f32>) -> (tensor<2xf32>, tensor<f32>) {\n"
      "%r:2 = \"stablehlo.all_reduce\"(%x, %y) " +
      kSum + " {" + grouped("dense<[[0, 1]]> : tensor<1x2xi64>", 0) +
      "} : (tensor<2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>)\n"
      "return %r#0, %r#1 : tensor<2xf32>, tensor<f32>\n}\n";
  EXPECT_EQ(run(text, {2, 1}, {{{1, 2}, {5}}, {{10, 20}, {6}}}),
            (PerDevice{{{11, 22}, {11}}, {{11, 22}, {11}}}));
}

// Sends: to device 0 first, then to device 1. Device 0 keeps 1 row and sends 2; device 1 sends 1
// and keeps none.
TEST(Collectives, RaggedAllToAllMovesTheRowsThatDataName) {
  const std::string text =
      "func.func @main(%x: tensor<3xf32>, %o: tensor<4xf32>, %in: tensor<2xi32>, %n: tensor<2xi32>,"
      " %out: tensor<2xi32>, %got: tensor<2xi32>) -> tensor<4xf32> {\n"
      "%r = stablehlo.custom_call @ragged_all_to_all(%x, %o, %in, %n, %out, %got) {api_version = 4 "
      ": i32, backend_config = {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : "
      "(tensor<3xf32>, tensor<4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) "
      "-> tensor<4xf32>\nreturn %r : tensor<4xf32>\n}\n";
  const Numbers empty = {-1, -2, -3, -4};
  EXPECT_EQ(run(text, {2, 1},
                {{{1, 2, 3}, empty, {0, 1}, {1, 2}, {0, 0}, {1, 1}},
                 {{4, 5, 6}, empty, {2, 0}, {1, 0}, {3, 2}, {2, 0}}}),
            (PerDevice{{{1, -2, -3, 6}}, {{2, 3, -3, -4}}}));
}

struct Fault {
  std::string name;
  SpreadOptions devices;
  std::string body;
  std::string words;
};

void PrintTo(const Fault& c, std::ostream* out) { *out << c.name; }

class CollectiveFaultTest : public ::testing::TestWithParam<Fault> {};

TEST_P(CollectiveFaultTest, IsRefusedWithPlaceAndNumbers) {
  const Fault& c = GetParam();
  EXPECT_EQ(fault_of(program(kList, c.body, kList), c.devices), c.words);
}

INSTANTIATE_TEST_SUITE_P(
    All, CollectiveFaultTest,
    ::testing::Values(
        Fault{"BeyondTheDevices",
              {2, 1},
              all_reduce(grouped("dense<[[0, 1, 2]]> : tensor<1x3xi64>", 0)),
              "2:6: stablehlo.all_reduce: replica_groups name process 2, but there are 2 replicas"},
        Fault{"NotCovered",
              {4, 1},
              all_reduce(grouped("dense<[[0, 1]]> : tensor<1x2xi64>", 0)),
              "2:6: stablehlo.all_reduce: replica_groups do not name process 2 of 4 replicas, "
              "expected each in one group"},
        Fault{"GlobalIdsWithoutChannel",
              {2, 1},
              all_reduce(grouped("dense<[[0, 1]]> : tensor<1x2xi64>", 0, true)),
              "2:6: stablehlo.all_reduce: use_global_device_ids needs a channel, and "
              "channel_handle is 0"},
        Fault{
            "NoSuchAxis",
            {1, 2},
            all_reduce(grouped("#stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = "
                               "[#stablehlo.mesh_axis<name = \"x\", size = 2>]>, axes = "
                               "[#stablehlo.axis_ref<name = \"z\">]>",
                               1, true)),
            "2:6: stablehlo.all_reduce: replica_groups: 1:151: there is no axis \"z\" in the mesh "
            "<[\"x\"=2]>"},
        Fault{"TooFewForTheSplit",
              {4, 1},
              all_to_all(grouped("dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>", 0), 0, 0, 1, kList,
                         kList),
              "2:6: stablehlo.all_to_all: split_count is 1, but a group has 2 processes"},
        Fault{"GathersTooMuch",
              {2, 1},
              all_gather(grouped("dense<[[0, 1]]> : tensor<1x2xi64>", 0), 0, kList, kList),
              "2:6: stablehlo.all_gather: dimension 0 of result 0 is 2, expected 4, that of the "
              "operand for 2 processes"},
        Fault{"PermuteBeyondTheDevices",
              {2, 1},
              permute("dense<[[0, 5]]> : tensor<1x2xi64>", 0),
              "2:6: stablehlo.collective_permute: source_target_pairs name process 5, but there "
              "are 2 replicas"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace millrace::devices::stablehlo::spread
