#include "millrace/core/executor_threads.h"

#include <thread>
#include <vector>

#include "millrace/core/check.h"
#include "millrace/core/start_thread.h"

namespace millrace {
namespace {

class ThreadExecutor final : public PoolExecutor {
 public:
  ThreadExecutor(int threads, const std::string& name)
      : threads_(threads), running_(threads), parallel_(make_parallel_on(*this, threads)) {
    workers_.reserve(static_cast<std::size_t>(threads));
    try {
      for (int i = 0; i < threads; ++i)
        workers_.push_back(start_thread(name + "-" + std::to_string(i), [this] { work(); }));
    } catch (...) {
      static_cast<void>(close());
      join();
      throw;
    }
  }

  ~ThreadExecutor() override {
    static_cast<void>(close());
    join();
  }

  int threads() const override { return threads_; }
  Parallel& parallel() override { return *parallel_; }

  void submit(Work* work) noexcept override {
    bool wake = false;
    {
      MutexLock lock(mutex_);
      if (!closing_) {
        queue_.push(work);
        work = nullptr;
        // Who was woken for earlier work may take this, too; but nobody is woken twice.
        wake = idle_ > woken_;
        if (wake) ++woken_;
      }
    }
    if (work != nullptr) return work->drop();
    if (wake) changed_.notify_one();  // outside of the lock, which it would wait for
  }

  Future<void> close() override {
    WorkQueue dropped;
    {
      MutexLock lock(mutex_);
      closing_ = true;
      std::swap(dropped, queue_);
      changed_.notify_all();
    }
    while (Work* work = dropped.pop()) work->drop();
    return closed_;
  }

 private:
  void join() {
    for (std::thread& worker : workers_) {
      MILLRACE_CHECK(worker.get_id() != std::this_thread::get_id(),
                     "an executor is not destroyed on one of its own threads");
      worker.join();
    }
  }

  void work() {
    while (Work* next = wait_for_work()) next->run();
    if (last_to_leave()) promise_.set_value();
  }

  // nullptr: the executor closes.
  Work* wait_for_work() {
    MutexLock lock(mutex_);
    for (;;) {
      if (Work* next = queue_.pop()) return next;
      if (closing_) return nullptr;
      ++idle_;
      changed_.wait(mutex_);
      --idle_;
      if (woken_ > 0) --woken_;
    }
  }

  bool last_to_leave() {
    MutexLock lock(mutex_);
    return --running_ == 0;
  }

  const int threads_;
  Mutex mutex_;
  CondVar changed_;
  WorkQueue queue_ MILLRACE_GUARDED_BY(mutex_);
  int idle_ MILLRACE_GUARDED_BY(mutex_) = 0;
  int woken_ MILLRACE_GUARDED_BY(mutex_) = 0;  // of those: a notification is on its way to them
  int running_ MILLRACE_GUARDED_BY(mutex_);
  bool closing_ MILLRACE_GUARDED_BY(mutex_) = false;
  Promise<void> promise_;  // of the last thread to leave
  const Future<void> closed_ = promise_.future();
  std::unique_ptr<Parallel> parallel_;
  std::vector<std::thread> workers_;
};

}  // namespace

std::unique_ptr<PoolExecutor> make_thread_executor(int threads, const std::string& name) {
  return std::make_unique<ThreadExecutor>(threads, name);
}

}  // namespace millrace
