// Environment: time and threads as parameters. The assembler of a runtime (tools/api, a test, the
// simulation) makes them and passes them down; no room below asks the operating system for them.
#pragma once

#include "millrace/core/async/executor.h"
#include "millrace/core/async/parallel_for.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/base/clock.h"

namespace millrace {

// Borrowed pointers, null only where noted; they outlive every user. Thread-safety: immutable.
struct Environment {
  const Clock* clock = nullptr;
  TimerQueue* timers = nullptr;
  Executor* compute = nullptr;   // actors, continuations, decoding: must not block
  Executor* blocking = nullptr;  // files, compilation, plugin calls
  Parallel* parallel = nullptr;  // splits what the host computes; nullptr: the caller alone
};

}  // namespace millrace
