// A program for several devices, divided among processes: what each computes, what they give each
// other, and that together they give what one process does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/devices/stablehlo/spread/run_spread.h"
#include "tests/support/judged_programs.h"
#include "tests/support/random_program.h"
#include "tests/support/sanitized.h"
#include "tests/support/spread_programs.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using ::testing::HasSubstr;
using K = ir::OpKind;
using millrace::testing::RandomProgram;
using testing::count;
using testing::run;
using testing::spread_text;

const std::string kSum =
    "({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%s = stablehlo.add %a, %b : tensor<f32>\n"
    "stablehlo.return %s : tensor<f32>\n}) {replica_groups = dense<> : tensor<0x0xi64>} : "
    "(tensor<f32>) -> tensor<f32>\n";

// The targets of the custom calls of @main, in order: "give 0 to 1", "take 2 from 1".
void add_calls(const ir::Block& block, std::vector<std::string>& calls) {
  for (const ir::Op& op : block) {
    if (op.kind() == K::kCustomCall) {
      const bool gives = op.callee() == kGive;
      calls.push_back((gives ? "give " : "take ") + std::to_string(op.int_or(kEdge, -1)) +
                      (gives ? " to " : " from ") + std::to_string(op.int_or(kProcess, -1)));
    }
    for (const ir::Region& region : op.regions()) add_calls(region.block(), calls);
  }
}
std::vector<std::string> calls_of(const Spread& whole, const ProcessCounts& counts, int process) {
  const auto part = divide(whole, counts, process);
  if (!part) return {part.error().message()};
  std::vector<std::string> calls;
  add_calls(part->module.find("main")->body().block(), calls);
  return calls;
}
using Calls = std::vector<std::string>;

// HO-1
TEST(Divide, ASumGoesToEachProcessAsWhatTheOthersHaveAddedUp) {
  const auto made = spread_text(
      "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n%v = "
      "stablehlo.negate %x : tensor<f32>\n%r = \"stablehlo.all_reduce\"(%v) " +
          kSum +
          "%t = stablehlo.tanh %r : tensor<f32>\nreturn %t : "
          "tensor<f32>\n}\n",
      {4, 1});
  ASSERT_TRUE(made) << made.error().to_string();
  // ((0 + 1) + 2) + 3: the first has 0 + 1 to give, the second 2 and 3.
  EXPECT_EQ(calls_of(*made, {2, 2}, 0), (Calls{"give 2 to 1", "take 0 from 1", "take 1 from 1"}));
  EXPECT_EQ(calls_of(*made, {2, 2}, 1), (Calls{"give 0 to 0", "give 1 to 0", "take 2 from 0"}));
  const auto part = divide(*made, {2, 2}, 1);
  EXPECT_EQ(count(*part, K::kNegate), 2);
  EXPECT_EQ(count(*part, K::kTanh), 1);
  EXPECT_EQ(part->outputs, (std::vector<std::vector<int>>{{0}, {0}}));
}

// HO-1
TEST(Divide, WhatOneProcessAloneNeedsGoesNowhere) {
  const std::string text =
      "func.func @main(%x: tensor<2xf32>) -> tensor<4xf32> {\n%g = \"stablehlo.all_gather\"(%x) "
      "{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>} : "
      "(tensor<2xf32>) -> tensor<4xf32>\nreturn %g : tensor<4xf32>\n}\n";
  const auto made = spread_text(text, {4, 1});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(calls_of(*made, {2, 2}, 0), Calls{});
  EXPECT_EQ(calls_of(*made, {4, 1}, 1), (Calls{"give 1 to 0", "take 0 from 0"}));
}

TEST(Divide, WhatADeviceDonatesIsGivenBeforeItIsWrittenOver) {
  const std::string text =
      "func.func @main(%x: tensor<f32> {tf.aliasing_output = 0 : i32}, %y: tensor<f32> "
      "{jax.buffer_donor = true}) -> (tensor<f32>, tensor<f32>) {\n%n = stablehlo.negate %x : "
      "tensor<f32>\n%r = \"stablehlo.all_reduce\"(%x) " +
      kSum + "%q = \"stablehlo.all_reduce\"(%y) " + kSum +
      "%s = stablehlo.add %n, %r : tensor<f32>\nreturn %s, %q : tensor<f32>, tensor<f32>\n}\n";
  const auto made = spread_text(text, {2, 1});
  ASSERT_TRUE(made) << made.error().to_string();
  const auto part = divide(*made, {2, 1}, 1);
  ASSERT_TRUE(part) << part.error().to_string();
  EXPECT_TRUE(part->module.find("main")->arg_attribute(0, "tf.aliasing_output"));
  EXPECT_EQ(run(text, {2, 1}, {{{1}, {10}}, {{2}, {20}}}),
            (testing::PerDevice{{{2}, {30}}, {{1}, {30}}}));
}

