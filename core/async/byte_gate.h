// ByteGate: admits callers while the bytes inside stay within a limit; others wait in line.
//
//  - BG-1 the bytes inside never exceed the limit.
//  - BG-2 callers enter in the order in which they came: nothing overtakes one that waits, however
//    small, so that a large one does not starve.
//  - BG-3 a caller that leaves the line takes nothing, and those behind it enter at once if they
//  fit.
#pragma once

#include <cstddef>
#include <utility>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/future.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/base/byte_budget.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/base/pool.h"
#include "millrace/core/base/ref.h"

namespace millrace {

class TimerQueue;

// States: open -> closing (close was called, bytes are inside) -> closed. Shared by its passes;
// closed before its last other reference goes. Thread-safety: thread-safe.
class ByteGate final : public RefCounted {
 public:
  // What a caller holds while its bytes are inside. Move-only. Thread-safety: external.
  class Pass {
   public:
    Pass(Pass&&) noexcept = default;
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_) gate_->leave(bytes_);
    }

   private:
    friend class ByteGate;
    Pass(Ref<ByteGate> gate, std::size_t bytes, Scope::Hold hold)
        : gate_(std::move(gate)), bytes_(bytes), hold_(std::move(hold)) {}
    Ref<ByteGate> gate_;
    std::size_t bytes_;
    Scope::Hold hold_;  // goes before gate_, which it points into
  };

  // name: for messages, "the staging pool". timers outlives the gate.
  ByteGate(std::size_t limit_bytes, std::size_t most_waiting, TimerQueue& timers, const char* name);

  // Completes on the calling thread, or on the one that makes room, stops or runs the deadline.
  // kResourceExhausted: more than the limit, or most_waiting calls wait; kCancelled: stopped, or
  // closed while it waited; kDeadlineExceeded; kUnavailable after close().
  Future<Pass> enter(std::size_t bytes, const CallOptions& options = {});
  std::size_t waiting() const;
  bool closing() const { return scope_.closing(); }
  // Refuses new calls, cancels those that wait, and completes when all bytes have left.
  Future<void> close();

 private:
  class Waiter;
  using Line = PooledDeque<Ref<Waiter>>;

  ~ByteGate() override;
  void leave(std::size_t bytes);
  void admit();

  const std::size_t most_waiting_;
  TimerQueue& timers_;
  const char* const name_;
  Scope scope_{name_};
  mutable Mutex mutex_;
  ByteBudget inside_ MILLRACE_GUARDED_BY(mutex_);
  Line line_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace
