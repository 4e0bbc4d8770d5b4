#include "millrace/core/loop/event_fd.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace millrace {

Result<EventFd> EventFd::create() {
  const int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (descriptor < 0) {
    return fail(ErrorCode::kResourceExhausted,
                std::string("making an eventfd: ") + std::strerror(errno) +
                    "; close descriptors, or allow more of them (ulimit -n)");
  }
  return EventFd(descriptor);
}

// Can only fail when the count is full, and then it is readable already.
void EventFd::signal() const noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(::write(descriptor_.get(), &one, sizeof(one)));
}

bool EventFd::consume(int descriptor) noexcept {
  std::uint64_t count = 0;
  return ::read(descriptor, &count, sizeof(count)) == sizeof(count);
}

}  // namespace millrace
