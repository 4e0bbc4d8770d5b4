// The generator of random programs and what makes them small again; what they find is in
// ../pjrt/oracle_random_test.cc.
#include "tests/support/random_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "millrace/devices/stablehlo/text/read_text.h"
#include "millrace/devices/stablehlo/verify/verify.h"
#include "tests/support/drop_nans.h"
#include "tests/support/shrink.h"

namespace millrace::testing {
namespace {

using ::testing::ElementsAre;

// Why it is not valid, empty if it is.
std::string why_not(const RandomProgram& program) {
  const std::string text = program.to_text();
  const auto module = devices::stablehlo::text::read_text(text);
  if (!module) return module.error().message() + "\n" + text;
  const Status verified = devices::stablehlo::verify::verify(*module);
  return verified ? "" : verified.error().message() + "\n" + text;
}

TEST(RandomProgramTest, EveryOneIsValid) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed)
    ASSERT_EQ(why_not(random_program(seed)), "") << "seed " << seed;
}

TEST(RandomProgramTest, ItIsTheSameForTheSameSeed) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RandomProgram program = random_program(seed);
    EXPECT_EQ(program.to_text(), random_program(seed).to_text());
    const auto inputs = random_inputs(program), again = random_inputs(program);
    ASSERT_EQ(inputs.size(), program.main.parameters.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_EQ(inputs[i].shape(), program.type(program.main.parameters[i]).shape());
      EXPECT_TRUE(std::ranges::equal(inputs[i].bytes(), again[i].bytes()));
    }
  }
  EXPECT_NE(random_program(1).to_text(), random_program(2).to_text());
}

TEST(RandomProgramTest, EveryFamilyComesUpAndNoneIsRare) {
  std::map<std::string, int> programs;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    for (const std::string& op : random_program(seed).ops()) ++programs[op];
  }
  for (const char* op : {"add",
                         "multiply",
                         "negate",
                         "tanh",
                         "compare",
                         "select",
                         "clamp",
                         "convert",
                         "reshape",
                         "transpose",
                         "broadcast_in_dim",
                         "iota",
                         "slice",
                         "reverse",
                         "pad",
                         "concatenate",
                         "dynamic_slice",
                         "dynamic_update_slice",
                         "gather",
                         "scatter",
                         "reduce",
                         "reduce_window",
                         "sort",
                         "dot_general",
                         "convolution",
                         "while",
                         "if",
                         "case"})
    EXPECT_GE(programs[op], 5) << op;
  EXPECT_GE(programs.size(), 55U);
}

bool has_step(const RandomProgram& program, const std::string& op) {
  return std::ranges::find(program.main.steps, op, &ProgramStep::op) != program.main.steps.end();
}

// A program that fails where it has a step of this operation.
Shrunk smallest_with(const std::string& op, std::uint64_t& seed) {
  for (seed = 1;; ++seed) {
    const RandomProgram program = random_program(seed);
    if (has_step(program, op) && program.size() > 6)
      return shrink(program, [&](const RandomProgram& p) { return has_step(p, op); });
  }
}

TEST(ShrinkTest, OneOperationIsLeftOfAProgramThatFailsByIt) {
  for (const char* op : {"tanh", "add", "transpose", "convert", "gather", "dot_general", "sort",
                         "pad", "dynamic_slice", "iota"}) {
    std::uint64_t seed = 0;
    const Shrunk shrunk = smallest_with(op, seed);
    EXPECT_EQ(why_not(shrunk.program), "");
    EXPECT_EQ(shrunk.program.main.steps.size(), 1U) << "seed " << seed << "\n"
                                                    << shrunk.program.to_text();
    EXPECT_EQ(shrunk.program.main.results.size(), 1U);
  }
}

TEST(ShrinkTest, BlocksLoseWhatTheyDoNotNeed) {
  std::uint64_t seed = 0;
  const Shrunk loop = smallest_with("while", seed);
  EXPECT_LE(loop.program.size(), 6U) << loop.program.to_text();
  const Shrunk branch = smallest_with("if", seed);
  EXPECT_LE(branch.program.size(), 3U) << branch.program.to_text();
}

TEST(ShrinkTest, SizesShrinkToWhatFails) {
  // Fails for vectors of at least three elements that are negated.
  RandomProgram program{.seed = 7};
  const int x = program.add_value({devices::DType::kF32, {5, 6}});
  const int y = program.add_value({devices::DType::kF32, {5, 6}});
  const int z = program.add_value({devices::DType::kF32, {5, 6}});
  program.main = {
      .parameters = {x}, .steps = {{"negate", {x}, {y}}, {"tanh", {y}, {z}}}, .results = {z, y}};
  const Shrunk shrunk = shrink(program, [](const RandomProgram& p) {
    for (const ProgramStep& step : p.main.steps) {
      if (step.op == "negate" && p.type(step.operands[0]).elements() >= 3) return true;
    }
    return false;
  });
  EXPECT_THAT(shrunk.program.ops(), ElementsAre("negate"));
  EXPECT_EQ(shrunk.program.type(shrunk.program.main.parameters[0]).elements(), 3)
      << shrunk.program.to_text();
}

TEST(ShrinkTest, ItEndsWhenTheTriesAreUsedUp) {
  std::uint64_t seed = 1;
  int calls = 0;
  const Shrunk shrunk =
      shrink(random_program(seed), [&](const RandomProgram&) { return ++calls > 0; }, 3);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(shrunk.tries, 3);
}

RandomProgram one_step(const std::string& op, devices::DType dtype, int operands) {
  RandomProgram program;
  ProgramStep step{.op = op, .operands = {}, .results = {}};
  for (int i = 0; i < operands; ++i) step.operands.push_back(program.add_value({dtype, {2}}));
  step.results = {program.add_value({dtype, {2}})};
  program.main = {.parameters = step.operands, .steps = {step}, .results = step.results};
  return program;
}

TEST(DropNansTest, FloatingExtremesAreWrittenOutAndAllElseStays) {
  for (const char* op : {"minimum", "maximum", "clamp"}) {
    const RandomProgram program =
        one_step(op, devices::DType::kF32, std::string(op) == "clamp" ? 3 : 2);
    const RandomProgram dropped = drop_nans(program);
    EXPECT_EQ(why_not(dropped), "");
    EXPECT_TRUE(dropped.ops().contains("select")) << op;
    EXPECT_FALSE(dropped.ops().contains("clamp")) << op;
    EXPECT_EQ(nan_droppers(program), std::string(op) == "clamp" ? 2 : 1);
    EXPECT_FALSE(drop_nans(program, 0).ops().contains("select")) << op;
  }
  for (const RandomProgram& program :
       {one_step("minimum", devices::DType::kI32, 2), one_step("add", devices::DType::kF32, 2)}) {
    EXPECT_EQ(drop_nans(program).to_text(), program.to_text());
    EXPECT_EQ(nan_droppers(program), 0);
  }
  for (std::uint64_t seed = 1; seed <= 100; ++seed)
    ASSERT_EQ(why_not(drop_nans(random_program(seed))), "") << "seed " << seed;
}

}  // namespace
}  // namespace millrace::testing
