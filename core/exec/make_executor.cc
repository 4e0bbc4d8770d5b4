#include "millrace/core/exec/make_executor.h"

namespace millrace {

ExecutorBackend default_compute_backend() {
#if defined(MILLRACE_TSAN)
  return ExecutorBackend::kThreads;
#else
  return ExecutorBackend::kTbb;
#endif
}

std::unique_ptr<PoolExecutor> make_executor(ExecutorBackend backend, int threads,
                                            const std::string& name) {
  return backend == ExecutorBackend::kTbb ? detail::make_tbb_executor(threads, name)
                                          : make_thread_executor(threads, name);
}

}  // namespace millrace
