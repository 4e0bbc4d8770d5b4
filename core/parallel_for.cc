#include "millrace/core/parallel_for.h"

#include <algorithm>
#include <atomic>

#include "millrace/core/executor.h"
#include "millrace/core/ref.h"

namespace millrace {
namespace {

class SerialParallel final : public Parallel {
 public:
  int width() const override { return 1; }
  void run(int parts, FunctionRef<void(int)> body) override {
    for (int i = 0; i < parts; ++i) body(i);
  }
};

// One call of run(). Kept alive by helpers that come too late, which then find no part left; body is only
// touched by whoever has taken a part, while the caller waits.
class Job final : public RefCounted, public Pooled {
 public:
  using Pooled::operator new;
  using Pooled::operator delete;

  Job(int parts, FunctionRef<void(int)> body) : parts_(parts), body_(body), left_(parts) {}

  void take_parts() {
    for (int i = next_.fetch_add(1); i < parts_; i = next_.fetch_add(1)) {
      body_(i);
      if (left_.fetch_sub(1) == 1) left_.notify_one();
    }
  }

  void wait() {
    // A part that has begun ends soon: look a while before going to sleep.
    constexpr int kLooks = 2000;
    int left = left_.load();
    for (int look = 0; left != 0 && look < kLooks; ++look) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
      left = left_.load();
    }
    for (; left != 0; left = left_.load()) left_.wait(left);
  }

 private:
  const int parts_;
  const FunctionRef<void(int)> body_;
  std::atomic<int> next_{0};
  std::atomic<int> left_;
};

class Helper final : public Work, public Pooled {
 public:
  explicit Helper(Ref<Job> job) : job_(std::move(job)) {}
  void run() noexcept override {
    job_->take_parts();
    delete this;
  }
  void drop() noexcept override { delete this; }

 private:
  Ref<Job> job_;
};

class ExecutorParallel final : public Parallel {
 public:
  ExecutorParallel(Executor& executor, int width) : executor_(executor), width_(std::max(width, 1)) {}
  int width() const override { return width_; }
  void run(int parts, FunctionRef<void(int)> body) override {
    if (parts <= 1 || width_ == 1) {
      for (int i = 0; i < parts; ++i) body(i);
      return;
    }
    auto job = make_ref<Job>(parts, body);
    for (int helpers = std::min(parts, width_) - 1; helpers > 0; --helpers) {
      executor_.submit(new Helper(job));
    }
    job->take_parts();
    job->wait();
  }

 private:
  Executor& executor_;
  const int width_;
};

}  // namespace

std::unique_ptr<Parallel> make_serial_parallel() { return std::make_unique<SerialParallel>(); }

std::unique_ptr<Parallel> make_parallel_on(Executor& executor, int width) {
  return std::make_unique<ExecutorParallel>(executor, width);
}

}  // namespace millrace
