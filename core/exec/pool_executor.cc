#include "millrace/core/exec/pool_executor.h"

#include <utility>

#include "millrace/core/async/blocking.h"
#include "millrace/core/base/check.h"

namespace millrace {

constinit thread_local const PoolExecutor* PoolExecutor::current_ = nullptr;

const PoolExecutor* current_pool() { return PoolExecutor::current_; }

PoolExecutor::PoolExecutor(int threads, const PoolExecutor* beneath)
    : threads_(threads), beneath_(beneath), parallel_(make_parallel_on(*this, threads)) {
  MILLRACE_CHECK(threads >= 1, "an executor has at least one thread");
}

// The threads go, the rest stays and refuses.
void PoolExecutor::operator delete(PoolExecutor* executor, std::destroying_delete_t) {
  MILLRACE_CHECK(!executor->on_own_thread(),
                 "an executor is not destroyed on one of its own threads");
  if (const Future<void> closed = executor->close(); !closed.ready())
    wait_until(closed, CallOptions());
  executor->end_threads();
  detail::keep_for_good(executor);
}

void PoolExecutor::submit(Work* work) noexcept {
  // For the work, and for this call, which uses the threads after the work may be over.
  if ((state_.fetch_add(2 * kOne) & kClosing) != 0) {
    work->drop();
    return leave(2);
  }
  enqueue(work);
  if (closing()) drop_queued();  // close() may have looked before the work was there
  leave();
}

Future<void> PoolExecutor::close() {
  Future<void> closed = closed_;
  state_.fetch_add(kOne);  // the promise is not completed while we are here
  state_.fetch_or(kClosing);
  drop_queued();
  leave();
  return closed;
}

void PoolExecutor::consume(Work* work) {
  const PoolExecutor* const outer = std::exchange(current_, this);
  closing() ? work->drop() : work->run();
  leave();  // which may complete close(): its continuations still run on a thread of this
  current_ = outer;
}

void PoolExecutor::drop(Work* work) {
  work->drop();
  leave();
}

void PoolExecutor::leave(std::uint64_t times) {
  // Only a closing executor reaches exactly kClosing; late submits may pass it again.
  if (state_.fetch_sub(times * kOne) == kClosing + times * kOne && !completed_.exchange(true)) {
    Promise<void> promise = std::move(promise_);  // a waiter may destroy this
    promise.set_value();
  }
}

}  // namespace millrace
