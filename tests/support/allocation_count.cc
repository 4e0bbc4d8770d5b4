#include "tests/support/allocation_count.h"

#include <execinfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

namespace millrace::testing {
namespace {

// A place that allocates.
struct Place {
  std::array<void*, 24> frames{};
  int size = 0;
  std::int64_t times = 0;
};

std::atomic<bool> armed{false};
std::atomic<std::int64_t> allocations{0};
std::atomic<bool (*)()> leave_out{nullptr};
std::array<Place, 8> places;  // the first ones, told apart by their innermost frames
std::size_t place_count = 0;
[[maybe_unused]] std::atomic_flag places_lock;  // not where a sanitizer has malloc

}  // namespace

AllocationCount::AllocationCount(bool (*ignored)()) {
  ::backtrace(places[0].frames.data(), 1);  // the first call loads a library
  place_count = 0;
  leave_out.store(ignored);
  allocations.store(0);
  armed.store(true);
}
AllocationCount::~AllocationCount() { armed.store(false); }
std::int64_t AllocationCount::count() const { return allocations.load(); }

std::string AllocationCount::stacks() {
  armed.store(false);
  std::string text;
  for (std::size_t i = 0; i < place_count; ++i) {
    const Place& place = places[i];
    char** const lines = ::backtrace_symbols(place.frames.data(), place.size);
    text += std::to_string(place.times) + " allocations:\n";
    for (int f = 0; f < place.size && lines != nullptr; ++f) {
      text += "  " + std::string(lines[f]) + "\n";
    }
    std::free(lines);
  }
  return text;
}

#if !defined(MILLRACE_SANITIZED)
namespace {

void note_allocation() {
  if (!armed.load(std::memory_order_relaxed)) return;  // a test arms it before its threads
  bool (*const ignored)() = leave_out.load();
  if (ignored != nullptr && ignored()) return;
  allocations.fetch_add(1);
  Place place;
  place.size = ::backtrace(place.frames.data(), static_cast<int>(place.frames.size()));
  constexpr std::ptrdiff_t kInnermost = 8;
  while (places_lock.test_and_set()) {
  }
  Place* const end = places.data() + place_count;
  Place* known = std::find_if(places.data(), end, [&](const Place& other) {
    return std::equal(place.frames.begin(), place.frames.begin() + kInnermost,
                      other.frames.begin());
  });
  if (known == end && place_count < places.size()) {
    *known = place;
    ++place_count;
  }
  if (known != places.data() + places.size()) ++known->times;
  places_lock.clear();
}

}  // namespace
#endif
}  // namespace millrace::testing

#if !defined(MILLRACE_SANITIZED)
// What glibc's own malloc calls itself; its free takes blocks of either name.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t align, std::size_t size);

[[gnu::visibility("default")]] void* malloc(std::size_t size) {
  millrace::testing::note_allocation();
  return __libc_malloc(size);
}
[[gnu::visibility("default")]] void* calloc(std::size_t count, std::size_t size) {
  millrace::testing::note_allocation();
  return __libc_calloc(count, size);
}
[[gnu::visibility("default")]] void* realloc(void* block, std::size_t size) {
  millrace::testing::note_allocation();
  return __libc_realloc(block, size);
}
[[gnu::visibility("default")]] void* memalign(std::size_t align, std::size_t size) {
  millrace::testing::note_allocation();
  return __libc_memalign(align, size);
}
[[gnu::visibility("default")]] void* aligned_alloc(std::size_t align, std::size_t size) {
  return memalign(align, size);
}
[[gnu::visibility("default")]] int posix_memalign(void** block, std::size_t align,
                                                  std::size_t size) {
  *block = memalign(align, size);
  return *block == nullptr ? ENOMEM : 0;
}
}
#endif
