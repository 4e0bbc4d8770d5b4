// wall_time(): the time of day, for stamps that come from or go to others (a plugin's profiler).
// Nothing is scheduled by it: it jumps when somebody sets it.
#pragma once

#include "millrace/core/clock.h"

namespace millrace {

// Since the beginning of 1970, UTC. Thread-safe.
Duration wall_time();

}  // namespace millrace
