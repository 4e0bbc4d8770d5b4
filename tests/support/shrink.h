// shrink: makes a program that fails smaller while it fails, so that what is left shows why. Pure
// but for the predicate. Read next: random_program.h.
#pragma once

#include <functional>

#include "tests/support/random_program.h"

namespace millrace::testing {

// Reads and verifies.
bool is_valid(const RandomProgram& program);

struct Shrunk {
  RandomProgram program;
  int tries = 0;  // calls of the predicate
};

// `fails` holds for the program, and for what comes out: with one result if that is enough, as few
// steps as it finds, and sizes of dimensions as small as it finds. Gives up after most_tries.
Shrunk shrink(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails,
              int most_tries = 500);

}  // namespace millrace::testing
