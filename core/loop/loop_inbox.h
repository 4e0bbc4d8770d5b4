// LoopInbox and DeadlineFd: what the loops over libuv and over libevent have in common. Work that
// other threads post to a loop, and the next deadline as a descriptor (both libraries' own timers
// are too coarse for a loader's reads). Internal to event_loop_*.cc.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>

#include "millrace/core/async/executor.h"
#include "millrace/core/base/clock.h"
#include "millrace/core/base/error.h"
#include "millrace/core/base/mutex.h"

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

// Wakes of a loop by other threads, until it goes: what a wake-up uses is there until the last one
// that has begun is over. Thread-safety: thread-safe.
class WakeGate {
 public:
  template <class F>
  void pass(F wake) noexcept {
    inside_.fetch_add(1);
    if (!shut_.load()) wake();
    inside_.fetch_sub(1);
  }
  // From now on nothing passes. Waits for the system calls that are under way.
  void shut() noexcept;

 private:
  std::atomic<int> inside_{0};
  std::atomic<bool> shut_{false};
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
