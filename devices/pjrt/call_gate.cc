#include "millrace/devices/pjrt/call_gate.h"

#include <chrono>

#include "millrace/devices/pjrt/calls_under_way.h"

namespace millrace::devices::pjrt {
namespace {

// What is freed waits so long for a call of a device's thread that takes it along, so that no other
// thread is woken for every buffer.
constexpr Duration kFreeTime = std::chrono::milliseconds(20);

}  // namespace

void CallGate::post_drain(StripedScope::Hold hold) {
  post(*freer(), [client = &client_, queue = deferred_, hold = std::move(hold)]() mutable {
    const CallsFor mine(client);  // which may be gone, when nothing is left
    queue->drain();
    hold.reset();
  });
}

void CallGate::see_to_deferred() {
  if (timer_set_.load()) return;  // the timer looks for what is left after it has cleared this
  StripedScope::Hold hold = scope_.hold();
  // These only destroy() waits for, unless the executor is one that may be gone.
  if (!hold && options_.frees == nullptr) return make_handed_over();
  if (!hold || options_.timers == nullptr) return post_drain(std::move(hold));
  MutexLock lock(timer_mutex_);
  if (timer_) return;
  timer_ = options_.timers->schedule(options_.clock->now() + kFreeTime,
                                     [this, hold = std::move(hold)]() mutable {
                                       take_timer();
                                       if (!nothing_left()) post_drain(std::move(hold));
                                     });
  timer_set_.store(true);
}

std::optional<TimerQueue::Id> CallGate::take_timer() {
  MutexLock lock(timer_mutex_);
  timer_set_.store(false);
  return std::exchange(timer_, std::nullopt);
}

void CallGate::hurry() {
  if (freer() == nullptr || options_.timers == nullptr) return;
  const std::optional<TimerQueue::Id> timer = take_timer();
  if (StripedScope::Hold hold = scope_.hold(); hold && !nothing_left()) post_drain(std::move(hold));
  if (timer) options_.timers->cancel(*timer);
}

}  // namespace millrace::devices::pjrt
