// BatchDevices: which devices of a Batcher have failed, and why. Its actor writes, its handles
// read. Internal to batcher.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/core/base/mutex.h"

namespace millrace::transfer {

// Thread-safety: thread-safe.
class BatchDevices {
 public:
  explicit BatchDevices(std::size_t count) : failures_(count) {}

  // The first reason counts.
  void fail(std::size_t device, const Error& reason) MILLRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (!failures_[device]) failures_[device] = reason;
  }
  std::vector<std::optional<Error>> failures() const MILLRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return failures_;
  }
  std::size_t alive() const MILLRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return static_cast<std::size_t>(
        std::ranges::count_if(failures_, [](const auto& failure) { return !failure; }));
  }

 private:
  mutable Mutex mutex_;
  std::vector<std::optional<Error>> failures_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::transfer
