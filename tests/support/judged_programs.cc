#include "tests/support/judged_programs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <set>

#include "tests/support/sanitized.h"
#include "tests/support/shrink.h"

namespace millrace::testing {
namespace {

bool fails(const Judged& judged) {
  return judged.verdict == Verdict::kOursRefused ||
         (judged.verdict == Verdict::kDifferent && !judged.is_theirs);
}

}  // namespace

Tolerance tolerance_of(const RandomProgram& program) {
  using devices::DType;
  std::set<DType> types;
  for (const TensorType& type : program.types) types.insert(type.dtype);
  double loose = 1e-9;
  if (types.contains(DType::kF32) || types.contains(DType::kC64)) loose = 2e-4;
  if (types.contains(DType::kF16)) loose = 1e-2;
  if (types.contains(DType::kBF16)) loose = 6e-2;
  return {.relative = loose, .absolute = loose, .scaled = true};
}

void judge_shard(int shard, const ProgramJudge& judge) {
  const char* const all = std::getenv("MILLRACE_LONG");
  const char* const begin = std::getenv("MILLRACE_SEED");
  const bool has_all = all != nullptr && std::string(all) == "1";
  const int count = has_all ? 250 : kSanitized ? judge.programs / 8 : judge.programs;
  const std::uint64_t first = (begin != nullptr ? std::strtoull(begin, nullptr, 10) : 1) +
                              static_cast<std::uint64_t>(shard * count);
  const std::uint64_t end = first + static_cast<std::uint64_t>(count);
  std::cout << "seeds " << first << " to " << end - 1
            << std::endl;  // at once: a program may end the process in XLA
  int refused = 0, theirs = 0, failed = 0;
  for (std::uint64_t seed = first; seed < end && failed < 3; ++seed) {
    const RandomProgram program = judge.make(seed);
    const Judged found = judge.judge(program);
    if (found.verdict == Verdict::kSame) continue;
    if (found.verdict == Verdict::kTheirsRefused) {
      ++refused;
      std::cout << "seed " << seed << ": XLA refused: " << found.words << "\n";
      continue;
    }
    if (!fails(found)) {
      ++theirs;
      std::cout << "seed " << seed << ": XLA differs from itself: " << found.words << "\n";
      continue;
    }
    const Shrunk small = shrink(
        program, [&](const RandomProgram& candidate) { return fails(judge.judge(candidate)); },
        judge.most_tries);
    ADD_FAILURE() << "seed " << seed << ": " << found.words << "\nmade small in " << small.tries
                  << " tries: " << judge.judge(small.program).words << "\n"
                  << judge.text(small.program);
    ++failed;
  }
  EXPECT_LE(theirs, 1 + count / 20) << "too often for an oracle";
  EXPECT_LE(refused, 1 + count / 50)
      << "a generator whose programs XLA does not take tests nothing";
}

}  // namespace millrace::testing
