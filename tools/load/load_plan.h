// LoadPlan: when a load generator sends which request. Pure: no time of its own, no sockets.
//
// In an open loop requests arrive as a Poisson process would have them, whatever the server does;
// one that finds no idle connection waits here, and its latency counts from its arrival. So a
// server that stalls is seen by all that would have come meanwhile (no coordinated omission). In a
// closed loop each client sends its next request when it has the answer to the one before.
//
//  - LP-1 in an open loop the times of arrival depend on the seed and the rate alone.
//  - LP-2 every arrival before the end is given out once, in order, though it be after the end.
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "millrace/core/base/clock.h"

namespace millrace::load {

struct LoadOptions {
  double rate = 0;  // requests per second, of an open loop; 0: a closed loop
  Duration length{};
  std::uint64_t seed = 1;
};

// Thread-safety: external.
class LoadPlan {
 public:
  LoadPlan(const LoadOptions& options, TimePoint begin);

  // The next request, where one is to be sent now: the time from which its latency counts. Asked
  // for each connection that is idle.
  std::optional<TimePoint> take(TimePoint now);
  // When take() is to be asked again, though no connection becomes idle; nullopt: never.
  std::optional<TimePoint> next_arrival() const;
  // Nothing is to be sent any more.
  bool ended(TimePoint now) const;
  TimePoint end() const { return end_; }
  // No request from now on.
  void stop(TimePoint now);

 private:
  bool is_open() const { return options_.rate > 0; }
  void advance();

  const LoadOptions options_;
  TimePoint end_;
  std::mt19937_64 random_;
  double seconds_ = 0;  // of the next arrival, since begin_
  TimePoint begin_;
  TimePoint next_;
};

}  // namespace millrace::load
