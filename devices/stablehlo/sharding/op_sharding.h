// A sharding as XLA's protobuf message OpSharding, which PJRT clients read: JAX makes the sharding
// of an array of it. Read next: sharding.h.
#pragma once

#include <string>

#include "millrace/devices/stablehlo/sharding/sharding.h"

namespace millrace::devices::stablehlo::sharding {

// The bytes of the message. It says how the array lies: open dimensions, priorities, explicitly
// replicated axes and the kind of reduction of unreduced axes have no place in it.
std::string to_op_sharding(const Sharding& sharding);

}  // namespace millrace::devices::stablehlo::sharding
