// Spin: a short wait on the processor before an end of a ring goes to sleep. To sleep and to be
// woken costs tens of microseconds where the other end answers in two; a spin in vain costs its
// length. So it is as short as that, and ends that wait in vain seldom try.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "millrace/core/base/clock.h"

namespace millrace::net {

// How often it is worth it: each time after one that was; after n in a row in vain, 2^n - 1 waits
// go by first, 255 at most. Thread-safety: external.
class SpinChance {
 public:
  // Whether to spin in this wait.
  bool take() {
    if (passes_ == 0) return true;
    --passes_;
    return false;
  }
  void record(bool worth_it) {
    in_vain_ = worth_it ? 0 : std::min(in_vain_ + 1, kMostInVain);
    passes_ = (1 << in_vain_) - 1;
  }

 private:
  static constexpr int kMostInVain = 8;
  int in_vain_ = 0;
  int passes_ = 0;
};

inline constexpr Duration kSpin = std::chrono::microseconds(20);

// Until done() or kSpin has passed; whether it was done.
template <class Done>
bool spin(const Done& done) {
  constexpr int kLooksPerTime = 16;
  const TimePoint until = steady_clock().now() + kSpin;
  do {
    for (int i = 0; i < kLooksPerTime; ++i) {
      if (done()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (steady_clock().now() < until);
  return false;
}

}  // namespace millrace::net