// DV-2
TEST(Divide, WhoOnlyGivesIsAnswered) {
  const std::string text =
      "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n%r = "
      "\"stablehlo.collective_permute\"(%x) {source_target_pairs = dense<[[0, 1]]> : "
      "tensor<1x2xi64>} : (tensor<f32>) -> tensor<f32>\nreturn %r : tensor<f32>\n}\n";
  const auto made = spread_text(text, {2, 1});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(calls_of(*made, {2, 1}, 0), (Calls{"give 0 to 1", "take 1 from 1"}));
  EXPECT_EQ(calls_of(*made, {2, 1}, 1), (Calls{"take 0 from 0", "give 1 to 0"}));
}

// HO-2
TEST(Divide, ALoopThatOneProcessDecidesIsRunByAllOfThem) {
  // Only the first device knows how often; each round the last one's value goes round.
  const std::string text =
      "func.func @main(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {\n%r:2 = "
      "\"stablehlo.while\"(%n, %x) ({\n^bb0(%i: tensor<i32>, %v: tensor<f32>):\n%z = "
      "stablehlo.constant dense<0> : tensor<i32>\n%p = stablehlo.compare GT, %i, %z : "
      "(tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %p : tensor<i1>\n}, {\n"
      "^bb0(%i: tensor<i32>, %v: tensor<f32>):\n%one = stablehlo.constant dense<1> : tensor<i32>\n"
      "%j = stablehlo.subtract %i, %one : tensor<i32>\n%w = \"stablehlo.collective_permute\"(%v) "
      "{source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>} : "
      "(tensor<f32>) -> tensor<f32>\nstablehlo.return %j, %w : tensor<i32>, tensor<f32>\n}) : "
      "(tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)\nreturn %r#1 : tensor<f32>\n}\n";
  EXPECT_EQ(run(text, {4, 1}, {{{5}, {1}}, {{5}, {2}}, {{5}, {3}}, {{5}, {4}}}),
            (testing::PerDevice{{{4}}, {{1}}, {{2}}, {{3}}}));
}

// DV-2: the first device alone says, in each outer round, that the inner loop makes no round. It
// must not be a hundred rounds ahead.
TEST(Divide, ALoopOfNoRoundsIsAnsweredByTheOneAroundIt) {
  const std::string text =
      "func.func @main(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {\n%z = stablehlo.c"
      "onstant dense<0> : tensor<i32>\n%m = \"stablehlo.collective_broadcast\"(%n) {replica"
      "_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<i32>) -> tensor<i32>\n%r:2 = "
      "\"stablehlo.while\"(%z, %x) ({\n^bb0(%i: tensor<i32>, %v: tensor<f32>):\n%e = stable"
      "hlo.constant dense<100> : tensor<i32>\n%p = stablehlo.compare LT, %i, %e : (tensor<i"
      "32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %p : tensor<i1>\n}, {\n^bb0(%i: te"
      "nsor<i32>, %v: tensor<f32>):\n%q:2 = \"stablehlo.while\"(%m, %v) ({\n^bb0(%k: tensor"
      "<i32>, %w: tensor<f32>):\n%o = stablehlo.constant dense<0> : tensor<i32>\n%p = stabl"
      "ehlo.compare GT, %k, %o : (tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return"
      " %p : tensor<i1>\n}, {\n^bb0(%k: tensor<i32>, %w: tensor<f32>):\n%one = stablehlo.co"
      "nstant dense<1> : tensor<i32>\n%l = stablehlo.subtract %k, %one : tensor<i32>\n%u = "
      "\"stablehlo.collective_permute\"(%w) {source_target_pairs = dense<[[0, 1]]> : tensor"
      "<1x2xi64>} : (tensor<f32>) -> tensor<f32>\nstablehlo.return %l, %u : tensor<i32>, te"
      "nsor<f32>\n}) : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)\n%one = sta"
      "blehlo.constant dense<1> : tensor<i32>\n%j = stablehlo.add %i, %one : tensor<i32>\ns"
      "tablehlo.return %j, %q#1 : tensor<i32>, tensor<f32>\n}) : (tensor<i32>, tensor<f32>)"
      " -> (tensor<i32>, tensor<f32>)\nreturn %r#1 : tensor<f32>\n}\n";
  EXPECT_EQ(run(text, {2, 1}, {{{0}, {1}}, {{0}, {2}}}), (testing::PerDevice{{{1}}, {{2}}}));
}

