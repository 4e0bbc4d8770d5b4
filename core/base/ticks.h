// Ticks: the processor's own counter of time, which costs a third of what a clock read does. A tick
// means nothing by itself; TickScale turns it into a point of a Clock afterwards. For traces.
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/core/base/clock.h"

namespace millrace {

// True where the counter runs at one rate whatever the cores do, and the system itself counts by it
// (x86: invariant TSC). Decided once.
bool ticks_usable();

// Meaningful only where ticks_usable(). Below 2^63 for the first century of a machine's life.
inline std::uint64_t read_ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

// Ticks as points of a clock. Both are read together now and then (anchor()), and what lies between
// two such moments is interpolated: off by reading them together (some ten nanoseconds) and by what
// the rate of the clock changed meanwhile. Thread-safety: external.
class TickScale {
 public:
  explicit TickScale(const Clock& clock) : clock_(clock) { anchor(); }
  void anchor();
  // Exact for ticks between the first and the last anchor; other ones are extrapolated.
  TimePoint at(std::uint64_t ticks) const;

 private:
  static constexpr std::size_t kMostAnchors = 256;  // then every other one is dropped
  struct Anchor {
    std::uint64_t ticks;
    TimePoint time;
  };
  const Clock& clock_;
  std::vector<Anchor> anchors_;  // in order
};

}  // namespace millrace
