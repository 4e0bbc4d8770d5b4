#include "millrace/core/async/blocking.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>

#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/base/check.h"
#include "millrace/core/base/clock.h"
#include "millrace/core/base/short_wait.h"

namespace millrace {
namespace {

constinit thread_local ShortWait short_wait;

// To another thread of this core and back: 2.2 us on one machine (sched_yield).
constexpr std::chrono::microseconds kTwoSwitches(3);

class BlockingWaiter final : public Waiter {
 public:
  void on_complete(AsyncValue& /*value*/) noexcept override {
    // The waiting thread destroys this once it sees kDone: from then on this is an address only.
    if (state_.exchange(kDone) == kAsleep) futex(FUTEX_WAKE_PRIVATE, 1);
  }
  bool is_brief() const override { return true; }
  // executor: of which the value comes, or nullptr.
  void wait(Executor* executor) {
    const auto done = [&] {
      if (executor != nullptr) executor->run_some();
      return state_.load() == kDone;
    };
    // One of the other threads would be the executor's own: two switches, for nothing.
    if (!short_wait.wait_for(done, executor != nullptr ? kTwoSwitches : Duration(0))) sleep();
  }

 private:
  static constexpr int kAwake = 0;   // -> kAsleep, kDone
  static constexpr int kAsleep = 1;  // -> kDone
  static constexpr int kDone = 2;    // final

  void sleep() {
    int awake = kAwake;
    if (!state_.compare_exchange_strong(awake, kAsleep)) return;
    while (state_.load() == kAsleep) futex(FUTEX_WAIT_PRIVATE, kAsleep);
  }
  // std::atomic's own wait() would yield first. May return at once, also for no reason.
  void futex(int operation, int value) {
    ::syscall(SYS_futex, &state_, operation, value, nullptr, nullptr, 0);
  }
  static_assert(sizeof(std::atomic<int>) == sizeof(int), "the system looks at it, too");
  std::atomic<int> state_{kAwake};
};

// What one thread waits for up to a deadline. A semaphore of the standard library sleeps for up to
// half of the time that has passed before it looks again; this wakes at once. Thread-safety:
// thread-safe.
class Over {
 public:
  void set() {
    const std::lock_guard lock(mutex_);
    is_ = true;
    changed_.notify_all();
  }
  void wait_until(TimePoint deadline) {
    std::unique_lock lock(mutex_);
    const auto is = [this] { return is_; };
    if (deadline == kNoDeadline)
      changed_.wait(lock, is);
    else
      changed_.wait_until(lock, deadline, is);
  }

 private:
  std::mutex mutex_;  // CondVar has no limit
  std::condition_variable changed_;
  bool is_ = false;
};

}  // namespace

void wait_blocking(AsyncValue& value) {
  if (value.complete()) return;
  MILLRACE_CHECK(!on_bridged_thread(),
                 "wait_blocking() on the thread of an event loop that a bridge serves would stop "
                 "the loop: use future.then(bridge, ...) or co_await, or close the bridge first");
  MILLRACE_CHECK(running_loop() == nullptr,
                 "wait_blocking() inside the run() of an event loop would stop the loop and its "
                 "timers: use future.then(loop, ...) or co_await, or wait on another thread");
  if (const char* why = value.waits_for_this_thread()) check_failed("wait_blocking()", why);
  BlockingWaiter waiter;
  value.add_waiter(&waiter);
  // Where notifications wait for the outermost one to end, some of that work would wait for this.
  waiter.wait(AsyncValue::is_notifying_here() ? nullptr : value.completes_on());
}

bool wait_until(const Future<void>& end, const CallOptions& call) {
  // Shared with the end, which may come when the wait is over.
  const auto over = std::make_shared<Over>();
  end.then(inline_executor(), [over](const Status&) { over->set(); }).ignore();
  const std::stop_callback stopped(call.stop, [over] { over->set(); });
  over->wait_until(call.deadline);
  return end.ready();
}

bool wait_until(const Future<void>& end, Duration limit) {
  const TimePoint now = steady_clock().now();
  return wait_until(end, {.deadline = limit < kNoDeadline - now ? now + limit : kNoDeadline});
}

}  // namespace millrace
