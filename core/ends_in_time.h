// ends_in_time: a wait_blocking() with a limit, for ends that a stranger's library may never reach.
#pragma once

#include "millrace/core/call_options.h"
#include "millrace/core/clock.h"
#include "millrace/core/future.h"

namespace millrace {

// Blocks the calling thread until end completes, however it does: true; or until so much time of
// the machine has gone by: false. Needs no timers, so that it works after those have gone. Never
// from an executor's work, as wait_blocking().
bool ends_in_time(const Future<void>& end, Duration limit);
// The same until a stop is requested, or steady_clock() comes to the deadline: what has ended by
// then has.
bool ends_in_time(const Future<void>& end, const CallOptions& call);

}  // namespace millrace
