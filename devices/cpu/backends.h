// backends: the registry that every choice of a device begins with.
#pragma once

#include "millrace/devices/registry.h"

namespace millrace::devices::cpu {

// With "cpu" alone, of the lowest priority.
ClientRegistry backends();

}  // namespace millrace::devices::cpu
