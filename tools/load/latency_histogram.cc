#include "millrace/tools/load/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace millrace::load {

// Below 2^kSubBits a value is its bucket. Above, the highest bit chooses a group of buckets and the
// kSubBits bits behind it one of them.
std::size_t LatencyHistogram::bucket_of(std::uint64_t value) {
  constexpr std::uint64_t kGroup = std::uint64_t{1} << kSubBits;
  if (value < kGroup) return value;
  const int shift = std::bit_width(value) - 1 - kSubBits;
  return (static_cast<std::size_t>(shift) + 1) * kGroup + ((value >> shift) - kGroup);
}

std::uint64_t LatencyHistogram::largest_in(std::size_t bucket) {
  constexpr std::uint64_t kGroup = std::uint64_t{1} << kSubBits;
  if (bucket < kGroup) return bucket;
  const std::uint64_t shift = bucket / kGroup - 1;
  return ((bucket % kGroup + kGroup + 1) << shift) - 1;
}

LatencyHistogram::LatencyHistogram()
    : counts_(bucket_of(static_cast<std::uint64_t>(kLongest.count())) + 1) {}

void LatencyHistogram::record(Duration latency) {
  const auto value = static_cast<std::uint64_t>(std::clamp(latency, Duration(), kLongest).count());
  ++counts_[bucket_of(value)];
  ++count_;
  max_ = std::max(max_, value);
}

Duration LatencyHistogram::quantile(double q) const {
  if (count_ == 0) return {};
  const auto rank = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_)));
  std::uint64_t left = std::clamp<std::uint64_t>(rank, 1, count_);
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    if (counts_[bucket] < left) {
      left -= counts_[bucket];
      continue;
    }
    return Duration(static_cast<Duration::rep>(std::min(largest_in(bucket), max_)));
  }
  return max();
}

void LatencyHistogram::clear() {
  std::ranges::fill(counts_, 0);
  count_ = max_ = 0;
}

}  // namespace millrace::load
