// LoopTimers: timers of one user of a loop that others use too. They end, all of them, while the
// loop and the timers of the others run on.
#pragma once

#include <new>
#include <optional>

#include "millrace/core/async/scope.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/loop/event_loop.h"

namespace millrace {

// One queue of its own, and one timer of the loop for its next deadline. States: open -> closed.
// Thread-safety: thread-safe. The loop outlives close(), which comes before the deletion. What is
// left of it are a few hundred bytes whose queue refuses for ever (EX-3).
class LoopTimers {
 public:
  explicit LoopTimers(EventLoop& loop);

  // Its work runs on the thread of the loop.
  TimerQueue& timers() { return timers_; }
  // Drops what is pending and, from now on, what is scheduled. Completes when none of its work
  // runs: at once, or on the loop's thread.
  Future<void> close();

  static void operator delete(LoopTimers* timers, std::destroying_delete_t);

 private:
  void arm();
  void on_deadline();

  EventLoop& loop_;
  TimerQueue timers_;
  Scope running_{"the timers"};
  Mutex mutex_;
  bool closed_ MILLRACE_GUARDED_BY(mutex_) = false;
  std::optional<TimerQueue::Id> armed_ MILLRACE_GUARDED_BY(mutex_);  // in the loop's queue
};

}  // namespace millrace
