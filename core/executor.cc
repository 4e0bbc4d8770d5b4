#include "millrace/core/executor.h"

namespace millrace {
namespace {

class InlineExecutor final : public Executor {
 public:
  void submit(Work* work) noexcept override { work->run(); }
};

}  // namespace

Executor& inline_executor() {
  static InlineExecutor instance;
  return instance;
}

SerialExecutor::~SerialExecutor() {
  // Dropping may submit more: take it in rounds.
  for (;;) {
    std::deque<Work*> rest;
    {
      MutexLock lock(mutex_);
      rest.swap(queue_);
    }
    if (rest.empty()) return;
    for (Work* work : rest) work->drop();
  }
}

void SerialExecutor::submit(Work* work) noexcept {
  MutexLock lock(mutex_);
  queue_.push_back(work);
}

bool SerialExecutor::run_one() {
  Work* work = nullptr;
  {
    MutexLock lock(mutex_);
    if (queue_.empty()) return false;
    if (shuffled_) std::swap(queue_.front(), queue_[random_() % queue_.size()]);
    work = queue_.front();
    queue_.pop_front();
  }
  work->run();
  return true;
}

std::size_t SerialExecutor::run_until_idle() {
  std::size_t ran = 0;
  while (run_one()) ++ran;
  return ran;
}

std::size_t SerialExecutor::pending() const {
  MutexLock lock(mutex_);
  return queue_.size();
}

}  // namespace millrace
