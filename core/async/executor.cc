#include "millrace/core/async/executor.h"

#include <string>
#include <vector>

#include "millrace/core/base/error.h"

namespace millrace {
namespace {

class InlineExecutor final : public Executor {
 public:
  void submit(Work* work) noexcept override { work->run(); }
};

}  // namespace

Error Executor::drop_error(const char* what) const {
  return Error(ErrorCode::kAborted,
               std::string("the executor of ") + what + " closed before it ran");
}

namespace detail {

void keep_for_good(const void* object) {
  struct Kept {
    Mutex mutex;
    std::vector<const void*> objects MILLRACE_GUARDED_BY(mutex);
  };
  static Kept* const kept = new Kept;  // never destroyed either
  MutexLock lock(kept->mutex);
  kept->objects.push_back(object);
}

}  // namespace detail

Executor& inline_executor() {
  static InlineExecutor instance;
  return instance;
}

Executor& brief_executor() {
  static InlineExecutor instance;
  return instance;
}

SerialExecutor::~SerialExecutor() {
  while (Work* work = take()) work->drop();  // dropping may submit more
}

void SerialExecutor::submit(Work* work) noexcept {
  MutexLock lock(mutex_);
  queue_.push_back(work);
}

Work* SerialExecutor::take() {
  MutexLock lock(mutex_);
  if (queue_.empty()) return nullptr;
  if (!shuffled_) {
    Work* const work = queue_.front();
    queue_.pop_front();
    return work;
  }
  // splitmix64 (Steele, Lea, Flood 2014): the same order from the same seed on every machine.
  std::uint64_t z = (random_state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  Work* const work = std::exchange(queue_[(z ^ (z >> 31)) % queue_.size()], queue_.back());
  queue_.pop_back();
  return work;
}

bool SerialExecutor::run_one() {
  Work* work = take();
  if (work == nullptr) return false;
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
