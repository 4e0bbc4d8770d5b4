// LaunchOrder and LaunchSequencer: the one order of the launches that span several devices. A
// launch takes its place when it is submitted, never when its inputs happen to be ready, and enters
// the queues of all its devices in one step; so any two of them meet in the same order on every
// device that they share, and cannot deadlock.
#pragma once

#include <cstdint>
#include <map>

#include "millrace/core/base/error.h"
#include "millrace/core/base/function_ref.h"
#include "millrace/core/base/mutex.h"

namespace millrace::devices {

// Where a launch belongs: the n-th of an epoch of a group (of ranks that launch the same programs).
struct LaunchOrder {
  static constexpr std::uint64_t kNext = ~std::uint64_t{0};

  std::uint64_t group = 0;
  std::uint64_t epoch = 0;         // a group that lost a member continues in a later one
  std::uint64_t sequence = kNext;  // kNext: the one that is due
};

// One for all devices that a launch may span. Thread-safety: thread-safe.
class LaunchSequencer {
 public:
  // Fills in order.sequence and calls enter under the lock, so that no other launch comes between
  // the queues. kFailedPrecondition, and nothing entered, for an epoch that is over or a sequence
  // that is not the one due.
  Status submit(LaunchOrder& order, FunctionRef<void()> enter);

 private:
  struct Group {
    std::uint64_t epoch = 0;
    std::uint64_t next = 0;
  };
  Mutex mutex_;
  std::map<std::uint64_t, Group> groups_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::devices
