#include "millrace/core/async/timer_queue.h"

#include <iterator>

namespace millrace {

void TimerQueue::close() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  drop_pending();
}

void TimerQueue::drop_pending() {
  Entries rest;
  {
    MutexLock lock(mutex_);
    rest.swap(entries_);
  }
  for (auto& [id, entry] : rest) entry.work->drop();
}

void TimerQueue::drop_waits() {
  Entries waits;
  {
    MutexLock lock(mutex_);
    for (auto at = entries_.begin(); at != entries_.end();) {
      const auto next = std::next(at);
      if (at->second.kind == Kind::kWait) waits.insert(waits.end(), entries_.extract(at));
      at = next;
    }
  }
  for (auto& [id, entry] : waits) entry.work->drop();
}

TimerQueue::Id TimerQueue::schedule(TimePoint deadline, Work* work, Kind kind) {
  bool earliest = false;
  bool closed = false;
  Id id;
  {
    MutexLock lock(mutex_);
    id = {deadline, next_number_++};
    closed = closed_;
    if (!closed) {
      const auto where = entries_.emplace(id, Entry{work, kind}).first;
      earliest = where == entries_.begin();
    }
  }
  if (closed) work->drop();
  if (earliest && wake_) wake_();
  return id;
}

bool TimerQueue::cancel(Id id) {
  Work* work = nullptr;
  {
    MutexLock lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return false;
    work = found->second.work;
    entries_.erase(found);
  }
  work->drop();
  return true;
}

std::optional<TimePoint> TimerQueue::next_deadline() const {
  MutexLock lock(mutex_);
  if (entries_.empty()) return std::nullopt;
  return entries_.begin()->first.first;
}

std::size_t TimerQueue::pending() const {
  MutexLock lock(mutex_);
  return entries_.size();
}

std::size_t TimerQueue::run_due() {
  // Only what is due on entry: work that schedules itself again for now must not starve the driver.
  const TimePoint now = clock_.now();
  std::uint64_t limit = 0;
  {
    MutexLock lock(mutex_);
    limit = next_number_;
  }
  std::size_t ran = 0;
  for (;;) {
    Work* work = nullptr;
    {
      MutexLock lock(mutex_);
      auto first = entries_.begin();
      while (first != entries_.end() && first->first.first <= now && first->first.second >= limit)
        ++first;
      if (first == entries_.end() || first->first.first > now) return ran;
      work = first->second.work;
      entries_.erase(first);
    }
    work->run();
    ++ran;
  }
}

}  // namespace millrace
