// ByteBudget: how many bytes of a limit are in use, and how many were at most. Pure: it neither
// waits nor locks. Users: ByteGate (waits in line), StagingLedger, LoaderSchedule.
#pragma once

#include <algorithm>
#include <cstddef>

#include "millrace/core/base/check.h"

namespace millrace {

// Thread-safety: external.
class ByteBudget {
 public:
  explicit ByteBudget(std::size_t limit) : limit_(limit) {}

  std::size_t limit() const { return limit_; }
  std::size_t used() const { return used_; }
  std::size_t peak() const { return peak_; }
  std::size_t left() const { return limit_ - used_; }
  bool fits(std::size_t bytes) const { return bytes <= left(); }
  // CHECKed: they fit.
  void take(std::size_t bytes) {
    MILLRACE_CHECK(fits(bytes), "bytes are taken of a budget only where they fit");
    used_ += bytes;
    peak_ = std::max(peak_, used_);
  }
  // CHECKed: they were taken.
  void release(std::size_t bytes) {
    MILLRACE_CHECK(bytes <= used_, "no more bytes are released than were taken");
    used_ -= bytes;
  }

 private:
  std::size_t limit_;
  std::size_t used_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace millrace
