// HandedOver: calls of a plugin that some other thread wants made: what frees. That thread only
// leaves them here; a driver thread makes them. Read next: client.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "millrace/core/clock.h"
#include "millrace/core/mutex.h"
#include "millrace/core/pool.h"

namespace millrace::devices::pjrt {

// Begun in the order in which they came; one that does not return holds up nothing but its own
// thread. Thread-safety: thread-safe.
class HandedOver {
 public:
  // How long drain() waits is told by the clock, which outlives this.
  explicit HandedOver(const Clock& clock = steady_clock()) : clock_(clock) {}
  HandedOver(const HandedOver&) = delete;
  HandedOver& operator=(const HandedOver&) = delete;
  ~HandedOver() { drain(); }

  // True: it stands alone, so somebody must see to it that drain() is called. Not for one behind
  // others: whoever added the first of them sees to it.
  template <class F>
  bool add(F call) {
    Call* const made = new Typed<F>(std::move(call));
    calls_.fetch_add(kLeft);
    Call* before = newest_.load();
    do {
      made->next = before;
    } while (!newest_.compare_exchange_weak(before, made));
    return before == nullptr;
  }
  // Makes all that came before, on this thread, or waits until other threads have made them: a
  // moment, or not at all for calls that have been waited for so long before.
  void drain() {
    if (calls_.load() != 0) [[unlikely]]
      drain_some();
  }
  bool empty() const { return calls_.load() == 0; }
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
  // Of calls_: those that nobody has begun, and those that somebody is making.
  static constexpr std::uint64_t kLeft = 1, kMaking = std::uint64_t{1} << 32;

  void drain_some();
  Call* take();
  void made_one();
  void lower_overdue();
  void wait_for_others();
  std::uint64_t making() const { return calls_.load() / kMaking; }

  static constinit thread_local const HandedOver* draining_;
  const Clock& clock_;
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<Call*> newest_{nullptr};  // of those that came since somebody took them
  // Of those in the making, that nobody waits for. How many is enough: to take one for another
  // costs that a put is not behind a free. Which they are, calls_under_way.h tells.
  std::atomic<std::uint64_t> overdue_{0};
  Mutex mutex_;
  Call* oldest_ MILLRACE_GUARDED_BY(mutex_) = nullptr;  // of those that were taken, in order
};

}  // namespace millrace::devices::pjrt
