#include "millrace/core/executor_tbb.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "millrace/core/blocking.h"
#include "millrace/core/check.h"
#include "millrace/core/mutex.h"
#include "millrace/core/start_thread.h"
#include "millrace/core/thread_name.h"

namespace millrace {
namespace {

namespace tbb = oneapi::tbb;

// oneTBB shares its workers among all arenas, one per core less one by default, so that programs of
// two devices would run one after the other on two cores. Every executor brings the workers that it
// promises.
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
    const int wanted = budget().threads + threads_;
    if (wanted <= budget().checked) return;
    check_threads_start(wanted, name);
    budget().checked = wanted;
  }

  static void change(int threads) {
    MutexLock lock(budget().mutex);
    budget().threads += threads;
    // And the main thread, which oneTBB counts although ours only waits.
    const auto limit = static_cast<std::size_t>(budget().threads) + 1;
    // The smallest of all controls counts: the new one is made before the old one goes.
    auto control =
        std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, limit);
    std::swap(control, budget().control);
  }

  const int threads_;
};

class TbbExecutor final : public PoolExecutor {
 public:
  TbbExecutor(int threads, std::string name)
      : threads_(threads),
        share_(threads, name),
        arena_(threads, 0),
        name_(std::move(name)),
        parallel_(make_parallel_on(*this, threads)) {}

  ~TbbExecutor() override {
    MILLRACE_CHECK(!on_own_thread(), "an executor is not destroyed on one of its own threads");
    wait_blocking(*close().cell());
  }

  int threads() const override { return threads_; }
  Parallel& parallel() override { return *parallel_; }

  void submit(Work* work) noexcept override {
    if ((state_.fetch_add(kOne) & kClosing) != 0) {
      work->drop();
      leave();
      return;
    }
    arena_.enqueue([this, work] {
      current_ = this;
      name_thread();
      if ((state_.load() & kClosing) != 0) {
        work->drop();
      } else {
        work->run();
      }
      current_ = nullptr;
      leave();
    });
  }

  Future<void> close() override {
    Future<void> closed = closed_;
    state_.fetch_add(kOne);  // the promise is not completed while we are here
    state_.fetch_or(kClosing);
    leave();
    return closed;
  }

 private:
  // Bit 0: closing. Above it: the work that was submitted and is not consumed yet.
  static constexpr std::uint64_t kClosing = 1;
  static constexpr std::uint64_t kOne = 2;

  bool on_own_thread() const { return current_ == this; }

  // Workers move between arenas, so that one may have the name of another executor.
  void name_thread() const {
    if (std::exchange(named_by_, number_) != number_) set_thread_name(name_);
  }

  void leave() {
    // Only a closing executor reaches exactly kClosing; late submits may pass it again, once is
    // enough.
    if (state_.fetch_sub(kOne) == kClosing + kOne && !completed_.exchange(true)) {
      Promise<void> promise = std::move(promise_);  // a waiter may destroy this
      promise.set_value();
    }
  }

  static thread_local const TbbExecutor* current_;
  static thread_local std::uint64_t named_by_;
  static inline std::atomic<std::uint64_t> executors_made_{0};

  const int threads_;
  std::atomic<std::uint64_t> state_{0};
  std::atomic<bool> completed_{false};
  Promise<void> promise_;
  const Future<void> closed_ = promise_.future();
  const WorkerShare share_;  // before the arena, which asks for its workers when it is made
  tbb::task_arena arena_;
  const std::string name_;
  const std::uint64_t number_ = executors_made_.fetch_add(1) + 1;
  std::unique_ptr<Parallel> parallel_;
};

thread_local const TbbExecutor* TbbExecutor::current_ = nullptr;
thread_local std::uint64_t TbbExecutor::named_by_ = 0;

}  // namespace

std::unique_ptr<PoolExecutor> make_tbb_executor(int threads, std::string name) {
  return std::make_unique<TbbExecutor>(threads, std::move(name));
}

}  // namespace millrace
