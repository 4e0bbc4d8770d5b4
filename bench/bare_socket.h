// The peer of figures of links: a pair of Unix sockets, on which two threads write and read,
// blocking.
#pragma once

#include <cstddef>

namespace millrace::bench {

// Microseconds of so many bytes there and as many back, each thread on a core of its own.
double socket_round_trip_us(std::size_t bytes, int round_trips);

}  // namespace millrace::bench
