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

// Which of two ways of copying lets more bytes pass between two cores: 64 MiB took 11.7 ms by plain
// copies and 8.2 past the caches on one machine, 3.3 and 5.4 on another (bench/net.cc). Phases of
// both ways are timed by turns, waits for the reader included: what that takes differs, the copies
// alone take the writer as long. The pure part. Thread-safety: external.
class CopyChoice {
 public:
  bool past_caches() const { return past_caches_; }
  bool is_made() const { return phase_ == 2 * kPhases; }
  // One piece was copied in that way. Until it is made.
  void copied(std::size_t bytes, TimePoint begin, TimePoint end);

  // A phase has pieces enough that the writer waits. The stream pauses in some: the fastest of each
  // way counts.
  static constexpr int kPieces = 16, kPhases = 4;  // of each way

 private:
  int phase_ = 0, pieces_ = 0;
  std::size_t bytes_ = 0;  // of the phase
  TimePoint begin_ = {};
  bool past_caches_ = true;
  double fastest_plain_ = 1e9, fastest_past_ = 1e9;  // nanoseconds for a byte
};

// For long pieces of a stream whose writer waits for its reader. Thread-safety: confined.
class CopyForAnotherCore {
 public:
  // As copy_past_caches().
  void operator()(std::byte* to, std::span<const std::byte> from);

 private:
  CopyChoice choice_;
};

}  // namespace millrace
