// Random programs on the CPU device and on XLA's CPU client: 320 of them, 10,000 with
// MILLRACE_LONG=1. What differs is made small and printed. MILLRACE_SEED=N begins at another seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/drop_nans.h"
#include "tests/support/judged_programs.h"
#include "tests/support/oracle.h"
#include "tests/support/random_program.h"

namespace millrace::testing {
namespace {

using devices::DType;
using devices::HostArray;
using devices::Program;

Comparison compare(Oracle& oracle, const RandomProgram& program) {
  return oracle.compare_once(
      Program::from_text(program.to_text(), "seed " + std::to_string(program.seed)),
      random_inputs(program), tolerance_of(program));
}

// Values that the step reads, in its blocks too, and that are made outside of it.
void add_free_values(const ProgramStep& step, const std::set<int>& made, std::set<int>& free) {
  for (const int v : step.operands) {
    if (!made.contains(v)) free.insert(v);
  }
  for (const ProgramBlock& block : step.blocks) {
    std::set<int> inside = made;
    inside.insert(block.parameters.begin(), block.parameters.end());
    for (const ProgramStep& inner : block.steps) {
      add_free_values(inner, inside, free);
      inside.insert(inner.results.begin(), inner.results.end());
    }
    for (const int v : block.results) {
      if (!inside.contains(v)) free.insert(v);
    }
  }
}

// XLA's results of a program that it sees one step at a time, so that it fuses nothing.
Result<std::vector<HostArray>> step_by_step(Oracle& oracle, const RandomProgram& program) {
  std::map<int, HostArray> values;
  const auto inputs = random_inputs(program);
  for (std::size_t i = 0; i < inputs.size(); ++i) values[program.main.parameters[i]] = inputs[i];
  for (const ProgramStep& step : program.main.steps) {
    std::set<int> free;
    add_free_values(step, {}, free);
    RandomProgram one = program;
    one.main = {.parameters = {free.begin(), free.end()}, .steps = {step}, .results = step.results};
    std::vector<HostArray> arguments;
    for (const int v : free) arguments.push_back(values[v]);
    MILLRACE_TRY(const std::vector<HostArray> made,
                 oracle.theirs(Program::from_text(one.to_text()), arguments));
    for (std::size_t i = 0; i < made.size(); ++i) values[step.results[i]] = made[i];
  }
  std::vector<HostArray> results;
  for (const int v : program.main.results) results.push_back(values[v]);
  return results;
}

// Theirs is, in each element, what comes of it where some extremes lose a NaN and others keep it.
bool has_lost_a_nan(Oracle& oracle, const RandomProgram& program, const Comparison& found) {
  constexpr int kMost = 6;  // of places each by itself; the others are as the last of them
  constexpr std::uint64_t kLast = std::uint64_t{1} << (kMost - 1);
  const int places = std::min(nan_droppers(program), kMost);
  std::vector<std::vector<HostArray>> lost;
  for (std::uint64_t some = 1; some < std::uint64_t{1} << places; ++some) {
    const std::uint64_t dropping = (some & kLast) != 0 ? some | ~(kLast - 1) : some;
    const auto made = oracle.ours(Program::from_text(drop_nans(program, dropping).to_text()),
                                  random_inputs(program));
    if (!made) return false;
    lost.push_back(*made);
  }
  return !difference(found.ours, found.theirs, tolerance_of(program), lost);
}

// Ours is what XLA itself gives when it fuses nothing: the error is in XLA's fusions.
bool is_theirs(Oracle& oracle, const RandomProgram& program, const Comparison& found) {
  if (found.verdict != Verdict::kDifferent) return false;
  if (has_lost_a_nan(oracle, program, found)) return true;
  const auto plain = step_by_step(oracle, program);
  return plain && !difference(found.ours, *plain, tolerance_of(program));
}

Judged judge(Oracle& oracle, const RandomProgram& program) {
  const Comparison found = compare(oracle, program);
  return {found.verdict, found.words, is_theirs(oracle, program, found)};
}

// The bytes of each parameter, in hexadecimal, the last byte of an element first.
std::string inputs_text(const RandomProgram& program) {
  std::ostringstream text;
  const auto inputs = random_inputs(program);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t width = devices::byte_width(inputs[i].shape().dtype());
    text << "%v" << program.main.parameters[i] << ":" << std::hex << std::setfill('0');
    for (std::size_t at = 0; at < inputs[i].bytes().size(); at += width) {
      text << ' ';
      for (std::size_t b = width; b > 0; --b)
        text << std::setw(2) << std::to_integer<int>(inputs[i].bytes()[at + b - 1]);
    }
    text << std::dec << "\n";
  }
  return text.str();
}

float float_at(const HostArray& array, std::size_t i) {
  float value = 0;
  std::memcpy(&value, array.bytes().data() + i * sizeof value, sizeof value);
  return value;
}

// Whether XLA may give `wrong` in element `at` of op(x, y), where x[0] is a NaN and x[1] is none.
// It is told y[0].
bool may_give(Oracle& oracle, const std::string& op, std::size_t at,
              const std::function<float(float)>& wrong) {
  RandomProgram program;
  const int x = program.add_value({DType::kF32, {2}}), y = program.add_value({DType::kF32, {2}}),
            z = program.add_value({DType::kF32, {2}});
  program.main = {.parameters = {x, y}, .steps = {{op, {x, y}, {z}}}, .results = {z}};
  program.special = {x};
  std::vector<HostArray> inputs;
  do {
    ++program.seed;
    inputs = random_inputs(program);
  } while (!std::isnan(float_at(inputs[0], 0)) || std::isnan(float_at(inputs[0], 1)));
  const auto ours = oracle.ours(Program::from_text(program.to_text()), inputs).value();
  HostArray theirs = HostArray::make(ours[0].shape());
  std::ranges::copy(ours[0].bytes(), theirs.mutable_bytes().begin());
  const float value = wrong(float_at(inputs[1], 0));
  std::memcpy(theirs.mutable_bytes().data() + at * sizeof value, &value, sizeof value);
  return has_lost_a_nan(oracle, program, {Verdict::kDifferent, "", ours, {theirs}});
}

TEST(LostNanTest, OnlyTheNumberThatMetItMayStandForANan) {
  const std::unique_ptr<Oracle> oracle = Oracle::open_if_there();
  if (!oracle) GTEST_SKIP() << "no plugin here: tests/fetch_plugins gets it";
  for (const char* op : {"minimum", "maximum"}) {
    EXPECT_TRUE(may_give(*oracle, op, 0, [](float y) { return y; })) << op;
    EXPECT_FALSE(may_give(*oracle, op, 0, [](float y) { return y + 1; })) << op;
    EXPECT_FALSE(may_give(*oracle, op, 1, [](float) { return std::nanf(""); })) << op;
  }
  EXPECT_FALSE(may_give(*oracle, "add", 0, [](float y) { return y; }));
}

class RandomOracleTest : public ::testing::TestWithParam<int> {};

TEST_P(RandomOracleTest, ProgramsAgreeWithXla) {
  const std::unique_ptr<Oracle> oracle = Oracle::open_if_there();
  if (!oracle) GTEST_SKIP() << "no plugin here: tests/fetch_plugins gets it";
  judge_shard(GetParam(),
              {.make = [](std::uint64_t seed) { return random_program(seed); },
               .judge = [&](const RandomProgram& program) { return judge(*oracle, program); },
               .text = [](const RandomProgram& p) { return p.to_text() + inputs_text(p); }});
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomOracleTest, ::testing::Range(0, kJudgedShards));

}  // namespace
}  // namespace millrace::testing
