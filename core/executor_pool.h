// PoolExecutor: threads of our own that run work, behind one interface for every backend. Whoever
// assembles a runtime makes one for computing and one for what may block. Read next:
// make_executor.h.
#pragma once

#include "millrace/core/executor.h"
#include "millrace/core/future.h"
#include "millrace/core/parallel_for.h"

namespace millrace {

// States: open -> closing (close was called, work is running) -> closed. Thread-safety:
// thread-safe. The destructor closes and waits for the work that is running; after close() has
// completed it waits for nothing. Never destroyed on one of its own threads.
class PoolExecutor : public Executor {
 public:
  virtual int threads() const = 0;
  // Refuses new work, drops what has not started (EX-2), completes when what has started is done;
  // on the thread that finished last.
  virtual Future<void> close() = 0;
  // Splits a kernel over these threads and the calling one.
  virtual Parallel& parallel() = 0;
};

}  // namespace millrace
