// HandedOver: calls of a plugin that some other thread wants made: what frees, and what waits for
// an event. That thread only leaves them here; a driver thread makes them. Read next: client.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "millrace/core/mutex.h"
#include "millrace/core/pool.h"

namespace millrace::devices::pjrt {

// Made in the order in which they came. Thread-safety: thread-safe.
class HandedOver {
 public:
  HandedOver() = default;
  HandedOver(const HandedOver&) = delete;
  HandedOver& operator=(const HandedOver&) = delete;
  ~HandedOver() { drain(); }

  // True: it stands alone, so somebody must see to it that drain() is called. Not for one behind
  // others: whoever added the first of them sees to it.
  template <class F>
  bool add(F call) {
    Call* const made = new Typed<F>(std::move(call));
    waiting_.fetch_add(1);
    Call* before = newest_.load();
    do {
      made->next = before;
    } while (!newest_.compare_exchange_weak(before, made));
    return before == nullptr;
  }
  // Makes all that came before, on this thread, or waits until another thread has made them.
  void drain();
  bool empty() const { return waiting_.load() == 0; }
  // This thread is in drain().
  bool draining_here() const { return draining_ == this; }

 private:
  struct Call : Pooled {
    Call* next = nullptr;
    virtual ~Call() = default;
    virtual void make() = 0;
  };
  template <class F>
  struct Typed final : Call {
    explicit Typed(F f) : function(std::move(f)) {}
    void make() override { function(); }
    F function;
  };

  static thread_local const HandedOver* draining_;
  std::atomic<std::size_t> waiting_{0};  // not made yet
  std::atomic<Call*> newest_{nullptr};
  Mutex mutex_;  // of who makes them: one batch after the other
};

}  // namespace millrace::devices::pjrt
