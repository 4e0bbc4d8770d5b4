// DeferredFrees: calls of a plugin that free something, left here by threads that must not block. A
// driver thread makes them. Read next: call_gate.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "millrace/core/async/executor.h"
#include "millrace/core/base/clock.h"
#include "millrace/core/base/mutex.h"

namespace millrace::devices::pjrt {

// Calls begin in the order in which they came; one that does not return holds up its own thread
// alone. Thread-safety: thread-safe.
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
  bool empty() const { return left_.load() == 0; }
  // This thread is in drain().
  bool draining_here() const { return draining_ == this; }

 private:
  bool push(Work* call);
  void drain_some();
  Work* take();
  void made_one();
  bool waits_for_others(TimePoint limit);

  static constinit thread_local const DeferredFrees* draining_;
  const Clock& clock_;
  std::atomic<std::size_t> left_{0};  // those that wait, and those that are being made
  Mutex mutex_;
  WorkQueue waiting_ MILLRACE_GUARDED_BY(mutex_);
  std::size_t making_ MILLRACE_GUARDED_BY(mutex_) = 0;
  // How many of those in the making drain() has stopped waiting for. The number is enough: to take
  // one for another costs that a put is not behind a free. calls_under_way.h tells which they are.
  std::size_t overdue_ MILLRACE_GUARDED_BY(mutex_) = 0;
};

}  // namespace millrace::devices::pjrt
