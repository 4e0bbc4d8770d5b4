// The oneTBB backend of PoolExecutor: an arena of its own on oneTBB's shared workers.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "millrace/core/base/memory_left.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/base/start_thread.h"
#include "millrace/core/exec/make_executor.h"

namespace millrace {
namespace {

namespace tbb = oneapi::tbb;

// oneTBB shares its workers among all arenas, one per core less one by default, so that programs of
// two devices would take turns on two cores. Every executor brings the workers that it promises.
class WorkerShare {
 public:
  WorkerShare(int threads, const std::string& name) : threads_(threads) {
    check_started(name);
    change(threads);
  }
  ~WorkerShare() { change(-threads_); }
  WorkerShare(const WorkerShare&) = delete;
  WorkerShare& operator=(const WorkerShare&) = delete;

 private:
  static int workers_for(int threads) {
    return std::max(threads, tbb::info::default_concurrency() - 1);
  }

  struct Budget {
    Mutex mutex;
    int threads MILLRACE_GUARDED_BY(mutex) = 0;
    std::unique_ptr<tbb::global_control> control MILLRACE_GUARDED_BY(mutex);
    int checked MILLRACE_GUARDED_BY(mutex) = 0;  // so many did start, once
  };
  static Budget& budget() {
    static Budget* const instance = new Budget;  // outlives executors of static lifetime
    return *instance;
  }

  // oneTBB starts a worker when there is work for it, and on a worker: a refusal there ends the
  // process. So they are tried now, all that may be running at once.
  void check_started(const std::string& name) const {
    MutexLock lock(budget().mutex);
    const int wanted = workers_for(budget().threads + threads_);
    if (wanted <= budget().checked) return;
    check_threads_start(wanted, name);
    budget().checked = wanted;
  }

  static void change(int threads) {
    MutexLock lock(budget().mutex);
    budget().threads += threads;
    // The smallest of the process's controls counts. So ours never asks for less than oneTBB has by
    // itself, for others in the process, and none stays when the executors are gone.
    std::unique_ptr<tbb::global_control> control;
    if (budget().threads > 0) {
      // And the main thread, which oneTBB counts although ours only waits.
      const auto limit = static_cast<std::size_t>(workers_for(budget().threads)) + 1;
      control = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                      limit);
    }
    std::swap(control, budget().control);  // the new one is there before the old one goes
  }

  const int threads_;
};

class TbbExecutor final : public PoolExecutor {
 public:
  TbbExecutor(int threads, const std::string& name)
      : PoolExecutor(threads), threads_there_(std::in_place, threads, name), name_(name) {
    // Now, where it can be reported: oneTBB ends the process where it gets no memory.
    if (!memory_left(0)) throw NoMemory(no_memory("the threads " + name_));
    threads_there_->arena.initialize();
  }

 private:
  struct Threads {
    Threads(int threads, const std::string& name) : share(threads, name), arena(threads, 0) {}
    const WorkerShare share;  // before the arena, which asks for its workers when it is made
    tbb::task_arena arena;
  };

  void enqueue(Work* work) noexcept override {
    threads_there_->arena.enqueue([this, work] {
      // Workers move between arenas, so that one may have the name of another executor.
      if (std::exchange(named_by_, number_) != number_) set_thread_name(name_);
      consume(work);
    });
  }
  void end_threads() override { threads_there_.reset(); }

  static thread_local std::uint64_t named_by_;
  static inline std::atomic<std::uint64_t> executors_made_{0};

  std::optional<Threads> threads_there_;
  const std::string name_;
  const std::uint64_t number_ = executors_made_.fetch_add(1) + 1;
};

thread_local std::uint64_t TbbExecutor::named_by_ = 0;

}  // namespace

std::unique_ptr<PoolExecutor> detail::make_tbb_executor(int threads, const std::string& name) {
  return std::make_unique<TbbExecutor>(threads, name);
}

}  // namespace millrace
