// LoopInbox and DeadlineFd: what the loops over libuv and over libevent have in common. Work that
// other threads post to a loop, and the next deadline as a descriptor (both libraries' own timers
// are too coarse for a loader's reads). Internal to event_loop_*.cc.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>

#include "millrace/core/clock.h"
#include "millrace/core/error.h"
#include "millrace/core/executor.h"
#include "millrace/core/mutex.h"

namespace millrace {

// "making an event loop: " why. kResourceExhausted.
std::unexpected<Error> no_loop(const std::string& why);
// That so many descriptors may be opened: for libraries that end the process where they may not.
Status check_descriptors_left(int count);

// Thread-safety: thread-safe; drain() on the loop's thread only.
class LoopInbox {
 public:
  // Takes the work, or drops it if the inbox is closed. True: wake the loop.
  bool post(Work* work) noexcept;
  // The loop is to be woken for another reason. True unless a wake-up is on its way.
  bool needs_wake() noexcept { return !awake_.exchange(true); }
  // Runs what is there, up to a limit, so that descriptors and timers get their turn; counts it.
  // True: wake the loop again.
  bool drain(std::size_t& ran);
  // Drops what is there, and what comes.
  void close();

 private:
  Work* take();
  bool empty();

  Mutex mutex_;
  WorkQueue posted_ MILLRACE_GUARDED_BY(mutex_);
  bool closed_ MILLRACE_GUARDED_BY(mutex_) = false;
  std::atomic<bool> awake_{false};  // down only while a wake-up is needed to be heard
};

// A timerfd that becomes readable when a deadline comes. Thread-safety: confined.
class DeadlineFd {
 public:
  // -1 if the process has no descriptors left.
  DeadlineFd();
  DeadlineFd(const DeadlineFd&) = delete;
  DeadlineFd& operator=(const DeadlineFd&) = delete;
  ~DeadlineFd();

  int descriptor() const { return descriptor_; }
  // From now on by the clock, whatever clock that is; a deadline that has come fires at once.
  void arm(std::optional<TimePoint> deadline, const Clock& clock);
  // It was readable, and is not any more.
  void consume();

 private:
  const int descriptor_;
  std::optional<TimePoint> armed_for_;
};

}  // namespace millrace
