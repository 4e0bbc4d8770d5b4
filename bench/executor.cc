// executor.*: the pool of threads that runs what may block (core/exec/executor_threads.cc), beside
// the same threads around a list under one mutex. wake: from submitting to an idle thread until the
// work has run. rate: four threads submit to two.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "bench/figure.h"
#include "millrace/core/exec/make_executor.h"

namespace millrace::bench {
namespace {

constexpr int kWakes = 2000;
constexpr int kProducers = 4;
constexpr int kConsumers = 2;
constexpr int kEach = 50000;

class Count final : public Work {
 public:
  explicit Count(std::atomic<int>& done) : done_(&done) {}
  void run() noexcept override { ++*done_; }
  void drop() noexcept override { give_up("executor", "work was dropped"); }

 private:
  std::atomic<int>* done_;
};

class ListUnderMutex final : public Executor {
 public:
  explicit ListUnderMutex(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~ListUnderMutex() override {
    for (std::size_t i = 0; i < threads_.size(); ++i) submit(nullptr);
    for (std::thread& thread : threads_) thread.join();
  }
  void submit(Work* work) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(work);
    }
    come_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      come_.wait(lock, [this] { return !queue_.empty(); });
      Work* const work = queue_.front();
      queue_.pop_front();
      lock.unlock();
      if (work == nullptr) return;
      work->run();
    }
  }

  std::mutex mutex_;
  std::condition_variable come_;
  std::deque<Work*> queue_;
  std::vector<std::thread> threads_;
};

std::unique_ptr<PoolExecutor> ours(int threads) {
  return make_executor(ExecutorBackend::kThreads, threads, "bench");
}

double wake_us(Executor& executor) {
  std::atomic<int> done{0};
  std::vector<Count> works(kWakes, Count(done));
  return seconds_of([&] {
           for (int i = 0; i < kWakes; ++i) {
             executor.submit(&works[static_cast<std::size_t>(i)]);
             while (done == i) std::this_thread::yield();
           }
         }) *
         1e6 / kWakes;
}

// Millions a second.
double rate(Executor& executor) {
  std::atomic<int> done{0};
  std::vector<std::vector<Count>> works(kProducers, std::vector<Count>(kEach, Count(done)));
  const double seconds = seconds_of([&] {
    std::vector<std::thread> producers;
    for (std::vector<Count>& own : works) {
      producers.emplace_back([&] {
        for (Count& work : own) executor.submit(&work);
      });
    }
    for (std::thread& producer : producers) producer.join();
    while (done < kProducers * kEach) std::this_thread::yield();
  });
  return 1e-6 * kProducers * kEach / seconds;
}

void measure(Session& session) {
  session.measure(
      {.name = "executor.wake",
       .unit = "us",
       .peer = "a list under a mutex",
       .goal = Goal::kAtMost,
       .limit = 1.3},
      [] { return wake_us(*ours(1)); },
      [] {
        ListUnderMutex list(1);
        return wake_us(list);
      });
  session.measure(
      {.name = "executor.rate",
       .unit = "M/s",
       .peer = "a list under a mutex",
       .goal = Goal::kAtLeast,
       .limit = 0.8},
      [] { return rate(*ours(kConsumers)); },
      [] {
        ListUnderMutex list(kConsumers);
        return rate(list);
      });
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
