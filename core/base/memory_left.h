// What is left of the memory that the process may have (ulimit -v, ulimit -d). What Millrace takes
// in large pieces (arrays, temporaries, staging) and the begin of what libraries allocate by
// themselves leave a reserve where there is a limit: the refusal then comes to code that reports
// it, and not to a library that ends the process when it gets nothing, as oneDNN and oneTBB do.
#pragma once

#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "millrace/core/base/error.h"

namespace millrace {

// Room for what a library allocates between two looks: generated code, arenas, small objects.
inline constexpr std::size_t kReservedBytes = std::size_t{32} << 20;

// Whether the process may have so many more bytes, and kReservedBytes beyond them. Without a limit
// true, for the price of asking whether there is one. Thread-safe; says nothing of the next moment.
bool memory_left(std::size_t bytes);

// The detail of errors that no_memory makes: the process has no memory left, whatever it was doing.
struct MemoryShortage {
  std::size_t bytes = 0;  // that were asked for; 0: it is not known
};

// kResourceExhausted: what the bytes were for, as far as it is known, and what there is.
Error no_memory(std::string_view what = {}, std::size_t bytes = 0);
// The same unless memory_left(bytes).
inline Status check_memory_left(std::string_view what, std::size_t bytes = 0) {
  if (memory_left(bytes)) return {};
  return std::unexpected(no_memory(what, bytes));
}

// A std::bad_alloc that knows which: for functions that give no Result. What catches exceptions
// (detail::exception_to_error) gives its error.
class NoMemory final : public std::bad_alloc {
 public:
  explicit NoMemory(Error error) : error_(std::move(error)) {}
  const Error& error() const noexcept { return error_; }
  const char* what() const noexcept override { return error_.message().c_str(); }

 private:
  Error error_;
};

}  // namespace millrace
