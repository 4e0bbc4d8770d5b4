// FanIn: two threads that send to one actor, of ours or of a peer. A sender waits while much of
// what it sent is not handled yet, as a program with bounded queues does; else both sides would
// measure how fast the system gives them fresh memory.
#pragma once

#include <atomic>
#include <future>
#include <thread>

#include "bench/figure.h"

namespace millrace::bench {

// One run's counts. Thread-safety: handled() belongs to the actor, seconds() to the caller.
class FanIn {
 public:
  explicit FanIn(int messages_of_each) : messages_(messages_of_each) {}

  // The actor has handled one; true: it was the last.
  bool handled() {
    const int now = handled_.load(std::memory_order_relaxed) + 1;
    handled_.store(now, std::memory_order_relaxed);  // one writer
    if (now != 2 * messages_) return false;
    done_.set_value();
    return true;
  }

  // Until all have been handled; send(i) sends a message.
  template <class F>
  double seconds(F&& send) {
    const auto sender = [&] {
      for (int i = 0; i < messages_; ++i) {
        if (i % kLook == 0) {
          while (sent_.load() - handled_.load(std::memory_order_relaxed) > kOnTheirWay) {
            std::this_thread::yield();
          }
          sent_.fetch_add(kLook);
        }
        send(i);
      }
    };
    return seconds_of([&] {
      std::thread first(sender), second(sender);
      done_.get_future().wait();
      first.join();
      second.join();
    });
  }

 private:
  static constexpr int kLook = 256;  // messages that a sender sends between two looks
  static constexpr int kOnTheirWay = 8192;

  const int messages_;
  std::atomic<int> sent_{0};
  alignas(64) std::atomic<int> handled_{0};
  std::promise<void> done_;
};

}  // namespace millrace::bench
