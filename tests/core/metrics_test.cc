#include "millrace/core/observe/metrics.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace millrace {
namespace {

TEST(CounterTest, AddsUp) {
  Counter counter;
  counter.add();
  counter.add(41);
  EXPECT_EQ(counter.value(), 42u);
}

TEST(GaugeTest, SetsAndAdds) {
  Gauge gauge;
  gauge.set(5);
  gauge.add(-2);
  EXPECT_EQ(gauge.value(), 3);
}

TEST(HistogramTest, EmptyHasNoValues) {
  const auto s = Histogram().snapshot();
  EXPECT_EQ(s.count, 0u);
  EXPECT_EQ(s.min, 0u);
  EXPECT_EQ(s.quantile(0.5), 0u);
  EXPECT_EQ(s.mean(), 0);
}

TEST(HistogramTest, SmallValuesAreExact) {
  Histogram h;
  for (std::uint64_t v : {0, 1, 2, 3, 7}) h.record(v);
  const auto s = h.snapshot();
  EXPECT_EQ(s.sum, 13u);
  EXPECT_EQ(s.min, 0u);
  EXPECT_EQ(s.max, 7u);
  EXPECT_EQ(s.quantile(0.5), 2u);
  EXPECT_EQ(s.quantile(1), 7u);
}

TEST(HistogramTest, QuantilesAreAtMostAnEighthTooHighAtEverySize) {
  for (std::uint64_t v = 1; v != 0; v = v < (UINT64_MAX / 3) ? v * 3 : 0) {
    Histogram h;
    h.record(v);
    h.record(UINT64_MAX);  // so that the largest does not hide the bucket's bound
    const std::uint64_t q = h.snapshot().quantile(0.5);
    EXPECT_GE(q, v);
    EXPECT_LE(q - v, v / 8) << v;
  }
}

TEST(HistogramTest, QuantilesOfAThousandValues) {
  Histogram h;
  for (std::uint64_t v = 1; v <= 1000; ++v) h.record(v * 1000);
  const auto s = h.snapshot();
  EXPECT_NEAR(static_cast<double>(s.quantile(0.5)), 500'000, 500'000 / 8);
  EXPECT_NEAR(static_cast<double>(s.quantile(0.99)), 990'000, 990'000 / 8);
  EXPECT_DOUBLE_EQ(s.mean(), 500'500);
}

TEST(MetricsTest, SameNameAndLabelsGiveTheSameMetric) {
  Metrics metrics;
  Counter& a = metrics.counter("launches", {{"device", "0"}});
  EXPECT_EQ(&a, &metrics.counter("launches", {{"device", "0"}}));
  EXPECT_NE(&a, &metrics.counter("launches", {{"device", "1"}}));
}

TEST(MetricsTest, SnapshotHasEverythingInOrder) {
  Metrics metrics;
  metrics.counter("b").add(2);
  metrics.counter("a", {{"device", "1"}}).add(1);
  metrics.counter("a", {{"device", "0"}}).add(3);
  metrics.gauge("g").set(-4);
  metrics.histogram("h").record(5);
  const MetricsSnapshot s = metrics.snapshot();
  ASSERT_EQ(s.counters.size(), 3u);
  EXPECT_EQ(s.counters[0].name, "a");
  EXPECT_EQ(s.counters[0].labels, (Labels{{"device", "0"}}));
  EXPECT_EQ(s.counters[0].value, 3u);
  EXPECT_EQ(s.counters[2].name, "b");
  EXPECT_EQ(s.gauges.at(0).value, -4);
  EXPECT_EQ(s.histograms.at(0).value.count, 1u);
}

// Real threads: that no count is lost between them is the point.
TEST(MetricsStressTest, CountsFromManyThreadsAreAllThere) {
  Metrics metrics;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < 10000; ++i) {
        metrics.counter("c").add();
        metrics.histogram("h").record(i);
        metrics.gauge("g").add(1);
        if (i % 1000 == 0) static_cast<void>(metrics.snapshot());
      }
    });
  }
  for (std::thread& t : threads) t.join();
  const MetricsSnapshot s = metrics.snapshot();
  EXPECT_EQ(s.counters[0].value, 40000u);
  EXPECT_EQ(s.gauges[0].value, 40000);
  EXPECT_EQ(s.histograms[0].value.count, 40000u);
  EXPECT_EQ(s.histograms[0].value.sum, 4u * 9999 * 10000 / 2);
}

}  // namespace
}  // namespace millrace
