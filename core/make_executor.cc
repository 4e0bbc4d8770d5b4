#include "millrace/core/make_executor.h"

#include "millrace/core/check.h"
#include "millrace/core/executor_tbb.h"
#include "millrace/core/executor_threads.h"

namespace millrace {

ExecutorBackend default_compute_backend() {
#if defined(MILLRACE_TSAN)
  return ExecutorBackend::kThreads;
#else
  return ExecutorBackend::kTbb;
#endif
}

std::unique_ptr<PoolExecutor> make_executor(ExecutorBackend backend, int threads,
                                            std::string name) {
  MILLRACE_CHECK(threads >= 1, "an executor has at least one thread");
  switch (backend) {
    case ExecutorBackend::kThreads:
      return make_thread_executor(threads, name);
    case ExecutorBackend::kTbb:
      return make_tbb_executor(threads, std::move(name));
  }
  check_failed("backend", "no such executor backend");
}

}  // namespace millrace
