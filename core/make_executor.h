// make_executor: the one place that chooses a backend of PoolExecutor. Read next:
// executor_threads.h, executor_tbb.h.
#pragma once

#include <memory>
#include <string>

#include "millrace/core/executor_pool.h"

namespace millrace {

enum class ExecutorBackend {
  kThreads,  // plain threads around one queue: understood by every tool, fine for blocking work
  kTbb,      // a oneTBB arena: for computing
};

// kTbb; kThreads where the build is instrumented by ThreadSanitizer, which reports false races in
// oneTBB.
ExecutorBackend default_compute_backend();

// threads >= 1 (CHECKed). The name is that of the threads, as a debugger shows it (15 characters of
// it). Throws std::system_error where the process may not have that many more (start_thread.h).
std::unique_ptr<PoolExecutor> make_executor(ExecutorBackend backend, int threads, std::string name);

}  // namespace millrace
