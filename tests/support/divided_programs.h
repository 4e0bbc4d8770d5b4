// DividedPrograms: what a program for several devices gives when it is run by several processes:
// each runs its part of it as a plan, and what they give each other is kept here. No threads:
// processes take turns in the order of a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/spread/divide.h"
#include "tests/support/interpreter.h"

namespace millrace::testing {

using ArraysOfDevices = std::vector<std::vector<devices::cpu::testing::Array>>;

// inputs: by device and argument; so are the outputs. An error names processes that wait for each
// other, and what was given and not taken.
Result<ArraysOfDevices> run_divided(const devices::stablehlo::spread::Spread& whole,
                                    const devices::stablehlo::spread::ProcessCounts& counts,
                                    const ArraysOfDevices& inputs, std::uint64_t seed);

}  // namespace millrace::testing
