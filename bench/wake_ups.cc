#include "bench/wake_ups.h"

#include <poll.h>

#include <chrono>
#include <thread>
#include <vector>

#include "bench/figure.h"
#include "millrace/core/loop/event_fd.h"

namespace millrace::bench {
namespace {
constexpr int kCalls = 300;
}  // namespace

double two_wake_ups_us(Before before) {
  const bool asleep = before == Before::kAsleep;
  const EventFd there = EventFd::create().value(), back = EventFd::create().value();
  const auto wait = [](const EventFd& event) {
    pollfd waited{.fd = event.descriptor(), .events = POLLIN, .revents = 0};
    while (::poll(&waited, 1, -1) != 1) {
    }
    event.consume();
  };
  std::vector<double> times;
  std::thread caller([&] {
    if (asleep) pin_to_core(0);
    for (int i = 0; i < kCalls; ++i) {
      if (asleep) std::this_thread::sleep_for(std::chrono::microseconds(500));
      times.push_back(1e6 * seconds_of([&] {
                        there.signal();
                        wait(back);
                      }));
    }
  });
  std::thread other([&] {
    if (asleep) pin_to_core(1);
    for (int i = 0; i < kCalls; ++i) {
      wait(there);
      back.signal();
    }
  });
  caller.join();
  other.join();
  return quantile(times, 0.5);
}

}  // namespace millrace::bench
