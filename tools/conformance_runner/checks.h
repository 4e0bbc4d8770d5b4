// The comparisons that StableHLO's test programs call for: check.expect_eq, check.expect_close,
// check.expect_almost_eq and check.eq, as custom calls of the CPU device. The rules are those of
// StableHLO's own interpreter.
#pragma once

#include "millrace/core/base/error.h"

namespace millrace::conformance {

// Registers them with the CPU device, once per process. A comparison that fails is an error
// kDataLoss of the execution that says which element is wrong, and both values.
Status register_checks();

}  // namespace millrace::conformance
