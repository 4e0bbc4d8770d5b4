#include "millrace/core/observe/metrics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <tuple>

#include "millrace/core/base/check.h"

namespace millrace {
namespace {

// Stores value where it is beyond what stands, in the sense of `beyond`.
template <class Beyond>
void extend(std::atomic<std::uint64_t>& target, std::uint64_t value, Beyond beyond) {
  std::uint64_t seen = target.load();
  while (beyond(value, seen) && !target.compare_exchange_weak(seen, value)) {
  }
}

}  // namespace

std::atomic<std::uint64_t>& Counter::shard() {
  static std::atomic<std::size_t> next_thread{0};
  thread_local const std::size_t mine = next_thread.fetch_add(1) % kShards;
  return shards_[mine].count;
}

std::uint64_t Counter::value() const {
  std::uint64_t sum = 0;
  for (const Shard& shard : shards_) sum += shard.count.load();
  return sum;
}

// Below 8, the value itself; above, its highest bit and the three bits behind it.
std::size_t Histogram::bucket_of(std::uint64_t value) {
  constexpr std::uint64_t kSub = 1 << kSubBits;
  if (value < kSub) return static_cast<std::size_t>(value);
  const auto shift = static_cast<std::size_t>(std::bit_width(value) - 1 - kSubBits);
  return ((shift + 1) << kSubBits) + ((value >> shift) & (kSub - 1));
}

std::uint64_t Histogram::largest_in(std::size_t bucket) {
  constexpr std::uint64_t kSub = 1 << kSubBits;
  if (bucket < kSub) return bucket;
  const int shift = static_cast<int>(bucket >> kSubBits) - 1;
  const std::uint64_t first = (kSub + (bucket & (kSub - 1))) << shift;
  return first + ((std::uint64_t{1} << shift) - 1);
}

void Histogram::record(std::uint64_t value) {
  counts_[bucket_of(value)].fetch_add(1, std::memory_order_relaxed);  // numbers order nothing
  sum_.fetch_add(value, std::memory_order_relaxed);
  extend(min_, value, std::less());
  extend(max_, value, std::greater());
}

Histogram::Snapshot Histogram::snapshot() const {
  Snapshot s;
  for (std::size_t b = 0; b < kBuckets; ++b) {
    const std::uint64_t count = counts_[b].load();
    if (count == 0) continue;
    s.buckets.emplace_back(largest_in(b), count);
    s.count += count;
  }
  if (s.count == 0) return s;
  s.sum = sum_.load();
  s.min = min_.load();
  s.max = max_.load();
  return s;
}

std::uint64_t Histogram::Snapshot::quantile(double q) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count)));
  std::uint64_t seen = 0;
  for (const auto& [largest, n] : buckets) {
    seen += n;
    if (seen >= wanted && seen > 0) return std::min(largest, max);
  }
  return max;
}

template <class M, class... Others>
M& Metrics::find_or_make(std::string_view name, const Labels& labels, Family<M>& family,
                         const Others&... others) {
  auto& place = family[Key(std::string(name), labels)];
  if (!place) {
    const auto has_name = [name](const auto& other) {
      const auto at = other.lower_bound(Key(std::string(name), Labels()));
      return at != other.end() && at->first.first == name;
    };
    MILLRACE_CHECK(!(has_name(others) || ...), "a metric of this name is of another kind");
    place = std::make_unique<M>();
  }
  return *place;
}

Counter& Metrics::counter(std::string_view name, const Labels& labels) {
  MutexLock lock(mutex_);
  return find_or_make(name, labels, counters_, gauges_, histograms_);
}

Gauge& Metrics::gauge(std::string_view name, const Labels& labels) {
  MutexLock lock(mutex_);
  return find_or_make(name, labels, gauges_, counters_, histograms_);
}

Histogram& Metrics::histogram(std::string_view name, const Labels& labels) {
  MutexLock lock(mutex_);
  return find_or_make(name, labels, histograms_, counters_, gauges_);
}

void Metrics::help(std::string_view name, std::string_view text) {
  MutexLock lock(mutex_);
  help_[std::string(name)] = text;
}

MetricsSnapshot Metrics::snapshot() const {
  MetricsSnapshot s;
  MutexLock lock(mutex_);
  for (const auto& [key, m] : counters_) s.counters.push_back({key.first, key.second, m->value()});
  for (const auto& [key, m] : gauges_) s.gauges.push_back({key.first, key.second, m->value()});
  for (const auto& [key, m] : histograms_)
    s.histograms.push_back({key.first, key.second, m->snapshot()});
  s.help = help_;
  return s;
}

void MetricsSnapshot::sort() {
  const auto in_order = [](auto& entries) {
    std::ranges::sort(entries, {}, [](const auto& e) { return std::tie(e.name, e.labels); });
  };
  in_order(counters);
  in_order(gauges);
  in_order(histograms);
}

}  // namespace millrace
