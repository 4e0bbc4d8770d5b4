#include "millrace/core/blocking.h"

#include "millrace/core/mutex.h"

namespace millrace {
namespace {

struct BlockingWaiter final : Waiter {
  Mutex mutex;
  CondVar changed;
  bool done MILLRACE_GUARDED_BY(mutex) = false;

  void on_complete(AsyncValue&) noexcept override {
    MutexLock lock(mutex);
    done = true;
    changed.notify_all();  // under the lock: the waiter is gone as soon as it sees done
  }
};

}  // namespace

void wait_blocking(AsyncValue& value) {
  if (value.complete()) return;
  BlockingWaiter waiter;
  value.add_waiter(&waiter);
  MutexLock lock(waiter.mutex);
  while (!waiter.done) waiter.changed.wait(waiter.mutex);
}

}  // namespace millrace
