// A program whose extremes lose a NaN, as those of XLA's CPU client do now and then: by how LLVM
// orders the operands of a vector minimum. The specification and ours keep it. Pure. Read next:
// random_program.h, oracle.h.
#pragma once

#include <cstdint>

#include "tests/support/random_program.h"

namespace millrace::testing {

// How many places there are where a NaN may be lost: floating minima and maxima, those of clamps
// included, inner blocks too.
int nan_droppers(const RandomProgram& program);

// The same but that at the places of `dropping` (bit i is place i; those from 63 on are as 63) the
// extreme of a NaN and a number is the number. Where no NaN meets one of them, its results are
// those of the program, bit by bit.
RandomProgram drop_nans(const RandomProgram& program, std::uint64_t dropping = ~std::uint64_t{0});

}  // namespace millrace::testing
