#include "millrace/devices/pjrt/call_gate.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "millrace/devices/pjrt/calls_under_way.h"

namespace millrace::devices::pjrt {
namespace {

// What is freed waits so long for a call of a device's thread that takes it along, so that no other
// thread is woken for every buffer.
constexpr Duration kFreeTime = std::chrono::milliseconds(20);

// How long a thread lets others run before it goes on without them: a thousand times what freeing
// takes.
constexpr std::chrono::milliseconds kPatience(5);

}  // namespace

constinit thread_local const DeferredFrees* DeferredFrees::draining_ = nullptr;

bool DeferredFrees::push(Work* call) {
  MutexLock lock(mutex_);
  const bool first = waiting_.empty();
  waiting_.push(call);
  add_to_left(1);
  return first;
}

void DeferredFrees::drain_some() {
  if (draining_here()) return;  // further out on this thread: what has come since is made there
  const DeferredFrees* const outer = std::exchange(draining_, this);
  for (Work* call = take(false); call != nullptr; call = take(true)) call->run();
  draining_ = outer;
  if (empty()) return;
  const TimePoint limit = clock_.now() + kPatience;
  while (waits_for_others(limit)) std::this_thread::yield();
}

Work* DeferredFrees::take(bool made) {
  MutexLock lock(mutex_);
  if (made) {
    overdue_ = std::min(overdue_, --making_);
    add_to_left(-1);
  }
  Work* const call = waiting_.pop();
  if (call != nullptr) ++making_;
  return call;
}

bool DeferredFrees::waits_for_others(TimePoint limit) {
  MutexLock lock(mutex_);
  if (making_ <= overdue_) return false;
  if (clock_.now() < limit) return true;
  overdue_ = making_;
  return false;
}

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
  if (!hold && frees_ == nullptr) return drain_frees();
  if (!hold || timers_ == nullptr) return post_drain(std::move(hold));
  MutexLock lock(timer_mutex_);
  if (timer_) return;
  timer_ = timers_->schedule(clock_.now() + kFreeTime, [this, hold = std::move(hold)]() mutable {
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
  if (freer() == nullptr || timers_ == nullptr) return;
  const std::optional<TimerQueue::Id> timer = take_timer();
  if (StripedScope::Hold hold = scope_.hold(); hold && !nothing_left()) post_drain(std::move(hold));
  if (timer) timers_->cancel(*timer);
}

}  // namespace millrace::devices::pjrt
