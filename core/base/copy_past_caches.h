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

// Copies that are plain and past the caches by turns, until it knows in which way more bytes pass:
// 64 MiB between two cores took 11.7 and 8.2 ms on one machine, 3.3 and 5.4 on another
// (bench/net.cc). For long pieces of a stream whose writer waits for its reader: what that takes
// differs, the copies alone take as long. Thread-safety: confined.
class CopyForAnotherCore {
 public:
  // As copy_past_caches().
  void operator()(std::byte* to, std::span<const std::byte> from);

 private:
  // A phase has pieces enough that the writer waits. The stream pauses in some: the fastest of each
  // way counts.
  static constexpr int kPieces = 16, kPhases = 4;  // of each way
  int phase_ = 0, pieces_ = 0;
  std::size_t bytes_ = 0;  // of the phase
  TimePoint begin_ = {};
  bool past_caches_ = true;
  double fastest_plain_ = 1e9, fastest_past_ = 1e9;  // nanoseconds for a byte
};

}  // namespace millrace
