#include "millrace/core/async/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "millrace/core/async/executor.h"
#include "millrace/core/async/parallel_over.h"
#include "millrace/core/base/pause.h"
#include "millrace/core/base/ref.h"

namespace millrace {
namespace {

// One call of run(). Kept alive by helpers that come too late, which then find no part left; body
// is only touched by threads that have taken a part, while the caller waits.
class Job final : public RefCounted, public Pooled {
 public:
  Job(int parts, int takers, FunctionRef<void(int)> body)
      : parts_(parts), blocks_(std::min(takers, kMaxBlocks)), body_(body), left_(parts) {
    for (int b = 0; b < blocks_; ++b) next_[b].store(first(b));
  }

  // Each taker starts with a block of neighbouring parts, the same one in every run: what an
  // earlier kernel left of these parts is still in its core's cache. Then it takes what is left of
  // the other blocks.
  void take_parts(int taker) {
    for (int k = 0; k < blocks_; ++k) {
      const int block = (taker + k) % blocks_;
      const int end = first(block + 1);
      for (int i = next_[block].fetch_add(1); i < end; i = next_[block].fetch_add(1)) {
        body_(i);
        if (left_.fetch_sub(1) == 1) left_.notify_one();
      }
    }
  }

  void wait() {
    // A part that has begun ends soon: look a while before going to sleep.
    constexpr int kLooks = 2000;
    int left = left_.load();
    for (int look = 0; left != 0 && look < kLooks; ++look) {
      pause_core();
      left = left_.load();
    }
    for (; left != 0; left = left_.load()) left_.wait(left);
  }

 private:
  static constexpr int kMaxBlocks = 16;

  int first(int block) const {
    return static_cast<int>(static_cast<std::int64_t>(parts_) * block / blocks_);
  }

  const int parts_;
  const int blocks_;
  const FunctionRef<void(int)> body_;
  std::atomic<int> next_[kMaxBlocks];
  std::atomic<int> left_;
};

class ExecutorParallel final : public Parallel {
 public:
  // One entry per thread, of the executor that it belongs to; the first is the caller.
  explicit ExecutorParallel(std::vector<Executor*> threads) : threads_(std::move(threads)) {}
  int width() const override { return static_cast<int>(threads_.size()); }
  void run(int parts, FunctionRef<void(int)> body) override {
    if (parts <= 1 || width() == 1) {
      for (int i = 0; i < parts; ++i) body(i);
      return;
    }
    const int takers = std::min(parts, width());
    auto job = make_ref<Job>(parts, takers, body);
    int helper = 1;
    while (helper < takers && ask_for(job, helper)) ++helper;
    job->take_parts(0);
    job->wait();
  }

 private:
  // False: there is no memory for one more, and fewer take part.
  bool ask_for(const Ref<Job>& job, int helper) {
    try {
      post(*threads_[static_cast<std::size_t>(helper)], [job, helper] { job->take_parts(helper); });
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  const std::vector<Executor*> threads_;
};

}  // namespace

std::unique_ptr<Parallel> make_serial_parallel() { return make_parallel_on(inline_executor(), 1); }

std::unique_ptr<Parallel> make_parallel_on(Executor& executor, int width) {
  const ParallelShare share{.executor = &executor, .width = width};
  return make_parallel_over({&share, 1});
}

std::unique_ptr<Parallel> make_parallel_over(std::span<const ParallelShare> shares) {
  std::vector<Executor*> threads;
  int most = 1;
  for (const ParallelShare& share : shares) most = std::max(most, share.width);
  for (int round = 0; round < most; ++round) {
    for (const ParallelShare& share : shares) {
      if (round < std::max(share.width, 1)) threads.push_back(share.executor);
    }
  }
  return std::make_unique<ExecutorParallel>(std::move(threads));
}

}  // namespace millrace
