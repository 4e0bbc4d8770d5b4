// What the system takes to wake a thread, for figures in which a thread sleeps.
#pragma once

namespace millrace::bench {

enum class Before {
  kAsleep,  // both have slept for a while, each on a core of its own
  kBusy,    // one call follows the other at once, on whatever cores the system chooses
};

// Microseconds from a thread to a sleeping one and back.
double two_wake_ups_us(Before before);

}  // namespace millrace::bench
