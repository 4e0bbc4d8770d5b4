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

void DeferredFrees::drain_some() {
  if (draining_here()) return;  // further out on this thread: what has come since is made there
  const DeferredFrees* const outer = std::exchange(draining_, this);
  make_one_alone();
  if (!empty()) {
    for (Work* call = take(false); call != nullptr; call = take(true)) call->run();
  }
  draining_ = outer;
  if (empty()) return;
  const TimePoint limit = clock_.now() + kPatience;
  while (waits_for_others(limit)) std::this_thread::yield();
}

// There is mostly one, which takes no lock.
void DeferredFrees::make_one_alone() {
  if (left_.fetch_add(1) != 0) {
    left_.fetch_sub(1);
    return;
  }
  if (overdue_.load() != 0) overdue_.store(0);
  Work* const added = Added::oldest_first(added_.exchange(kNone));
  if (added != nullptr && added->next == nullptr) {
    added->run();
  } else if (added != nullptr) {
    MutexLock lock(mutex_);
    gather(added);
  }
  left_.fetch_sub(1);
}

void DeferredFrees::gather(Work* added) {
  std::size_t count = 0;
  for (const Work* call = added; call != nullptr; call = call->next) ++count;
  left_.fetch_add(count);
  waiting_count_ += count;
  waiting_.push_all(added);
}

Work* DeferredFrees::take(bool made) {
  MutexLock lock(mutex_);
  if (made) left_.fetch_sub(1);
  overdue_.store(std::min(overdue_.load(), making()));
  left_.fetch_add(1);  // until they are counted
  gather(Added::oldest_first(added_.exchange(kNone)));
  left_.fetch_sub(1);
  Work* const call = waiting_.pop();
  if (call != nullptr) --waiting_count_;
  return call;
}

bool DeferredFrees::waits_for_others(TimePoint limit) {
  MutexLock lock(mutex_);
  if (making() <= overdue_.load()) return false;
  if (clock_.now() < limit) return true;
  overdue_.store(making());
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
