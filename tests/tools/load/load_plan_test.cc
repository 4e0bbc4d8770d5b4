#include "millrace/tools/load/load_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "millrace/tools/load/latency_histogram.h"

namespace millrace::load {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const TimePoint kBegin{seconds(100)};

std::vector<TimePoint> all_arrivals(const LoadOptions& options) {
  LoadPlan plan(options, kBegin);
  std::vector<TimePoint> all;
  while (const std::optional<TimePoint> next = plan.next_arrival()) {
    EXPECT_EQ(plan.take(*next - Duration(1)), std::nullopt);
    all.push_back(plan.take(*next).value());
  }
  EXPECT_TRUE(plan.ended(kBegin));
  return all;
}

TEST(LoadPlanTest, ArrivalsAreAPoissonProcessOfTheRate) {
  const std::vector<TimePoint> all = all_arrivals({.rate = 1000, .length = seconds(60)});
  // 60000 are expected, with a deviation of 245.
  EXPECT_NEAR(static_cast<double>(all.size()), 60000, 1500);
  double sum = 0, squares = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const double gap = std::chrono::duration<double>(all[i] - all[i - 1]).count();
    ASSERT_GE(gap, 0);
    sum += gap;
    squares += gap * gap;
  }
  const double n = static_cast<double>(all.size() - 1), mean = sum / n;
  EXPECT_NEAR(mean, 0.001, 3e-5);
  // The deviation of an exponential distribution is its mean.
  EXPECT_NEAR(std::sqrt(squares / n - mean * mean) / mean, 1, 0.03);
}

TEST(LoadPlanTest, ArrivalsDependOnSeedAndRateAlone) {  // LP-1
  const LoadOptions options{.rate = 200, .length = seconds(5), .seed = 7};
  EXPECT_EQ(all_arrivals(options), all_arrivals(options));
  LoadOptions other = options;
  other.seed = 8;
  EXPECT_NE(all_arrivals(options), all_arrivals(other));
}

TEST(LoadPlanTest, WhatCameBeforeTheEndIsGivenOutAfterIt) {  // LP-2
  const LoadOptions options{.rate = 100, .length = seconds(2)};
  LoadPlan plan(options, kBegin);
  std::vector<TimePoint> all;
  while (const std::optional<TimePoint> since = plan.take(kBegin + seconds(50)))
    all.push_back(*since);
  EXPECT_EQ(all, all_arrivals(options));
  EXPECT_EQ(plan.next_arrival(), std::nullopt);
}

TEST(LoadPlanTest, AClosedLoopSendsWheneverItIsAskedUntilTheEnd) {
  LoadPlan plan({.length = seconds(2)}, kBegin);
  EXPECT_EQ(plan.next_arrival(), std::nullopt);
  const TimePoint now = kBegin + milliseconds(1999);
  EXPECT_EQ(plan.take(now), now);
  EXPECT_EQ(plan.take(now), now);
  EXPECT_FALSE(plan.ended(now));
  EXPECT_EQ(plan.take(kBegin + seconds(2)), std::nullopt);
  EXPECT_TRUE(plan.ended(kBegin + seconds(2)));
}

TEST(LoadPlanTest, AStopEndsTheArrivals) {
  LoadPlan plan({.rate = 100, .length = seconds(60)}, kBegin);
  plan.stop(kBegin + seconds(1));
  while (plan.take(kBegin + seconds(60))) {
  }
  EXPECT_TRUE(plan.ended(kBegin + seconds(1)));
  EXPECT_EQ(plan.end(), kBegin + seconds(1));
}

// A server that takes 1 ms, and stalls for a second in the middle of ten, at 100 requests per
// second over one connection: a tenth of all come while it stalls, so the percentiles above p90
// are of the stall. A generator that waits for answers would count a single slow request.
TEST(LoadPlanTest, AStallIsSeenByAllThatCameMeanwhile) {
  LoadPlan plan({.rate = 100, .length = seconds(10)}, kBegin);
  LatencyHistogram latencies;
  const TimePoint stall = kBegin + seconds(5);
  TimePoint now = kBegin;
  for (;;) {
    const std::optional<TimePoint> since = plan.take(now);
    if (!since) {
      const std::optional<TimePoint> next = plan.next_arrival();
      if (!next) break;
      now = std::max(now, *next);
      continue;
    }
    now += milliseconds(1);
    if (now > stall && now < stall + seconds(1)) now = stall + seconds(1);
    latencies.record(now - *since);
  }
  EXPECT_LT(latencies.quantile(0.5), milliseconds(5));
  EXPECT_GT(latencies.quantile(0.95), milliseconds(300));
  EXPECT_LT(latencies.quantile(0.95), milliseconds(800));
  EXPECT_GT(latencies.quantile(0.99), milliseconds(800));
}

}  // namespace
}  // namespace millrace::load
