// TimerQueue: work with deadlines, ordered by (deadline, start number): equal deadlines run in the
// order in which they were set. The clock and the driver (an EventLoop, a test) are parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "millrace/core/async/executor.h"
#include "millrace/core/base/clock.h"
#include "millrace/core/base/mutex.h"

namespace millrace {

// States: open -> closed. Dropped work does not run: its drop() completes what waits for it, once
// (sleeps and deadlines with kAborted). Thread-safety: thread-safe, except
// set_wake. Owned by the loop or test that drives it; the destructor closes it.
class TimerQueue {
 public:
  using Id = std::pair<TimePoint, std::uint64_t>;
  enum class Kind : std::uint8_t {
    kWork,
    kWait,  // as sleeps and deadlines: drop_waits() ends it
  };

  explicit TimerQueue(const Clock& clock) : clock_(clock) {}
  ~TimerQueue() { close(); }

  const Clock& clock() const { return clock_; }
  // Runs work (short: on the driver's thread) at or after deadline. Once closed: drops it at once.
  Id schedule(TimePoint deadline, Work* work, Kind kind = Kind::kWork);
  template <class F>
  Id schedule(TimePoint deadline, F&& f)
    requires std::is_invocable_v<F&>
  {
    return schedule(deadline, new detail::FunctionWork<std::decay_t<F>>(std::forward<F>(f)));
  }
  // True: the work will not run, it was dropped. False: it ran, runs, or was cancelled before.
  bool cancel(Id id);
  std::optional<TimePoint> next_deadline() const;
  std::size_t pending() const;
  // Runs what is due now, in order; returns how many ran. Called by the driver.
  std::size_t run_due();
  // Drops what is pending, the earliest first, on this thread.
  void drop_pending();
  // The same of every kWait; the rest stays.
  void drop_waits();
  // As drop_pending(), and from now on drops what is scheduled.
  void close();
  // Called (on the scheduling thread, no lock held) when the next deadline has become earlier. Set
  // before use.
  void set_wake(std::function<void()> wake) { wake_ = std::move(wake); }

 private:
  struct Entry {
    Work* work = nullptr;
    Kind kind = Kind::kWork;
  };

  const Clock& clock_;
  std::function<void()> wake_;
  mutable Mutex mutex_;
  bool closed_ MILLRACE_GUARDED_BY(mutex_) = false;
  std::uint64_t next_number_ MILLRACE_GUARDED_BY(mutex_) = 0;
  using Entries = std::map<Id, Entry, std::less<Id>, PoolAllocator<std::pair<const Id, Entry>>>;
  Entries entries_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace
