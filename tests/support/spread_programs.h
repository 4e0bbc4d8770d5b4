// Random programs for several devices, as spread makes one program of each. Read next:
// random_program.h.
#pragma once

#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/buffer.h"
#include "millrace/devices/stablehlo/spread/one_program.h"
#include "tests/support/random_program.h"

namespace millrace::testing {

// As a program of replicas, or a global one of whole arrays, which may be divided.
Result<devices::stablehlo::spread::Spread> spread_of(const RandomProgram& program);

// By device and argument; in a global program with the devices as a dimension in front.
std::vector<std::vector<devices::HostArray>> inputs_of_devices(const RandomProgram& program);

}  // namespace millrace::testing
