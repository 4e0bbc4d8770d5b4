// EventFd: a descriptor that one thread makes readable and another waits for.
#pragma once

#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/error.h"

namespace millrace {

// Owns an eventfd, non-blocking and closed on exec. Thread-safety: thread-safe.
class EventFd {
 public:
  // kResourceExhausted: the process has no descriptors left.
  static Result<EventFd> create();

  int descriptor() const { return descriptor_.get(); }
  void signal() const noexcept;
  // Not readable any more, until the next signal. False: it was not.
  bool consume() const noexcept { return consume(descriptor_.get()); }
  static bool consume(int descriptor) noexcept;
  // Owns nothing any more: the descriptor stays open for as long as the process lives.
  void leave_open() noexcept { descriptor_.detach(); }

 private:
  explicit EventFd(int descriptor) : descriptor_(descriptor) {}
  Descriptor descriptor_;
};

}  // namespace millrace
