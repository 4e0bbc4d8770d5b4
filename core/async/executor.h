// Executor: where and when a piece of work runs. The contract, for every backend:
//  - EX-1 submit never runs the work before it returns (InlineExecutor, by name, is the exception).
//  - EX-2 work that was submitted is consumed exactly once: run, or dropped if the executor closes
//    first (or, by the plain threads, if the process has no memory left to queue it).
//  - EX-3 submit is thread-safe, never blocks and never fails; after close it drops the work at
//    once. An executor of make_executor.h and an event loop refuse like that for as long as the
//    process runs, also once they are destroyed: a reference to one never dangles (keep_for_good).
// In return work does not throw, and does not block on a compute executor: work that may block
// (files, plugin calls, compilation) runs on a blocking executor.
// Backends: InlineExecutor and SerialExecutor (simulation) here, make_executor.h, event_loop.h, and
// completion_queue.h for loops that users own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "millrace/core/base/mutex.h"
#include "millrace/core/base/pool.h"

namespace millrace {

class CompletionQueue;
class Error;

// One piece of work. Its holder calls run() or drop(), once; either consumes the object.
class Work {
 public:
  virtual void run() noexcept = 0;
  virtual void drop() noexcept = 0;

  Work* next = nullptr;  // for the queue that holds it

 protected:
  ~Work() = default;
};

// First in, first out, linked through Work::next. Thread-safety: external.
class WorkQueue {
 public:
  bool empty() const { return head_ == nullptr; }
  const Work* front() const { return head_; }
  void push(Work* work) {
    work->next = nullptr;
    (tail_ == nullptr ? head_ : tail_->next) = work;
    tail_ = work;
  }
  // All of another queue, which is empty then.
  void append(WorkQueue& other) {
    if (other.empty()) return;
    (tail_ == nullptr ? head_ : tail_->next) = other.head_;
    tail_ = other.tail_;
    other.head_ = other.tail_ = nullptr;
  }
  // A list that is linked through Work::next.
  void push_all(Work* list) {
    while (list != nullptr) push(std::exchange(list, list->next));
  }
  // nullptr if there is none.
  Work* pop() {
    Work* work = head_;
    if (work != nullptr) {
      head_ = work->next;
      if (head_ == nullptr) tail_ = nullptr;
    }
    return work;
  }

 private:
  Work* head_ = nullptr;
  Work* tail_ = nullptr;
};

// Thread-safety: thread-safe. Outlives every reference to it (EX-3 says which do by themselves).
class Executor {
 public:
  Executor() = default;
  virtual ~Executor() = default;
  virtual void submit(Work* work) noexcept = 0;
  // The error of a future whose work was dropped. what: "a continuation". By default kAborted.
  virtual Error drop_error(const char* what) const;
  // For a thread that waits for what this executor completes: runs within this call what has come
  // for it, where that may be (EventLoop). False: nothing ran.
  virtual bool run_some() noexcept { return false; }
  // The bridge (completion_queue.h) that this executor is, which knows what waits; or nullptr.
  CompletionQueue* completion_queue() const { return completion_queue_; }

 protected:
  explicit Executor(CompletionQueue* queue) : completion_queue_(queue) {}

 private:
  CompletionQueue* const completion_queue_ = nullptr;
};

namespace detail {
// For the operator delete of objects to which bare references may stay for ever: it ends the object
// and keeps its memory, never freed, never reported as leaked. Thread-safe.
void keep_for_good(const void* object);

template <class F>
class FunctionWork final : public Work, public Pooled {
 public:
  explicit FunctionWork(F f) : f_(std::move(f)) {}
  void run() noexcept override {
    f_();
    delete this;
  }
  void drop() noexcept override { delete this; }

 private:
  F f_;
};
}  // namespace detail

// Submits a callable. If it is dropped, its captures are destroyed (a Promise then gives kAborted).
template <class F>
void post(Executor& executor, F&& f) {
  executor.submit(new detail::FunctionWork<std::decay_t<F>>(std::forward<F>(f)));
}

// Runs work inside submit, on the caller's thread. Never a default: a call names it.
Executor& inline_executor();
// The same for what is as short as a wake-up, and neither calls nor ends what is a user's: it also
// runs on threads of foreign libraries (ForeignThreadScope).
Executor& brief_executor();

// One thread, the caller's; picks the next piece of work at random from a seed (simulation) or in
// order. Work may be submitted from work; nothing runs until a run_ call. Thread-safety:
// thread-safe for submit, the run_ calls are confined to one thread.
class SerialExecutor final : public Executor {
 public:
  struct InOrder {};
  explicit SerialExecutor(InOrder) {}
  explicit SerialExecutor(std::uint64_t seed) : shuffled_(true), random_state_(seed) {}
  ~SerialExecutor() override;  // drops what was not run

  void submit(Work* work) noexcept override;
  // Runs one piece of work; false if there was none.
  bool run_one();
  // Runs until nothing is left; returns how many pieces ran.
  std::size_t run_until_idle();
  std::size_t pending() const;

 private:
  Work* take();

  mutable Mutex mutex_;
  PooledDeque<Work*> queue_ MILLRACE_GUARDED_BY(mutex_);  // shuffled: any of them is next
  const bool shuffled_ = false;
  std::uint64_t random_state_ MILLRACE_GUARDED_BY(mutex_) = 0;
};

}  // namespace millrace
