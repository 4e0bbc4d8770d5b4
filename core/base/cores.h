// The cores that there are to run on: how many, and a thread's choice of some.
#pragma once

#include <vector>

#include "millrace/core/base/error.h"

namespace millrace {

// Those that the calling thread is allowed (sched_getaffinity), which taskset, a container or a
// batch system may have lowered; all of the machine's where the system does not say. At least 1.
int usable_cores();

// Threads that a program may be asked to compute with: 16 for each core. Beyond it a program makes
// no way.
inline int most_threads() { return 16 * usable_cores(); }

// kInvalidArgument names the first of these numbers, as of taskset, that the calling thread may not
// run on.
Status check_cores(const std::vector<int>& cores);

// The calling thread runs on these alone from now on, and so do the threads that it starts. Nothing
// changes for an empty list, nor where the system refuses it.
void keep_on_cores(const std::vector<int>& cores);

}  // namespace millrace