// HO-1: what goes round a ring goes from each to the next alone.
TEST(Divide, WhatALoopPassesOnGoesToTheOneThatGetsIt) {
  const std::string text =
      "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n%z = stablehlo.constant dense<0> : "
      "tensor<i32>\n%r:2 = \"stablehlo.while\"(%z, %x) ({\n^bb0(%i: tensor<i32>, %v: "
      "tensor<f32>):\n%n = stablehlo.constant dense<3> : tensor<i32>\n%p = stablehlo.compare LT, "
      "%i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %p : tensor<i1>\n}, {\n"
      "^bb0(%i: tensor<i32>, %v: tensor<f32>):\n%one = stablehlo.constant dense<1> : tensor<i32>\n"
      "%j = stablehlo.add %i, %one : tensor<i32>\n%w = \"stablehlo.collective_permute\"(%v) "
      "{source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>} : "
      "(tensor<f32>) -> tensor<f32>\nstablehlo.return %j, %w : tensor<i32>, tensor<f32>\n}) : "
      "(tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)\nreturn %r#1 : tensor<f32>\n}\n";
  const auto made = spread_text(text, {4, 1});
  ASSERT_TRUE(made) << made.error().to_string();
  for (int p = 0; p < 4; ++p) {
    const auto part = divide(*made, {4, 1}, p);
    ASSERT_TRUE(part) << part.error().to_string();
    // Its value and an answer, each way; and what its loop carries: the counter and its value.
    EXPECT_EQ(calls_of(*made, {4, 1}, p).size(), 4U);
    for (const ir::Op& op : part->module.find("main")->body().block())
      if (op.kind() == K::kWhile) {
        EXPECT_EQ(op.result_count(), 2);
      }
  }
  EXPECT_EQ(run(text, {4, 1}, {{{1}}, {{2}}, {{3}}, {{4}}}),
            (testing::PerDevice{{{2}}, {{3}}, {{4}}, {{1}}}));
}

TEST(Divide, RefusesCallsThatStandForItsOwn) {
  const auto made = spread_text(
      "func.func @main(%x: tensor<f32>) -> tensor<f32> {\nstablehlo.custom_call "
      "@millrace.give(%x) {has_side_effect = true} : (tensor<f32>) -> ()\nreturn %x : "
      "tensor<f32>\n}\n",
      {2, 1});
  ASSERT_TRUE(made) << made.error().to_string();
  const auto part = divide(*made, {2, 1}, 0);
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(part.error().message(), HasSubstr("2:1: stablehlo.custom_call: @millrace.give"));
}

using millrace::testing::ArraysOfDevices;
using millrace::testing::run_divided;

ArraysOfDevices inputs_of(const RandomProgram& program) {
  ArraysOfDevices inputs;
  for (const auto& device : millrace::testing::inputs_of_devices(program)) {
    auto& arrays = inputs.emplace_back();
    for (const HostArray& array : device)
      arrays.push_back({array.shape(), {array.bytes().begin(), array.bytes().end()}});
  }
  return inputs;
}

std::vector<HostArray> host_arrays(const std::vector<cpu::testing::Array>& arrays) {
  std::vector<HostArray> made;
  for (const auto& array : arrays) {
    HostArray& host = made.emplace_back(HostArray::make(array.shape));
    std::ranges::copy(array.bytes, host.mutable_bytes().begin());
  }
  return made;
}

class RandomDivisions : public ::testing::TestWithParam<int> {};

// DV-1: no order of turns ends in a wait for ever.
TEST_P(RandomDivisions, ProcessesGiveTogetherWhatOneDoes) {
  const char* const first = std::getenv("MILLRACE_SEED");
  const bool is_long = std::getenv("MILLRACE_LONG") != nullptr;
  const std::uint64_t seeds = is_long ? 1000 : millrace::testing::kSanitized ? 4 : 40;
  const std::uint64_t begin = first != nullptr ? std::strtoull(first, nullptr, 10)
                                               : 1 + static_cast<std::uint64_t>(GetParam()) * seeds;
  for (std::uint64_t seed = begin; seed < begin + seeds; ++seed) {
    SCOPED_TRACE("MILLRACE_SEED=" + std::to_string(seed));
    const RandomProgram program =
        millrace::testing::random_program(seed, seed % 4 < 2 ? 2 : 4, seed % 2 == 1);
    const auto whole = millrace::testing::spread_of(program);
    ASSERT_TRUE(whole) << whole.error().to_string();
    const ArraysOfDevices inputs = inputs_of(program);
    const auto expected = run_divided(*whole, {1, program.devices}, inputs, seed);
    ASSERT_TRUE(expected) << expected.error().to_string();
    for (int processes = 2; processes <= program.devices; processes *= 2) {
      const auto found =
          run_divided(*whole, {processes, program.devices / processes}, inputs, seed);
      ASSERT_TRUE(found) << processes << " processes: " << found.error().to_string() << "\n"
                         << ir::print(whole->module);
      for (std::size_t d = 0; d < found->size(); ++d) {
        const auto wrong = millrace::testing::difference(
            host_arrays((*found)[d]), host_arrays((*expected)[d]), tolerance_of(program));
        ASSERT_FALSE(wrong) << processes << " processes, device " << d << ": " << *wrong << "\n"
                            << ir::print(whole->module);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomDivisions, ::testing::Range(0, 8));

}  // namespace
}  // namespace millrace::devices::stablehlo::spread
