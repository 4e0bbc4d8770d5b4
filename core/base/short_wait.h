// ShortWait: a thread looks for a short time before it sleeps, and lets other threads run between
// its looks. To sleep and to be woken costs tens of microseconds where an answer takes two; looks
// in vain cost their time. So they are short, and a thread whose looks are in vain seldom tries.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "millrace/core/base/clock.h"
#include "millrace/core/base/pause.h"

namespace millrace {

// One thread has one, or one place where it waits. Each wait in vain lets more of the next ones
// sleep at once. Where other threads want this core, one look may cost a turn of milliseconds: each
// such turn makes it four times as long until the next try, and kMostWhereOthersRun tries that are
// worth it make it a quarter. Thread-safety: external.
class ShortWait {
 public:
  static constexpr int kMostLeftOut = 64;
  static constexpr int kFewestWhereOthersRun = 8, kMostWhereOthersRun = 512;
  // The time in which two threads that sleep are woken, one by the other, and answer. A shorter one
  // never ends well again once both sides of a conversation have begun to sleep.
  static constexpr std::chrono::microseconds kPatience{100};
  // A look that takes longer: another thread had its turn on this core.
  static constexpr std::chrono::microseconds kTurn{500};

  // True: done() is so. False: the thread had better sleep. alone: for so long it looks before it
  // lets others run for the first time, unless they had turns lately.
  template <class Done>
  bool wait_for(const Done& done, Duration alone = Duration(0)) {
    if (leave_out()) return false;
    if (others_ > 0) alone = Duration(0);
    const TimePoint begin = steady_clock().now();
    TimePoint before = begin;
    for (; before - begin < alone; before = steady_clock().now()) {
      if (done()) return succeeded(), true;
      pause_core();
    }
    for (;; before = steady_clock().now()) {
      std::this_thread::yield();
      const TimePoint now = steady_clock().now();
      const bool is_done = done();  // which may do at once what there is to do
      if (now - before > kTurn) {
        others_ran();
      } else if (is_done) {
        succeeded();
      } else if (now - begin > kPatience) {
        failed();
      } else {
        continue;
      }
      return is_done;
    }
  }

  // The policy alone.
  bool leave_out() {
    if (left_out_ == 0) return false;
    --left_out_;
    return true;
  }
  void succeeded() {
    failures_ = 0;
    if (++since_turn_ < kMostWhereOthersRun) return;
    since_turn_ = 0;
    others_ /= 4;
  }
  void failed() { left_out_ = failures_ = std::min(2 * failures_ + 1, kMostLeftOut); }
  void others_ran() {
    left_out_ = others_ = std::clamp(4 * others_, kFewestWhereOthersRun, kMostWhereOthersRun);
    since_turn_ = 0;
  }

 private:
  int left_out_ = 0;    // waits that still sleep at once
  int failures_ = 0;    // how many waits the next failure lets sleep at once
  int others_ = 0;      // how many the last turn of another thread let sleep at once
  int since_turn_ = 0;  // waits that were worth it since, or since others_ became less
};

}  // namespace millrace
