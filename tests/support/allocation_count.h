// Counts calls of the system's allocator while armed, for tests that assert that a path allocates
// nothing. Linking allocation_count.cc into a test binary puts it before malloc and its kin, which
// operator new calls too. Under a sanitizer the pool hands every block to the system on purpose:
// ask kAllocationsCountable first.
#pragma once

#include <cstdint>
#include <string>

#include "tests/support/sanitized.h"

namespace millrace::testing {

inline constexpr bool kAllocationsCountable = !kSanitized;

// Counts the allocations of all threads for as long as it lives. One at a time.
class AllocationCount {
 public:
  // ignored: asked at each allocation, on its thread; true leaves it out (what a library does on
  // its own).
  explicit AllocationCount(bool (*ignored)() = nullptr);
  ~AllocationCount();
  AllocationCount(const AllocationCount&) = delete;
  AllocationCount& operator=(const AllocationCount&) = delete;

  std::int64_t count() const;
  // Stops counting, and gives the first places that allocated with their call stacks, for the
  // message of a test that fails; `addr2line -Cfipe <binary> <offset>...` names the functions.
  std::string stacks();
};

}  // namespace millrace::testing
