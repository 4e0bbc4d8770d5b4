#include "millrace/tools/load/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace millrace::load {
namespace {

Duration exact_quantile(const std::vector<Duration>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

TEST(LatencyHistogramTest, QuantilesAreThoseOfSortingToAThousandth) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U}) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    // From a microsecond to an hour, on a logarithmic scale; every other seed with a long tail.
    std::lognormal_distribution<double> draw(std::log(2e6), seed % 2 == 0 ? 0.3 : 3.0);
    LatencyHistogram histogram;
    std::vector<Duration> values;
    for (int i = 0; i < 20000; ++i) {
      values.emplace_back(static_cast<Duration::rep>(std::min(draw(random), 3.6e12)));
      histogram.record(values.back());
    }
    std::ranges::sort(values);
    for (const double q : {0.0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
      const Duration exact = exact_quantile(values, q);
      EXPECT_GE(histogram.quantile(q), exact) << q;
      EXPECT_LE(histogram.quantile(q), exact + exact / 1000) << q;
    }
    EXPECT_EQ(histogram.max(), values.back());
    EXPECT_EQ(histogram.count(), values.size());
  }
}

TEST(LatencyHistogramTest, EveryValueIsInItsBucketAtTheEdgesOfAllPowersOfTwo) {
  for (int bit = 0; bit < 46; ++bit) {
    for (const std::int64_t off : {-1, 0, 1}) {
      const Duration value((std::int64_t{1} << bit) + off);
      LatencyHistogram histogram;
      histogram.record(value);
      histogram.record(LatencyHistogram::kLongest);  // so that the maximum does not hide it
      EXPECT_GE(histogram.quantile(0.5), value);
      EXPECT_LE(histogram.quantile(0.5), value + value / 1000);
    }
  }
}

TEST(LatencyHistogramTest, WhatIsBeyondItsRangeCountsAtItsEnds) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), Duration());
  histogram.record(Duration(-5));
  EXPECT_EQ(histogram.max(), Duration());
  histogram.record(LatencyHistogram::kLongest * 3);
  EXPECT_EQ(histogram.max(), LatencyHistogram::kLongest);
  EXPECT_EQ(histogram.quantile(1), LatencyHistogram::kLongest);
  histogram.clear();
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.max(), Duration());
}

}  // namespace
}  // namespace millrace::load
