// Memory of the system for arrays, temporaries and constants: aligned for kernels, large pieces on
// huge pages where the system gives them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "millrace/core/base/error.h"

namespace millrace::devices {

// The alignment of blocks, and of what kernels write.
inline constexpr std::size_t kBlockAlignment = 64;

struct FreeMemory {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
using SystemMemory = std::unique_ptr<std::byte[], FreeMemory>;

// Unwritten. kResourceExhausted with the bytes and with `what` they were for, where the system has
// none or a limit of the process would be reached (core/base/memory_left.h). Thread-safe.
Result<SystemMemory> allocate_memory(std::size_t bytes, std::string_view what);

}  // namespace millrace::devices
