// How many cores there are to run on.
#pragma once

namespace millrace {

// Those that the calling thread is allowed (sched_getaffinity), which taskset, a container or a
// batch system may have lowered; all of the machine's where the system does not say. At least 1.
int usable_cores();

// Threads that a program may be asked to compute with: 16 for each core. Beyond it a program makes
// no way.
inline int most_threads() { return 16 * usable_cores(); }

}  // namespace millrace
