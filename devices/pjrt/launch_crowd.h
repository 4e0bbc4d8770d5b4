// LaunchCrowd: the threads that are inside a plugin's launch of one device. Internal to client.h.
//
// More of them than there are cores hold each other up at the plugin's locks: one is preempted
// while it holds a lock, the rest go to sleep behind it, and cores stand idle while they wake
// (XLA's CPU client on two cores: 0.7 million launches a second of two threads, 0.5 of sixteen).
// So a thread that finds a crowd lets others run for a while before it goes in.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>

namespace millrace::devices::pjrt {

// Thread-safety: thread-safe.
class LaunchCrowd {
 public:
  // room: how many are no crowd.
  explicit LaunchCrowd(int room) : room_(room) {}
  // As many as there are cores for the process.
  LaunchCrowd() : LaunchCrowd(std::max(1, static_cast<int>(std::thread::hardware_concurrency()))) {}
  LaunchCrowd(const LaunchCrowd&) = delete;
  LaunchCrowd& operator=(const LaunchCrowd&) = delete;

  // Of one that is inside.
  class Place {
   public:
    explicit Place(LaunchCrowd& crowd) : crowd_(crowd) {
      crowd_.inside_.fetch_add(1, std::memory_order_relaxed);
    }
    ~Place() { crowd_.inside_.fetch_sub(1, std::memory_order_relaxed); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    LaunchCrowd& crowd_;
  };

  // Gives way so often at the most, and goes in whoever is inside: their launches may wait for this
  // one. relaxed throughout: nothing is published, and one thread more or less inside is no harm.
  static constexpr int kMostTimes = 64;
  template <class F>
  Place enter(F&& give_way) {
    for (int i = 0; i < kMostTimes && inside() >= room_; ++i) [[unlikely]]
      give_way();
    return Place(*this);
  }
  Place enter() { return enter(&std::this_thread::yield); }
  int inside() const { return inside_.load(std::memory_order_relaxed); }

 private:
  const int room_;
  std::atomic<int> inside_{0};
};

}  // namespace millrace::devices::pjrt
