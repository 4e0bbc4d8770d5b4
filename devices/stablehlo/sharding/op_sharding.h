// A sharding as the message OpSharding of XLA's xla_data.proto, which PJRT clients read: JAX makes
// the sharding of an array of it. Read next: sharding.h.
#pragma once

#include <string>

#include "millrace/devices/stablehlo/sharding/sharding.h"

namespace millrace::devices::stablehlo::sharding {

// The bytes of the message. Open dimensions, priorities and explicitly replicated axes are not
// told: it says how the array lies. The kind of reduction of unreduced axes is not told either.
std::string to_op_sharding(const Sharding& sharding);

}  // namespace millrace::devices::stablehlo::sharding
