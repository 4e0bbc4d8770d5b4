// CallGate: whether a client's plugin is called, and by which thread. It knows what is under way,
// keeps what threads that must not block want to be called, and closes for good when the client is
// given up. Internal to client_core.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "millrace/core/async/executor.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/base/clock.h"
#include "millrace/core/base/intrusive_stack.h"
#include "millrace/core/base/mutex.h"
#include "millrace/devices/client.h"
#include "millrace/devices/device_scope.h"

namespace millrace::devices::pjrt {

// Calls of a plugin that free something, left here by threads that must not block. A driver thread
// makes them. They begin in the order in which they came; one that does not return holds up its own
// thread alone. Thread-safety: thread-safe.
class DeferredFrees {
 public:
  // The clock, which outlives this, measures how long drain() waits.
  explicit DeferredFrees(const Clock& clock = steady_clock()) : clock_(clock) {}
  DeferredFrees(const DeferredFrees&) = delete;
  DeferredFrees& operator=(const DeferredFrees&) = delete;
  ~DeferredFrees() { drain(); }

  // True: it is the first of those that wait, and the caller must have drain() called. For one
  // behind others, the caller that added the first has it called.
  template <class F>
  bool add(F call) {
    return push(new millrace::detail::FunctionWork<F>(std::move(call)));
  }
  // Makes all that came before, on this thread, or waits until other threads have made them: a
  // moment, or not at all for calls that have been waited for so long before.
  void drain() {
    if (!empty()) [[unlikely]]
      drain_some();
  }
  // added_ first: what is taken from it is counted in left_ before.
  bool empty() const { return added_.word() == 0 && left_.load() == 0; }
  // This thread is in drain().
  bool draining_here() const { return draining_ == this; }

 private:
  using Added = IntrusiveStack<Work, &Work::next>;
  static constexpr Added::Word kNone = 0, kClosed = 1;  // it never is

  bool push(Work* call) { return added_.push(call, kClosed) == kNone; }
  void drain_some();
  void make_one_alone();
  void gather(Work* added) MILLRACE_REQUIRES(mutex_);
  // The next one; made: the one before it is done.
  Work* take(bool made);
  std::size_t making() const MILLRACE_REQUIRES(mutex_) { return left_.load() - waiting_count_; }
  bool waits_for_others(TimePoint limit);

  static constinit thread_local const DeferredFrees* draining_;
  const Clock& clock_;
  Added added_{kNone};
  // Those that were taken from added_ and are not made, or one more.
  std::atomic<std::size_t> left_{0};
  Mutex mutex_;
  WorkQueue waiting_ MILLRACE_GUARDED_BY(mutex_);
  std::size_t waiting_count_ MILLRACE_GUARDED_BY(mutex_) = 0;
  // How many of those in the making drain() has stopped waiting for. The number is enough: to take
  // one for another costs that a put is not behind a free. calls_under_way.h knows which they are.
  // Written under the lock, or where none is in the making.
  std::atomic<std::size_t> overdue_{0};
};

// Thread-safety: thread-safe.
class CallGate {
 public:
  // For calls of the client. The rest is that of PjrtClientOptions. All outlive this.
  CallGate(const Client& client, Executor* frees, Executor* driver, TimerQueue* timers,
           const Clock& clock)
      : client_(client), frees_(frees), driver_(driver), timers_(timers), clock_(clock) {}

  // Makes the call at once on a thread that is inside a call of a device, which may block, unless
  // the plugin calls back in it. Else the
  // next put, copy, fetch or launch makes it first, or within 20 ms the thread for what frees.
  // After the close that thread makes it at once, or this one where there is none. Not always that
  // thread: each launch would wake it, which takes longer than a small launch, and a put would find
  // memory taken; so a free that does not return may hold up its device.
  template <class F>
  void hand_over(F call) {
    if (may_call_here()) return call();
    if (deferred_->add(std::move(call))) see_to_deferred();
  }
  // What was handed over before a call comes before it.
  void drain_frees() const { deferred_->drain(); }
  // For the close, which waits for what is handed over.
  void hurry();
  bool nothing_left() const { return deferred_->empty(); }

  bool may_call_here() const {
    if (freer() == nullptr) return true;
    return !ForeignThreadScope::here() && (deferred_->draining_here() || in_actor());
  }
  // This thread is that of one of the client's device actors.
  bool in_actor() const {
    const DeviceScope* const scope = DeviceScope::current();
    return scope != nullptr && &scope->client() == &client_;
  }
  // Where calls that free are made; nullptr: wherever they are wanted.
  Executor* freer() const { return frees_ != nullptr ? frees_ : driver_; }

  // What is under way; closed by the client's close().
  StripedScope& scope() { return scope_; }
  const StripedScope& scope() const { return scope_; }

  // True the first time: nothing is called any more.
  bool give_up() { return !given_up_.exchange(true); }
  bool given_up() const { return given_up_.load(); }

 private:
  void see_to_deferred();
  void post_drain(StripedScope::Hold hold);
  std::optional<TimerQueue::Id> take_timer();

  const Client& client_;
  Executor* const frees_;
  Executor* const driver_;
  TimerQueue* const timers_;
  const Clock& clock_;
  // Shared with whatever thread is to make them, which may come when this is gone and nothing is
  // left.
  const std::shared_ptr<DeferredFrees> deferred_ = std::make_shared<DeferredFrees>();
  std::atomic<bool> timer_set_{false};  // written under the lock, read without it
  Mutex timer_mutex_;
  std::optional<TimerQueue::Id> timer_ MILLRACE_GUARDED_BY(timer_mutex_);
  std::atomic<bool> given_up_{false};
  StripedScope scope_{"the PJRT client"};
};

}  // namespace millrace::devices::pjrt
