#include "millrace/core/blocking.h"

#include "millrace/core/bridged_thread.h"
#include "millrace/core/check.h"
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
  MILLRACE_DCHECK(!on_bridged_thread(),
                  "wait_blocking() on the thread of an event loop that a bridge serves would stop "
                  "the loop: use future.then(bridge, ...) or co_await, or close the bridge first");
  BlockingWaiter waiter;
  value.add_waiter(&waiter);
  MutexLock lock(waiter.mutex);
  while (!waiter.done) waiter.changed.wait(waiter.mutex);
}

}  // namespace millrace
