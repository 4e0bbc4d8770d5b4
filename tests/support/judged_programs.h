// judge_shard: a test's share of random programs, each judged beside XLA. What differs is made
// small and printed with its seed. Read next: random_program.h, oracle.h, shrink.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/support/oracle.h"
#include "tests/support/random_program.h"

namespace millrace::testing {

// A test has so many shards, so that each ends in time with MILLRACE_LONG too.
inline constexpr int kJudgedShards = 40;

// The tolerance of the narrowest type that anything is rounded to: one device rounds after each
// step where the other does not.
Tolerance tolerance_of(const RandomProgram& program);

struct Judged {
  Verdict verdict = Verdict::kSame;
  std::string words = {};
  bool is_theirs = false;  // kDifferent: XLA is not of one mind with itself either
};

struct ProgramJudge {
  int programs = 8;  // of a shard; 250 with MILLRACE_LONG=1
  std::function<RandomProgram(std::uint64_t seed)> make;
  std::function<Judged(const RandomProgram&)> judge;
  std::function<std::string(const RandomProgram&)> text;  // for who reads a failure
  int most_tries = 500;                                   // to make it small
};

// Seeds begin at 1, or MILLRACE_SEED. A failure of the current test for each difference, up to
// three, and where XLA refuses or differs from itself too often to be an oracle.
void judge_shard(int shard, const ProgramJudge& judge);

}  // namespace millrace::testing
