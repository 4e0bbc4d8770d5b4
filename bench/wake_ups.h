// What the system takes to wake a thread, for figures in which somebody sleeps.
#pragma once

namespace millrace::bench {

// Microseconds from one core to a sleeping thread of another and back.
double two_wake_ups_us();

}  // namespace millrace::bench
