// LaunchCrowd: the threads that are inside a plugin's launch of one device. Internal to client.h.
//
// More of them than there are cores hold each other up at the plugin's locks: one is preempted
// while it holds a lock, the rest go to sleep behind it, and cores stand idle while they wake
// (XLA's CPU client on two cores: 0.7 million launches a second of two threads, 0.5 of sixteen, by
// `tools/bench pjrt.threads_16`).
// So a thread that finds a crowd lets others run before it goes in, for as long as they get on.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "millrace/core/clock.h"
#include "millrace/core/cores.h"

namespace millrace::devices::pjrt {

// relaxed throughout: nothing is published, and a thread more or less inside is no harm.
// Thread-safety: thread-safe.
class LaunchCrowd {
 public:
  // room: how many are no crowd.
  explicit LaunchCrowd(int room = usable_cores(), const Clock& clock = steady_clock())
      : room_(room), clock_(clock) {}
  LaunchCrowd(const LaunchCrowd&) = delete;
  LaunchCrowd& operator=(const LaunchCrowd&) = delete;

  // Of one that is inside.
  class Place {
   public:
    explicit Place(LaunchCrowd& crowd) : crowd_(crowd) {
      crowd_.entered_.fetch_add(1, std::memory_order_relaxed);
    }
    ~Place() { crowd_.left_.fetch_add(1, std::memory_order_relaxed); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    LaunchCrowd& crowd_;
  };

  // Goes in whoever is inside, at the latest after some calls of give_way: their launches may wait
  // for this one.
  template <class F>
  Place enter(F&& give_way) {
    if (crowded()) [[unlikely]]
      make_room(give_way);
    return Place(*this);
  }
  Place enter() { return enter(&std::this_thread::yield); }

  static constexpr int kMostTimes = 64;
  // To give way is of no use where fewer launches end meanwhile: what is inside waits in the
  // plugin, or others than its callers have got the core. Then the next ones do not, twice as many
  // each time.
  static constexpr std::chrono::microseconds kPerLaunch{20};
  static constexpr int kFewest = 64, kMost = kFewest << 10;

 private:
  bool crowded() const {
    return entered_.load(std::memory_order_relaxed) - left_.load(std::memory_order_relaxed) >=
           room_;
  }
  template <class F>
  void make_room(F& give_way) {
    const int passing = passing_.load(std::memory_order_relaxed);
    if (passing > 0) return passing_.store(passing - 1, std::memory_order_relaxed);
    const TimePoint begin = clock_.now();
    const std::int64_t left = left_.load(std::memory_order_relaxed);
    for (int i = 0; i < kMostTimes; ++i) {
      give_way();
      const std::int64_t ended = left_.load(std::memory_order_relaxed) - left;
      if (clock_.now() - begin > kPerLaunch * (ended + 1)) return pass_for_a_while();
      if (!crowded()) break;
    }
    next_passing_.store(kFewest, std::memory_order_relaxed);
  }
  void pass_for_a_while() {
    const int next = next_passing_.load(std::memory_order_relaxed);
    passing_.store(next, std::memory_order_relaxed);
    next_passing_.store(std::min(2 * next, kMost), std::memory_order_relaxed);
  }

  const std::int64_t room_;
  const Clock& clock_;
  std::atomic<std::int64_t> entered_{0}, left_{0};  // their difference is inside
  std::atomic<int> passing_{0};                     // so many more go in without giving way
  std::atomic<int> next_passing_{kFewest};
};

}  // namespace millrace::devices::pjrt
