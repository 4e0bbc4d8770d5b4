// Numbers about a running program: counters, gauges and histograms that are cheap enough to stay
// on. A Metrics object owns them by name and labels; snapshot() is what exporters print. Read next:
// metrics_text.h (for Prometheus).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/core/base/mutex.h"

namespace millrace {

// Only grows. Counted in one of several cache lines by thread, so that threads that count together
// do not fight over one. Thread-safety: thread-safe.
class Counter {
 public:
  // relaxed: a sum orders nothing.
  void add(std::uint64_t n = 1) { shard().fetch_add(n, std::memory_order_relaxed); }
  // The sum; exact once all counting threads are done.
  std::uint64_t value() const;

 private:
  static constexpr std::size_t kShards = 8;
  struct alignas(64) Shard {
    std::atomic<std::uint64_t> count{0};
  };
  std::atomic<std::uint64_t>& shard();
  std::array<Shard, kShards> shards_;
};

// Goes up and down. Thread-safety: thread-safe.
class Gauge {
 public:
  void set(std::int64_t value) { value_.store(value); }
  void add(std::int64_t n) { value_.fetch_add(n); }
  std::int64_t value() const { return value_.load(); }

 private:
  std::atomic<std::int64_t> value_{0};
};

// Counts, sum and extremes of a distribution, and its quantiles to 1/8 of their value: it counts in
// buckets, eight to every power of two. For times, in nanoseconds. Thread-safe.
class Histogram {
 public:
  struct Snapshot {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    std::uint64_t min = 0;  // 0 if there are none
    std::uint64_t max = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> buckets = {};  // (largest value, count)

    // The value that a share q of all does not exceed: at most 1/8 too high, never too low.
    std::uint64_t quantile(double q) const;
    double mean() const {
      return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
    }
  };

  void record(std::uint64_t value);
  Snapshot snapshot() const;

 private:
  static constexpr int kSubBits = 3;
  static constexpr std::size_t kBuckets = (64 - kSubBits + 1) << kSubBits;
  static std::size_t bucket_of(std::uint64_t value);
  static std::uint64_t largest_in(std::size_t bucket);

  std::array<std::atomic<std::uint64_t>, kBuckets> counts_{};
  std::atomic<std::uint64_t> sum_{0};
  std::atomic<std::uint64_t> min_{UINT64_MAX};
  std::atomic<std::uint64_t> max_{0};
};

using Labels = std::vector<std::pair<std::string, std::string>>;

struct MetricsSnapshot {
  template <class V>
  struct Entry {
    std::string name;
    Labels labels;
    V value;
  };
  std::vector<Entry<std::uint64_t>> counters = {};  // each list in order of name, then labels
  std::vector<Entry<std::int64_t>> gauges = {};
  std::vector<Entry<Histogram::Snapshot>> histograms = {};
  std::map<std::string, std::string> help = {};  // by name, where it was said

  // Puts the lists in order again, after entries were added by hand.
  void sort();
};

// Owns metrics; what it hands out lives as long as it does. The same name and labels give the same
// metric. Names are lower_case_with_units, as Prometheus has them, and one name is of one kind
// (CHECKed). Thread-safety: thread-safe; look metrics up once, not per event.
class Metrics {
 public:
  Counter& counter(std::string_view name, const Labels& labels = {});
  Gauge& gauge(std::string_view name, const Labels& labels = {});
  Histogram& histogram(std::string_view name, const Labels& labels = {});
  // What a name means, in a sentence.
  void help(std::string_view name, std::string_view text);
  MetricsSnapshot snapshot() const;

 private:
  using Key = std::pair<std::string, Labels>;
  template <class M>
  using Family = std::map<Key, std::unique_ptr<M>>;
  template <class M, class... Others>
  static M& find_or_make(std::string_view name, const Labels& labels, Family<M>& family,
                         const Others&... others);

  mutable Mutex mutex_;
  Family<Counter> counters_ MILLRACE_GUARDED_BY(mutex_);
  Family<Gauge> gauges_ MILLRACE_GUARDED_BY(mutex_);
  Family<Histogram> histograms_ MILLRACE_GUARDED_BY(mutex_);
  std::map<std::string, std::string> help_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace
