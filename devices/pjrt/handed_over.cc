#include "millrace/devices/pjrt/handed_over.h"

namespace millrace::devices::pjrt {

thread_local const HandedOver* HandedOver::draining_ = nullptr;

void HandedOver::drain() {
  if (waiting_.load() == 0) [[likely]]
    return;
  if (draining_here()) return;  // further out on this thread: what has come since is made there
  MutexLock lock(mutex_);
  const HandedOver* const outer = std::exchange(draining_, this);
  while (Call* newest = newest_.exchange(nullptr)) {
    Call* oldest = nullptr;
    while (newest != nullptr) {
      Call* const before = std::exchange(newest->next, oldest);
      oldest = std::exchange(newest, before);
    }
    while (oldest != nullptr) {
      Call* const call = std::exchange(oldest, oldest->next);
      call->make();
      delete call;
      waiting_.fetch_sub(1);
    }
  }
  draining_ = outer;
}

}  // namespace millrace::devices::pjrt
