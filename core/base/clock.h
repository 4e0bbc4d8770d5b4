// Clock: the only source of time. Deadlines are absolute points of it. A ManualClock stands until a
// test or the simulation moves it.
#pragma once

#include <atomic>
#include <chrono>

namespace millrace {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::nanoseconds;
inline constexpr TimePoint kNoDeadline = TimePoint::max();

// Thread-safety: thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
};

// Monotonic time of the machine; never affected by the wall clock.
const Clock& steady_clock();
// The time of day since the beginning of 1970, UTC, for stamps that come from or go to others.
// Nothing is scheduled by it: it jumps when it is set. Thread-safe.
Duration wall_time();

class ManualClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(Duration(nanoseconds_.load())); }
  void advance(Duration by) { nanoseconds_.fetch_add(by.count()); }
  // Never backwards: an earlier point changes nothing.
  void advance_to(TimePoint point) {
    const auto target = std::chrono::duration_cast<Duration>(point.time_since_epoch()).count();
    if (target > nanoseconds_.load()) nanoseconds_.store(target);
  }

 private:
  std::atomic<Duration::rep> nanoseconds_{0};
};

}  // namespace millrace
