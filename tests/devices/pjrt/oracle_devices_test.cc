// Random programs over 2 and 4 devices, with collectives, as one program on the CPU device and on
// devices of XLA's CPU client: 1,000 of them, 10,000 with MILLRACE_LONG=1. Half of them are local
// programs of replicas, half global ones with sdy.manual_computation. What differs is made small
// and printed. MILLRACE_SEED=N begins at another seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "millrace/devices/stablehlo/ir/print.h"
#include "tests/support/judged_programs.h"
#include "tests/support/oracle.h"
#include "tests/support/random_program.h"
#include "tests/support/spread_programs.h"

namespace millrace::testing {
namespace {

namespace ir = devices::stablehlo::ir;
namespace spread = devices::stablehlo::spread;

using devices::HostArray;
using devices::Program;

// Whether it gathers from what dynamic_slice gives. XLA makes one operation of both, which reads
// beyond the slice where an index does: stock JAX gives p[2] for lax.gather(lax.dynamic_slice(p,
// [axis_index], [2]), [2]) on the first device, in place of the slice's last element.
bool gathers_from_slice(const ProgramBlock& block, std::set<int>& slices) {
  for (const ProgramStep& step : block.steps) {
    if (step.op == "dynamic_slice") slices.insert(step.results.begin(), step.results.end());
    const bool gathers = step.op == "gather" || step.op == "dynamic_gather";
    if (gathers && slices.contains(step.operands[0])) return true;
    for (const ProgramBlock& inner : step.blocks)
      if (gathers_from_slice(inner, slices)) return true;
  }
  return false;
}

// Without arrays that have no elements: XLA takes no collectives of such, and does not cut them.
RandomProgram program_of(std::uint64_t seed) {
  constexpr std::uint64_t kNext = std::uint64_t{1} << 32;
  for (std::uint64_t at = seed;; at += kNext) {
    RandomProgram program = random_program(at, seed % 4 < 2 ? 2 : 4, seed % 2 == 1);
    std::set<int> slices;
    if (std::ranges::all_of(program.types, [](const TensorType& t) { return t.elements() > 0; }) &&
        !gathers_from_slice(program.main, slices))
      return program;
  }
}

// What the one program gives, on the CPU device or on one of theirs.
Result<Oracle::PerDevice> run_spread(Oracle& oracle, bool theirs, const RandomProgram& program,
                                     const Oracle::PerDevice& inputs) {
  MILLRACE_TRY(const spread::Spread made, spread_of(program));
  std::vector<HostArray> arguments;
  for (const auto& [device, argument, holders] : made.inputs)
    arguments.push_back(
        inputs[static_cast<std::size_t>(device)][static_cast<std::size_t>(argument)]);
  const Program one = Program::from_text(ir::print(made.module));
  MILLRACE_TRY(const std::vector<HostArray> results,
               theirs ? oracle.theirs(one, arguments) : oracle.ours(one, arguments));
  Oracle::PerDevice outputs;
  for (const auto& device : made.outputs) {
    auto& arrays = outputs.emplace_back();
    for (const int r : device) arrays.push_back(results[static_cast<std::size_t>(r)]);
  }
  return outputs;
}

std::optional<std::string> first_difference(const RandomProgram& program,
                                            const Oracle::PerDevice& mine,
                                            const Oracle::PerDevice& theirs) {
  for (std::size_t d = 0; d < mine.size(); ++d) {
    if (const auto wrong = difference(mine[d], theirs[d], tolerance_of(program)))
      return "device " + std::to_string(d) + ", " + *wrong;
  }
  return std::nullopt;
}

// A difference is XLA's own where it gives for the one program what it gives for the devices' own:
// that was spread right.
Judged judge(Oracle& oracle, const RandomProgram& program) {
  const Oracle::PerDevice inputs = inputs_of_devices(program);
  const auto mine = run_spread(oracle, false, program, inputs);
  if (!mine) return {Verdict::kOursRefused, mine.error().to_string()};
  const auto other = oracle.theirs_on_devices(
      Program::from_text(program.is_manual ? program.to_manual_text() : program.to_text()),
      program.is_manual ? 1 : program.devices, program.is_manual ? program.devices : 1, inputs);
  if (!other) return {Verdict::kTheirsRefused, other.error().to_string()};
  const auto wrong = first_difference(program, *mine, *other);
  if (!wrong) return {};
  const auto one = run_spread(oracle, true, program, inputs);
  return {Verdict::kDifferent, *wrong, one && !first_difference(program, *one, *other)};
}

class RandomDevicesTest : public ::testing::TestWithParam<int> {};

TEST_P(RandomDevicesTest, ProgramsAgreeWithXla) {
  const std::unique_ptr<Oracle> oracle = Oracle::open_if_there();
  if (!oracle) GTEST_SKIP() << "no plugin here: tests/fetch_plugins gets it";
  judge_shard(GetParam(),
              {.programs = 25,
               .make = program_of,
               .judge = [&](const RandomProgram& program) { return judge(*oracle, program); },
               .text =
                   [](const RandomProgram& program) {
                     return std::to_string(program.devices) + " devices\n" +
                            (program.is_manual ? program.to_manual_text() : program.to_text());
                   },
               .most_tries = 100});
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomDevicesTest, ::testing::Range(0, kJudgedShards));

}  // namespace
}  // namespace millrace::testing
