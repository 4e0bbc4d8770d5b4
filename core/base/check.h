// CHECK and DCHECK: a bug in Millrace prints what was expected, where, and aborts. Never for bad
// input: that is an Error. DCHECK costs nothing in release builds.
#pragma once

#include <source_location>

namespace millrace {

// Prints expression, message and place to stderr and aborts.
[[noreturn]] void check_failed(const char* expression, const char* message,
                               std::source_location where = std::source_location::current());

}  // namespace millrace

#define MILLRACE_CHECK(condition, message)           \
  do {                                               \
    if (!(condition)) [[unlikely]] {                 \
      ::millrace::check_failed(#condition, message); \
    }                                                \
  } while (false)

#if !defined(NDEBUG) || defined(MILLRACE_SANITIZED)
#define MILLRACE_DCHECK(condition, message) MILLRACE_CHECK(condition, message)
#else
#define MILLRACE_DCHECK(condition, message) \
  do {                                      \
  } while (false)
#endif
