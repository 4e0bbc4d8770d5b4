// ByteCredits: how many bytes may be under way at once. First come, first served, so that nothing
// large starves; a request above the limit gets it all, alone. Read next: engine.h.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

#include "millrace/core/call_options.h"
#include "millrace/core/future.h"
#include "millrace/core/mutex.h"
#include "millrace/core/timer_queue.h"
#include "millrace/transfer/pending_call.h"

namespace millrace::transfer {

// Shared by its credits. Thread-safety: thread-safe.
class ByteCredits final : public RefCounted {
 public:
  // Given back when it goes. Move-only. Thread-safety: external.
  class Credit {
   public:
    Credit() = default;
    Credit(Credit&&) noexcept = default;
    Credit& operator=(Credit&& other) noexcept {
      reset();
      owner_ = std::exchange(other.owner_, {});
      bytes_ = other.bytes_;
      return *this;
    }
    ~Credit() { reset(); }
    void reset() {
      if (owner_) std::exchange(owner_, {})->give_back(bytes_);
    }

   private:
    friend class ByteCredits;
    Credit(Ref<ByteCredits> owner, std::size_t bytes) : owner_(std::move(owner)), bytes_(bytes) {}
    Ref<ByteCredits> owner_;
    std::size_t bytes_ = 0;
  };

  ByteCredits(std::size_t limit_bytes, TimerQueue& timers) : limit_(limit_bytes), timers_(timers) {}

  // Completes on the calling thread, or on the one that gives credits back. kCancelled,
  // kDeadlineExceeded: who gives up loses only its place.
  Future<Credit> acquire(std::size_t bytes, const CallOptions& options = {});
  std::size_t in_use() const;
  std::size_t peak() const;

 private:
  struct Waiter {
    Ref<PendingCall<Credit>> call;
    std::size_t bytes;
  };

  ~ByteCredits() override = default;
  bool fits(std::size_t bytes) const MILLRACE_REQUIRES(mutex_) {
    return in_use_ == 0 || in_use_ + bytes <= limit_;
  }
  void take(std::size_t bytes) MILLRACE_REQUIRES(mutex_);
  void give_back(std::size_t bytes);
  void serve();

  const std::size_t limit_;
  TimerQueue& timers_;
  mutable Mutex mutex_;
  std::size_t in_use_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::size_t peak_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::deque<Waiter> waiters_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::transfer
