// QueueLimit: how many requests, and how many bytes of them, may wait; refuses at once, on the
// thread that asks.
//
//  - QL-1 what was admitted and not released never exceeds either limit, also in a burst from many
//    threads; requests that go back to their queue after a failed device alone may exceed it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "millrace/core/base/mutex.h"

namespace millrace::transfer {

// Thread-safety: thread-safe.
class QueueLimit {
 public:
  struct Amount {
    std::size_t requests = 0;
    std::size_t bytes = 0;
  };
  explicit QueueLimit(const Amount& most) : most_(most) {}

  // A request alone is admitted where it is not larger than the limit.
  bool try_admit(std::size_t bytes) {
    MutexLock lock(mutex_);
    if (used_.requests >= most_.requests || bytes > most_.bytes ||
        used_.bytes > most_.bytes - bytes)
      return false;
    ++used_.requests;
    used_.bytes += bytes;
    return true;
  }
  // It was admitted before.
  void readmit(std::size_t bytes) {
    MutexLock lock(mutex_);
    ++used_.requests;
    used_.bytes += bytes;
  }
  void release(std::size_t bytes) {
    MutexLock lock(mutex_);
    --used_.requests;
    used_.bytes -= bytes;
  }
  Amount used() const {
    MutexLock lock(mutex_);
    return used_;
  }
  const Amount& most() const { return most_; }

 private:
  const Amount most_;
  mutable Mutex mutex_;
  Amount used_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::transfer
