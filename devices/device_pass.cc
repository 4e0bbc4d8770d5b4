#include "millrace/devices/device_pass.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "millrace/actors/actor_cell.h"
#include "millrace/core/exec/make_executor.h"

namespace millrace::devices {

bool PassGate::wait() {
  if (clock_ == nullptr) return false;
  // Behind a long call it is in vain: then this thread's next calls queue at once.
  constexpr int kLeftOut = 8;
  static constinit thread_local int left_out = 0;
  if (left_out > 0) {
    --left_out;
    return false;
  }
  if (is_loop_or_inside_call() || current_pool() != nullptr ||
      actors::current_actor().cell != nullptr)
    return false;
  constexpr int kLooks = 100;
  for (int i = 0; i < kLooks; ++i) {
    if (try_enter()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  // The thread inside may have lost its core: this one is offered.
  constexpr std::chrono::microseconds kOfACall(500);
  constexpr std::chrono::milliseconds kOfAll(20);
  std::uint64_t returned = returned_.load(std::memory_order_relaxed);
  TimePoint now = clock_->now();
  const TimePoint end = now + kOfAll;
  for (TimePoint limit = now + kOfACall; now < std::min(limit, end); now = clock_->now()) {
    std::this_thread::yield();
    if (try_enter()) return true;
    if (const auto seen = returned_.load(std::memory_order_relaxed); seen != returned) {
      returned = seen;
      limit = now + kOfACall;
    }
  }
  left_out = kLeftOut;
  return false;
}

}  // namespace millrace::devices
