#include "millrace/devices/system_memory.h"

#include <sys/mman.h>

#include <algorithm>

#include "millrace/core/base/memory_left.h"

namespace millrace::devices {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

Result<SystemMemory> allocate_memory(std::size_t bytes, std::string_view what) {
  MILLRACE_TRY_STATUS(check_memory_left(what, bytes));
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kBlockAlignment;
  const std::size_t rounded =
      (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  SystemMemory memory(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
  if (memory == nullptr) return std::unexpected(no_memory(what, bytes));
  // Fewer page faults and TLB misses for large arrays; a system that has none for us is no error.
  if (alignment == kHugePage) static_cast<void>(::madvise(memory.get(), rounded, MADV_HUGEPAGE));
  return memory;
}

}  // namespace millrace::devices
