// Copies for another core to read.
#pragma once

#include <cstddef>
#include <span>

#include "millrace/core/base/clock.h"

namespace millrace {

// Copies all of `from` to `to`, which has room and does not overlap it. The lines of `to` are not
// fetched into this core's caches first, from those of the core that read them last. A later
// release store publishes the bytes. Where the processor has no such stores it is a plain copy.
// Thread-safety: external.
void copy_past_caches(std::byte* to, std::span<const std::byte> from);

// Copies that by turns are plain and past the caches until it knows which is the faster one: 64 MiB
// between two cores took 11.7 and 8.2 ms on one machine, 3.3 and 5.4 on another (bench/net.cc).
// Thread-safety: confined.
class CopyForAnotherCore {
 public:
  // As copy_past_caches().
  void operator()(std::byte* to, std::span<const std::byte> from);

 private:
  // The first ones take page faults, and some are interrupted: the fastest of each kind counts.
  static constexpr int kTries = 32;
  int tries_ = 0;
  bool past_caches_ = true;
  double fastest_plain_ = 1e9, fastest_past_ = 1e9;  // nanoseconds for a byte
};

}  // namespace millrace
