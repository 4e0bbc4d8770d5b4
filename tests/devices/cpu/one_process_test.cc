// Programs for several processes are refused; those for one run, whatever collectives they have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/devices/cpu/run_support.h"

namespace millrace::devices::cpu {
namespace {

using ::testing::HasSubstr;

std::string verdict(const std::string& attributes, const std::string& op) {
  const auto module =
      stablehlo::text::read_text("module @m" + attributes +
                                 " {\nfunc.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n "
                                 "%0 = " +
                                 op +
                                 " : (tensor<2xf32>) -> tensor<2xf32>\n return %0 : "
                                 "tensor<2xf32>\n}\n}\n");
  if (!module) return "not read: " + module.error().message();
  const auto plan = make_plan(*module, {});
  if (plan) return "good";
  EXPECT_EQ(plan.error().code(), ErrorCode::kUnimplemented);
  return plan.error().message();
}

std::string all_reduce(const std::string& groups) {
  return "\"stablehlo.all_reduce\"(%a) <{replica_groups = dense<" + groups +
         "}> ({\n^bb0(%l: tensor<f32>, %r: tensor<f32>):\n %z = stablehlo.add %l, %r : "
         "tensor<f32>\n stablehlo.return %z : tensor<f32>\n})";
}

TEST(Alone, CollectivesOfOneProcessRun) {
  EXPECT_EQ(verdict(" attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}",
                    all_reduce("0> : tensor<1x1xi64>")),
            "good");
  EXPECT_EQ(verdict("", all_reduce("> : tensor<0x0xi64>")), "good");
  EXPECT_EQ(verdict("",
                    "\"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<0> : "
                    "tensor<1x2xi64>}>"),
            "good");
}

TEST(Alone, CollectivesOfSeveralAreRefusedWithTheirPlace) {
  EXPECT_THAT(verdict("", all_reduce("[[0, 1]]> : tensor<1x2xi64>")),
              HasSubstr("3:7: stablehlo.all_reduce: its replica_groups name process 1: on the CPU "
                        "device a program runs as one process"));
  EXPECT_THAT(verdict("",
                      "\"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<[[0, "
                      "3]]> : tensor<1x2xi64>}>"),
              HasSubstr("its source_target_pairs name process 3"));
}

TEST(Alone, GroupsByTheAxesOfAMeshAreReadWhereItStands) {
  const auto reduce = [](const std::string& size) {
    return "\"stablehlo.collective_reduce\"(%a) <{replica_groups = "
           "#stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = "
           "[#stablehlo.mesh_axis<name = \"x\", size = " +
           size +
           ">]>, axes = [#stablehlo.axis_ref<name = \"x\">]>}> ({\n^bb0(%l: tensor<f32>, %r: "
           "tensor<f32>):\n %z = stablehlo.add %l, %r : tensor<f32>\n stablehlo.return %z : "
           "tensor<f32>\n})";
  };
  EXPECT_EQ(verdict("", reduce("1")), "good");
  EXPECT_THAT(verdict("", reduce("2")),
              HasSubstr("stablehlo.collective_reduce: its replica_groups are axes of a mesh of "
                        "which one has 2 processes: on the CPU device"));
}

TEST(Alone, ModulesForSeveralAreRefused) {
  EXPECT_THAT(verdict(" attributes {mhlo.num_replicas = 2 : i32}", "\"stablehlo.abs\"(%a)"),
              HasSubstr("the module @m has mhlo.num_replicas = 2: on the CPU device"));
  EXPECT_THAT(verdict(" attributes {mhlo.num_partitions = 8 : i32}", "\"stablehlo.abs\"(%a)"),
              HasSubstr("mhlo.num_partitions = 8"));
}

}  // namespace
}  // namespace millrace::devices::cpu
