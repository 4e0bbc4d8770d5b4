// TimerQueue: what shall happen when. Ordered by (deadline, start number), so that equal deadlines
// fire in the order in which they were set; the clock and whoever drives it (an EventLoop, the
// simulation) are given.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "millrace/core/clock.h"
#include "millrace/core/executor.h"
#include "millrace/core/mutex.h"

namespace millrace {

// Thread-safety: thread-safe, except set_wake. Owned by whoever drives it; on destruction pending
// work is dropped.
class TimerQueue {
 public:
  using Id = std::pair<TimePoint, std::uint64_t>;

  explicit TimerQueue(const Clock& clock) : clock_(clock) {}
  ~TimerQueue();

  const Clock& clock() const { return clock_; }
  // Runs work (short: it runs on the driver's thread) at or after deadline.
  Id schedule(TimePoint deadline, Work* work);
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
  // Called (on the scheduling thread, no lock held) when the next deadline has become earlier. Set
  // before use.
  void set_wake(std::function<void()> wake) { wake_ = std::move(wake); }

 private:
  const Clock& clock_;
  std::function<void()> wake_;
  mutable Mutex mutex_;
  std::uint64_t next_number_ MILLRACE_GUARDED_BY(mutex_) = 0;
  using Entries = std::map<Id, Work*, std::less<Id>, PoolAllocator<std::pair<const Id, Work*>>>;
  Entries entries_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace
