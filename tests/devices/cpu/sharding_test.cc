// Programs with Shardy's operations and attributes on a mesh of one device, as JAX writes them
// (sharding/make_programs.py): text and portable artifact run, and give what JAX gives.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/devices/cpu/compile/make_plan.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "millrace/devices/stablehlo/verify/verify.h"
#include "tests/devices/cpu/run_support.h"
#include "tests/support/paths.h"

namespace millrace::devices::cpu {
namespace {

using testing::Bytes;

std::string path_of(const std::string& name) {
  return millrace::testing::source_folder() + "/tests/devices/cpu/sharding/" + name;
}

// One array per line.
std::vector<std::vector<float>> golden_arrays(const std::string& name) {
  std::vector<std::vector<float>> arrays;
  std::istringstream lines(testing::read_whole_file(path_of(name + ".txt")));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line);
    arrays.emplace_back();
    for (float x = 0; numbers >> x;) arrays.back().push_back(x);
  }
  return arrays;
}

struct Case {
  const char* name;
  const char* ending;
};

class ShardingTest : public ::testing::TestWithParam<Case> {};

TEST_P(ShardingTest, RunsOnOneDevice) {
  const std::string name = GetParam().name;
  const auto module =
      stablehlo::read_program(testing::read_whole_file(path_of(name + GetParam().ending)));
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  const Status verdict = stablehlo::verify::verify(*module);
  ASSERT_TRUE(verdict.has_value()) << verdict.error().to_string();
  const auto plan = make_plan(*module, {.deterministic = true});
  ASSERT_TRUE(plan.has_value()) << plan.error().to_string();
  const auto context = RunContext::create(**plan);
  ASSERT_TRUE(context.has_value());
  const auto arrays = golden_arrays(name);
  const std::size_t inputs = (*plan)->inputs().size();
  ASSERT_EQ(arrays.size(), inputs + (*plan)->outputs().size());
  std::vector<const void*> in;
  std::vector<void*> out;
  for (std::size_t i = 0; i < inputs; ++i) in.push_back(arrays[i].data());
  std::vector<std::vector<float>> results;
  for (const Shape& s : (*plan)->outputs()) results.emplace_back(s.elements());
  for (auto& r : results) out.push_back(r.data());
  const auto serial = make_serial_parallel();
  const Status done = (*context)->run(in, out, *serial);
  ASSERT_TRUE(done.has_value()) << done.error().to_string();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::vector<float>& want = arrays[inputs + i];
    ASSERT_EQ(results[i].size(), want.size());
    for (std::size_t k = 0; k < want.size(); ++k)
      EXPECT_NEAR(results[i][k], want[k], 1e-5 * std::fabs(want[k]) + 1e-7) << i << " " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, ShardingTest,
                         ::testing::Values(Case{"constraints", ".mlir"},
                                           Case{"constraints", ".mlir.bc"}, Case{"manual", ".mlir"},
                                           Case{"manual", ".mlir.bc"}),
                         [](const auto& info) {
                           return std::string(info.param.name) +
                                  (std::string(info.param.ending) == ".mlir" ? "Text" : "Bytecode");
                         });

// The planner relies on the verifier for what ops compute, not for what is only passed on.
TEST(Sharding, WhatIsPassedOnKeepsItsShape) {
  const auto refusal = [](const std::string& op) {
    const auto module = stablehlo::text::read_text(
        "func.func @main(%a: tensor<2xf32>) -> tensor<400xf32> {\n %0 = " + op +
        " -> tensor<400xf32>\n return %0 : tensor<400xf32>\n}\n");
    if (!module) return "not read: " + module.error().message();
    const auto plan = make_plan(*module, {});
    return plan ? std::string("planned") : plan.error().message();
  };
  EXPECT_EQ(refusal(R"("sdy.sharding_constraint"(%a) : (tensor<2xf32>))"),
            "2:7: sdy.sharding_constraint: a result is tensor<400xf32>, but gets tensor<2xf32>");
  EXPECT_EQ(refusal("\"sdy.manual_computation\"(%a) ({\n^bb0(%x: tensor<400xf32>):\n "
                    "\"sdy.return\"(%x) : (tensor<400xf32>) -> ()\n}) : (tensor<2xf32>)"),
            "2:7: sdy.manual_computation: argument 0 is tensor<400xf32>, but gets tensor<2xf32>");
  EXPECT_EQ(
      refusal(R"("builtin.unrealized_conversion_cast"(%a, %a) : (tensor<2xf32>, tensor<2xf32>))")
          .substr(0, 80),
      "2:7: builtin.unrealized_conversion_cast: not supported by the CPU device");
}

}  // namespace
}  // namespace millrace::devices::cpu
