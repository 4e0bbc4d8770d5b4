#include "millrace/devices/pjrt/handed_over.h"

#include <chrono>
#include <thread>

namespace millrace::devices::pjrt {
namespace {

// How long a thread lets others run before it goes on without them: a thousand times what freeing
// takes.
constexpr std::chrono::milliseconds kPatience(5);

}  // namespace

constinit thread_local const HandedOver* HandedOver::draining_ = nullptr;

void HandedOver::drain_some() {
  if (draining_here()) return;  // further out on this thread: what has come since is made there
  const HandedOver* const outer = std::exchange(draining_, this);
  while (Call* const call = take()) {
    call->make();
    delete call;
    made_one();
  }
  draining_ = outer;
  wait_for_others();
}

HandedOver::Call* HandedOver::take() {
  if (calls_.load() % kMaking == 0) return nullptr;
  MutexLock lock(mutex_);
  if (oldest_ == nullptr) {
    Call* newest = newest_.exchange(nullptr);
    while (newest != nullptr) {
      Call* const before = std::exchange(newest->next, oldest_);
      oldest_ = std::exchange(newest, before);
    }
    if (oldest_ == nullptr) return nullptr;
  }
  calls_.fetch_add(kMaking - kLeft);
  return std::exchange(oldest_, oldest_->next);
}

void HandedOver::made_one() {
  calls_.fetch_sub(kMaking);
  lower_overdue();
}

void HandedOver::lower_overdue() {
  std::uint64_t overdue = overdue_.load();
  while (overdue > making() && !overdue_.compare_exchange_weak(overdue, making())) {
  }
}

void HandedOver::wait_for_others() {
  if (making() <= overdue_.load()) return;
  const auto until = clock_.now() + kPatience;
  while (making() > overdue_.load()) {
    if (clock_.now() >= until) {
      overdue_.store(making());
      return lower_overdue();  // one may have ended since
    }
    std::this_thread::yield();
  }
}

}  // namespace millrace::devices::pjrt
