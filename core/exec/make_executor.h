// make_executor: the one place that chooses a backend of PoolExecutor: executor_threads.cc,
// executor_tbb.cc.
#pragma once

#include <memory>
#include <string>

#include "millrace/core/exec/executor_pool.h"

namespace millrace {

enum class ExecutorBackend {
  kThreads,  // plain threads around one queue: understood by every tool, fine for blocking work
  kTbb,      // a oneTBB arena of its own, on workers that oneTBB lends to all: for computing
};

// kTbb; kThreads where the build is instrumented by ThreadSanitizer, which reports false races in
// oneTBB.
ExecutorBackend default_compute_backend();

// threads >= 1 (CHECKed). The name is that of the threads, as a debugger shows it (15 characters of
// it). Work starts in any order. Throws std::system_error where the process may not have that many
// more (start_thread.h).
std::unique_ptr<PoolExecutor> make_executor(ExecutorBackend backend, int threads,
                                            const std::string& name);

namespace detail {
std::unique_ptr<PoolExecutor> make_thread_executor(int threads, const std::string& name);
std::unique_ptr<PoolExecutor> make_tbb_executor(int threads, const std::string& name);
}  // namespace detail

}  // namespace millrace
