// LatencyHistogram: how long requests took, in buckets of three significant digits: each power of
// two has 1024 of them, so that a value is known to a thousandth of itself in constant memory. For
// reports of a client; core/observe/metrics.h has the cheaper one that servers count in.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "millrace/core/base/clock.h"

namespace millrace::load {

// Thread-safety: external.
class LatencyHistogram {
 public:
  // What is longer counts as this long.
  static constexpr Duration kLongest = std::chrono::hours(24);

  LatencyHistogram();
  void record(Duration latency);  // negative: zero
  std::uint64_t count() const { return count_; }
  Duration max() const { return Duration(static_cast<Duration::rep>(max_)); }
  // The latency that a share q of all does not exceed: never too low, and at most a thousandth too
  // high. q of 1 is max(); none were recorded: zero.
  Duration quantile(double q) const;
  void clear();

 private:
  static constexpr int kSubBits = 10;
  static std::size_t bucket_of(std::uint64_t value);
  static std::uint64_t largest_in(std::size_t bucket);

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace millrace::load
