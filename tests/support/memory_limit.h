// MemoryLimit: while it lives, the process may have only so many more bytes of addresses (ulimit
// -v).
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

#include "tests/support/sanitized.h"

namespace millrace::testing {

// A sanitizer takes terabytes of addresses for itself.
inline constexpr bool kMemoryCanBeLimited = !kSanitized;

class MemoryLimit {
 public:
  explicit MemoryLimit(std::size_t more_bytes) {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    EXPECT_GT(pages, 0U);
    EXPECT_EQ(::getrlimit(RLIMIT_AS, &before_), 0);
    struct rlimit limit = before_;
    limit.rlim_cur = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + more_bytes;
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  }
  ~MemoryLimit() { EXPECT_EQ(::setrlimit(RLIMIT_AS, &before_), 0); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  struct rlimit before_{};
};

}  // namespace millrace::testing
