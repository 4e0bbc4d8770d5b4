#include "millrace/core/blocking.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "millrace/core/bridged_thread.h"
#include "millrace/core/check.h"
#include "millrace/core/clock.h"

namespace millrace {
namespace {

// So long a thread looks, and lets others run, before it goes to sleep: what waking a thread on
// another core and a short piece of work there take together. To be woken costs as much again.
constexpr std::chrono::microseconds kPatience(50);

class BlockingWaiter final : public Waiter {
 public:
  void on_complete(AsyncValue& /*value*/) noexcept override {
    // Who waits is gone as soon as it sees kDone: from then on this is an address only.
    if (state_.exchange(kDone) == kAsleep) state_.notify_one();
  }
  void wait() {
    const TimePoint until = steady_clock().now() + kPatience;
    while (state_.load() != kDone) {
      if (steady_clock().now() >= until) return sleep();
      std::this_thread::yield();
    }
  }

 private:
  static constexpr int kAwake = 0;   // -> kAsleep, kDone
  static constexpr int kAsleep = 1;  // -> kDone
  static constexpr int kDone = 2;    // final

  void sleep() {
    int awake = kAwake;
    if (state_.compare_exchange_strong(awake, kAsleep)) state_.wait(kAsleep);
  }
  // An int: libstdc++ then waits for this word itself and shares no table with other words.
  std::atomic<int> state_{kAwake};
};

}  // namespace

void wait_blocking(AsyncValue& value) {
  if (value.complete()) return;
  MILLRACE_DCHECK(!on_bridged_thread(),
                  "wait_blocking() on the thread of an event loop that a bridge serves would stop "
                  "the loop: use future.then(bridge, ...) or co_await, or close the bridge first");
  BlockingWaiter waiter;
  value.add_waiter(&waiter);
  waiter.wait();
}

}  // namespace millrace
