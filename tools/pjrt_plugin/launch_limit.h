// LaunchLimit: how far the callers of a device may be ahead of it. One that is too far ahead waits,
// so that what waiting launches hold stays bounded.
#pragma once

#include "millrace/core/base/mutex.h"

namespace millrace::pjrt_plugin {

// Thread-safety: thread-safe.
class LaunchLimit {
 public:
  // relative to a program that is worth a queue, so many are never too few to keep a device busy
  static constexpr int kMost = 64;

  // Waits until fewer than kMost launches are under way, where may_wait.
  void begin(bool may_wait) {
    MutexLock lock(mutex_);
    while (may_wait && under_way_ >= kMost) freed_.wait(mutex_);
    ++under_way_;
  }
  void end() {
    {
      MutexLock lock(mutex_);
      if (--under_way_ >= kMost) return;
    }
    freed_.notify_one();
  }

 private:
  Mutex mutex_;
  CondVar freed_;
  int under_way_ MILLRACE_GUARDED_BY(mutex_) = 0;
};

}  // namespace millrace::pjrt_plugin
