#include "millrace/devices/device_pass.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "millrace/actors/actor_cell.h"
#include "millrace/core/base/pause.h"
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
  if (is_bridged_or_inside_call() || running_loop() != nullptr || current_pool() != nullptr ||
      actors::current_actor().cell != nullptr)
    return false;
  // A thread that calls again and again has the device's state in its core's cache. Another core
  // takes longer to get that than a call takes, so that thread comes first for a while: this one
  // takes a pass that is still free when it looks again.
  std::uint64_t returned = returned_.load(std::memory_order_relaxed);
  bool was_free = false;
  const auto stays_free = [&] {
    const bool called =
        std::exchange(returned, returned_.load(std::memory_order_relaxed)) != returned;
    const bool free =
        !busy_.load(std::memory_order_relaxed) && !passing_.load(std::memory_order_relaxed);
    return std::exchange(was_free, free) && free && !called;
  };
  constexpr int kLooks = 16;
  for (int i = 0; i < kLooks; ++i) {
    if (stays_free() && try_enter()) return true;
    constexpr int kPauses = 16;
    for (int pause = 0; pause < kPauses; ++pause) pause_core();
  }
  // The thread inside may have lost its core: this one is offered.
  constexpr std::chrono::microseconds kOfACall(500);
  constexpr std::chrono::milliseconds kOfOthers(2), kOfAll(20);
  TimePoint now = clock_->now();
  const TimePoint begin = now;
  for (TimePoint limit = now + kOfACall; now < std::min(limit, begin + kOfAll);
       now = clock_->now()) {
    std::this_thread::yield();
    const std::uint64_t before = returned;
    const bool mine = stays_free() || now - begin > kOfOthers;
    if (mine && try_enter()) return true;
    if (returned != before) limit = now + kOfACall;
  }
  left_out = kLeftOut;
  return false;
}

}  // namespace millrace::devices
