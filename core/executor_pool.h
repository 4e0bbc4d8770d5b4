// PoolExecutor: threads of our own that run work, behind one interface for every backend. Whoever assembles a
// runtime makes one for computing and one for what may block. Read next: executor_threads.h, executor_tbb.h.
#pragma once

#include <memory>
#include <string>

#include "millrace/core/executor.h"
#include "millrace/core/future.h"
#include "millrace/core/parallel_for.h"

namespace millrace {

// States: open -> closing (close was called, work is running) -> closed. Thread-safety: thread-safe.
// The destructor closes and waits for the work that is running; after close() has completed it waits for
// nothing. Never destroyed on one of its own threads.
class PoolExecutor : public Executor {
 public:
  virtual int threads() const = 0;
  // Refuses new work, drops what has not started (EX-2), completes when what has started is done; on the
  // thread that finished last.
  virtual Future<void> close() = 0;
  // Splits a kernel over these threads and the calling one.
  virtual Parallel& parallel() = 0;
};

enum class ExecutorBackend {
  kThreads,  // plain threads around one queue: understood by every tool, fine for blocking work
  kTbb,      // a oneTBB arena: for computing
};

// kTbb; kThreads where the build is instrumented by ThreadSanitizer, which reports false races in oneTBB.
ExecutorBackend default_compute_backend();

// threads >= 1 (CHECKed). The name is that of the threads, as a debugger shows it (15 characters of it).
std::unique_ptr<PoolExecutor> make_executor(ExecutorBackend backend, int threads, std::string name);

}  // namespace millrace
