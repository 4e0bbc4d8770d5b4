#include "millrace/core/timer_queue.h"

namespace millrace {

TimerQueue::~TimerQueue() {
  Entries rest;
  {
    MutexLock lock(mutex_);
    rest.swap(entries_);
  }
  for (auto& [id, work] : rest) work->drop();
}

TimerQueue::Id TimerQueue::schedule(TimePoint deadline, Work* work) {
  bool earliest = false;
  Id id;
  {
    MutexLock lock(mutex_);
    id = {deadline, next_number_++};
    const auto where = entries_.emplace(id, work).first;
    earliest = where == entries_.begin();
  }
  if (earliest && wake_) wake_();
  return id;
}

bool TimerQueue::cancel(Id id) {
  Work* work = nullptr;
  {
    MutexLock lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return false;
    work = found->second;
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
      work = first->second;
      entries_.erase(first);
    }
    work->run();
    ++ran;
  }
}

}  // namespace millrace
