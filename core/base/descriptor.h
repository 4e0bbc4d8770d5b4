// Descriptor: an open file descriptor with one owner.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <utility>

#include "millrace/core/base/error.h"

namespace millrace {

// That this process may have so many open: raises its soft limit where that is lower.
// kResourceExhausted: the hard one is lower, too.
Status allow_descriptors(std::uint64_t count);

// Closed at its end; empty below 0. Thread-safety: external.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.detach()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // The caller closes it.
  int detach() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace millrace
