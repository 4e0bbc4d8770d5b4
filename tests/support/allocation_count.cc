#include "tests/support/allocation_count.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace millrace::testing {
namespace {

std::atomic<bool> armed{false};
std::atomic<std::int64_t> allocations{0};
std::atomic<bool (*)()> leave_out{nullptr};

}  // namespace

AllocationCount::AllocationCount(bool (*ignored)()) {
  leave_out.store(ignored);
  allocations.store(0);
  armed.store(true);
}
AllocationCount::~AllocationCount() { armed.store(false); }
std::int64_t AllocationCount::count() const { return allocations.load(); }

#if !defined(MILLRACE_SANITIZED)
namespace {

void* counted_allocate(std::size_t size, std::size_t align) {
  if (armed.load(std::memory_order_relaxed)) {  // a test arms it before its threads
    bool (*const ignored)() = leave_out.load();
    if (ignored == nullptr || !ignored()) allocations.fetch_add(1);
  }
  void* block = align <= alignof(std::max_align_t)
                    ? std::malloc(size == 0 ? 1 : size)
                    : std::aligned_alloc(align, (size + align - 1) / align * align);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace
#endif
}  // namespace millrace::testing

#if !defined(MILLRACE_SANITIZED)
void* operator new(std::size_t size) {
  return millrace::testing::counted_allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t align) {
  return millrace::testing::counted_allocate(size, static_cast<std::size_t>(align));
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
#endif
