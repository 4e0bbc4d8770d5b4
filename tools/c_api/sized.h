// Structs that begin with their size: what a program passes may be shorter or longer than what this
// library knows. Shorter: what is missing is 0. Longer: a program of a later version; fine as long
// as it leaves the rest 0. Pure.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include "millrace/core/base/error.h"

namespace millrace::c_api {

// A struct_size beyond this is a variable that was not set.
inline constexpr std::size_t kMostStructBytes = 4096;

// The caller's size of the struct called name, before anything is done; least: up to the last field
// that cannot be missing. kInvalidArgument: no pointer, or a size below least.
template <class T>
Result<std::size_t> check_sized(const T* given, std::size_t least, const char* name) {
  static_assert(std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>);
  static_assert(offsetof(T, struct_size) == 0);
  if (given == nullptr) {
    return fail(ErrorCode::kInvalidArgument, std::string("the pointer to a ") + name + " is NULL");
  }
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size >= least && size <= kMostStructBytes) return size;
  return fail(ErrorCode::kInvalidArgument,
              std::string(name) + ".struct_size is " + std::to_string(size) + ", but " +
                  (size < least ? "at least " + std::to_string(least) + " bytes are needed"
                                : "no such struct has that many bytes") +
                  ": set it to sizeof(" + name + ")");
}

// A copy of what the caller passes in, with the errors of check_sized; kUnimplemented: it sets what
// this version does not know.
template <class T>
Result<T> read_sized(const T* given, std::size_t least, const char* name) {
  MILLRACE_TRY(const std::size_t size, check_sized(given, least, name));
  T known{};
  std::memcpy(&known, given, size < sizeof(T) ? size : sizeof(T));
  known.struct_size = sizeof(T);
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] == 0) continue;
    return fail(ErrorCode::kUnimplemented,
                std::string(name) + " sets something at byte " + std::to_string(i) +
                    ", but this library knows only " + std::to_string(sizeof(T)) +
                    " bytes of it: the program was made for a newer one");
  }
  return known;
}

// Writes as much of value as the caller has room for, after check_sized; what the caller has beyond
// that becomes 0. The caller's struct_size stays.
template <class T>
void write_sized(T* given, const T& value) {
  const std::size_t size = given->struct_size;
  const std::size_t common = size < sizeof(T) ? size : sizeof(T);
  auto* bytes = reinterpret_cast<unsigned char*>(given);
  std::memcpy(bytes + sizeof size, reinterpret_cast<const unsigned char*>(&value) + sizeof size,
              common - sizeof size);
  std::memset(bytes + common, 0, size - common);
}

}  // namespace millrace::c_api
