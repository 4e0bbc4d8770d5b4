#include "millrace/devices/pjrt/deferred_frees.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace millrace::devices::pjrt {
namespace {

// How long a thread lets others run before it goes on without them: a thousand times what freeing
// takes.
constexpr std::chrono::milliseconds kPatience(5);

}  // namespace

constinit thread_local const DeferredFrees* DeferredFrees::draining_ = nullptr;

bool DeferredFrees::push(Work* call) {
  MutexLock lock(mutex_);
  const bool first = waiting_.empty();
  waiting_.push(call);
  left_.fetch_add(1);
  return first;
}

void DeferredFrees::drain_some() {
  if (draining_here()) return;  // further out on this thread: what has come since is made there
  const DeferredFrees* const outer = std::exchange(draining_, this);
  while (Work* const call = take()) {
    call->run();
    made_one();
  }
  draining_ = outer;
  if (empty()) return;
  const TimePoint limit = clock_.now() + kPatience;
  while (waits_for_others(limit)) std::this_thread::yield();
}

Work* DeferredFrees::take() {
  MutexLock lock(mutex_);
  Work* const call = waiting_.pop();
  if (call != nullptr) ++making_;
  return call;
}

void DeferredFrees::made_one() {
  MutexLock lock(mutex_);
  overdue_ = std::min(overdue_, --making_);
  left_.fetch_sub(1);
}

bool DeferredFrees::waits_for_others(TimePoint limit) {
  MutexLock lock(mutex_);
  if (making_ <= overdue_) return false;
  if (clock_.now() < limit) return true;
  overdue_ = making_;
  return false;
}

}  // namespace millrace::devices::pjrt
