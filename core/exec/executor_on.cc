// The backend of PoolExecutor that has no threads: what it is given waits here, and for each piece
// a turn waits in the other executor. So its close finds what has not begun.
#include <memory>

#include "millrace/core/base/mutex.h"
#include "millrace/core/base/pool.h"
#include "millrace/core/exec/pool_executor.h"

namespace millrace {
namespace {

class ExecutorOn final : public PoolExecutor {
 public:
  ExecutorOn(Executor& other, int threads)
      : PoolExecutor(threads, dynamic_cast<const PoolExecutor*>(&other)), other_(other) {}

 private:
  // It may come after the end of this executor, whose memory stays for good, and whose queue is
  // empty then.
  class Turn final : public Work, public Pooled {
   public:
    explicit Turn(ExecutorOn& on) : on_(on) {}
    void run() noexcept override {
      if (Work* const work = on_.take(); work != nullptr) on_.consume(work);
      delete this;
    }
    void drop() noexcept override {
      if (Work* const work = on_.take(); work != nullptr) on_.drop(work);
      delete this;
    }

   private:
    ExecutorOn& on_;
  };

  void enqueue(Work* work) noexcept override {
    {
      MutexLock lock(mutex_);
      queue_.push(work);
    }
    other_.submit(new Turn(*this));
  }
  void drop_queued() override {
    while (Work* const work = take()) drop(work);
  }
  void end_threads() override {}

  Work* take() {
    MutexLock lock(mutex_);
    return queue_.pop();
  }

  Executor& other_;
  Mutex mutex_;
  WorkQueue queue_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<PoolExecutor> make_executor_on(Executor& other, int threads) {
  return std::make_unique<ExecutorOn>(other, threads);
}

}  // namespace millrace
