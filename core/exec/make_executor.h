// make_executor: the one place that chooses a backend of PoolExecutor. A runtime has one for
// computing and one for what may block. This unit and executor_tbb.cc are a library of their own,
// the only one that needs oneTBB: a program that calls make_thread_executor does without it.
#pragma once

#include <memory>
#include <string>

#include "millrace/core/exec/pool_executor.h"  // IWYU pragma: export

namespace millrace {

enum class ExecutorBackend {
  kThreads,  // make_thread_executor
  kTbb,      // a oneTBB arena of its own, on workers that oneTBB lends to all: for computing
};

// kTbb; kThreads under ThreadSanitizer, which reports false races in oneTBB.
ExecutorBackend default_compute_backend();

// As make_thread_executor.
std::unique_ptr<PoolExecutor> make_executor(ExecutorBackend backend, int threads,
                                            const std::string& name);

namespace detail {
std::unique_ptr<PoolExecutor> make_tbb_executor(int threads, const std::string& name);
}  // namespace detail

}  // namespace millrace
