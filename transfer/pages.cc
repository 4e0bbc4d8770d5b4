#include "millrace/transfer/pages.h"

#include <sys/mman.h>

#include <cstdint>

#include "millrace/core/base/check.h"
#include "millrace/core/base/memory_left.h"

#if defined(__SANITIZE_ADDRESS__)
#define MILLRACE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MILLRACE_ASAN 1
#endif
#endif
#if defined(MILLRACE_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace millrace::transfer {
namespace {

std::byte* map(std::size_t bytes) {
  if (!memory_left(bytes)) return nullptr;
  void* address =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return address == MAP_FAILED ? nullptr : static_cast<std::byte*>(address);
}

void unmap(std::byte* pages, std::size_t bytes) {
  if (bytes > 0) MILLRACE_CHECK(::munmap(pages, bytes) == 0, "pages that were mapped");
}

}  // namespace

std::byte* map_pages(std::size_t bytes) {
  MILLRACE_DCHECK(bytes > 0 && bytes % kPageBytes == 0, "whole pages");
  if (bytes < kHugePageBytes) return map(bytes);
  // A mapping starts at any page: take more, and unmap what lies around the aligned part.
  std::byte* start = map(bytes + kHugePageBytes);
  if (start == nullptr) return nullptr;
  const std::size_t before =
      (kHugePageBytes - reinterpret_cast<std::uintptr_t>(start) % kHugePageBytes) % kHugePageBytes;
  unmap(start, before);
  unmap(start + before + bytes, kHugePageBytes - before);
  ::madvise(start + before, bytes, MADV_HUGEPAGE);  // a wish: kernels without huge pages refuse it
  return start + before;
}

void unmap_pages(std::byte* pages, std::size_t bytes) {
  unguard_pages(pages, bytes);
  unmap(pages, bytes);
}

#if defined(MILLRACE_ASAN)
void guard_pages(std::byte* pages, std::size_t bytes) { __asan_poison_memory_region(pages, bytes); }
void unguard_pages(std::byte* pages, std::size_t bytes) {
  __asan_unpoison_memory_region(pages, bytes);
}
#else
void guard_pages(std::byte*, std::size_t) {}
void unguard_pages(std::byte*, std::size_t) {}
#endif

}  // namespace millrace::transfer
