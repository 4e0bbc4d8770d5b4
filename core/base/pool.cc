// Free blocks are kept as lists of pointers, of each thread and of a depot for all: to hand a block
// from the thread that frees it to one that allocates it touches no byte of it, so that no core
// waits for another core's cache before the block is written.
#include "millrace/core/base/pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <utility>

#include "millrace/core/base/mutex.h"

namespace millrace {

#if defined(MILLRACE_SANITIZED)

// A sanitizer must see every allocation as its own.
void* pool_allocate(std::size_t size) { return ::operator new(size); }
void pool_free(void* block, std::size_t /*size*/) noexcept { ::operator delete(block); }

#else

namespace {

constexpr std::size_t kStep = 64;
constexpr std::size_t kSmallClasses = 16;  // 64, 128, ... 1024 bytes
constexpr std::size_t kClasses = 22;       // and 2, 4, ... 64 KiB: lists of hundreds of arguments

// kClasses: too large. Not SizeClasses: small sizes need one shift and no clz, and half the lists.
constexpr std::size_t class_of(std::size_t size) {
  if (size <= kStep * kSmallClasses) return (size + kStep - 1) / kStep - 1;
  const auto c = static_cast<std::size_t>(std::bit_width(size - 1)) + 5;
  return c < kClasses ? c : kClasses;
}

constexpr std::size_t bytes_of(std::size_t c) {
  return c < kSmallClasses ? (c + 1) * kStep : std::size_t{1} << (c - 5);
}
static_assert(class_of(1024) == 15 && class_of(1025) == 16 && bytes_of(16) == 2048);
static_assert(class_of(65536) == 21 && bytes_of(21) == 65536 && class_of(65537) == kClasses);

// A thread keeps at most this many blocks of a class, and trades half of them with the depot at a
// time, so that a producer and a consumer thread meet there rarely.
constexpr std::size_t kThreadBlocks = 64;
constexpr std::size_t thread_blocks(std::size_t c) { return c < kSmallClasses ? kThreadBlocks : 8; }
// Blocks that the system is asked for at once: without a header each; none shares a cache line.
constexpr std::size_t slab_blocks(std::size_t c) { return c < kSmallClasses ? 8 : 1; }

// Blocks of one class that no thread keeps. Thread-safe.
class DepotList {
 public:
  // Up to count blocks to `to`; how many.
  std::size_t take(void** to, std::size_t count) {
    MutexLock lock(mutex_);
    const std::size_t taken = std::min(count, count_);
    count_ -= taken;
    std::copy_n(blocks_ + count_, taken, to);
    return taken;
  }
  void give(void* const* from, std::size_t count) noexcept {
    MutexLock lock(mutex_);
    std::copy_n(from, count, blocks_ + count_);
    count_ += count;
  }
  // So many more blocks exist. There is room for all of them now: give() asks for no memory.
  void grow(std::size_t made) {
    MutexLock lock(mutex_);
    made_ += made;
    if (made_ <= room_) return;
    const std::size_t room = std::max(2 * room_, made_ + kThreadBlocks);
    auto* const blocks = static_cast<void**>(::operator new(room * sizeof(void*)));
    std::copy_n(blocks_, count_, blocks);
    ::operator delete(std::exchange(blocks_, blocks));
    room_ = room;
  }

 private:
  Mutex mutex_;
  void** blocks_ MILLRACE_GUARDED_BY(mutex_) = nullptr;
  std::size_t count_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::size_t room_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::size_t made_ MILLRACE_GUARDED_BY(mutex_) = 0;
};

// Never destroyed: objects of static lifetime may be freed after main.
DepotList& depot(std::size_t c) {
  static auto* const lists = new std::array<DepotList, kClasses>;
  return (*lists)[c];
}

struct ThreadList {
  std::size_t count = 0;
  std::size_t limit = 0;  // 0: the thread has not begun to keep blocks, or has ended
  std::array<void*, kThreadBlocks> blocks{};
};

// Without a destructor, so that its use asks nothing first: a list without blocks or without room
// is where the rest is asked (may_keep).
struct ThreadCache {
  std::array<ThreadList, kClasses> lists;
  bool ended = false;
};
constinit thread_local ThreadCache cache;

struct ThreadEnd {
  ThreadEnd() {
    for (std::size_t c = 0; c < kClasses; ++c) cache.lists[c].limit = thread_blocks(c);
  }
  ~ThreadEnd() {
    cache.ended = true;
    for (std::size_t c = 0; c < kClasses; ++c) {
      ThreadList& list = cache.lists[c];
      depot(c).give(list.blocks.data(), std::exchange(list.count, 0));
      list.limit = 0;
    }
  }
};

// False on a thread that ends: objects may be freed after its lists are gone.
bool may_keep() {
  if (cache.ended) return false;
  thread_local const ThreadEnd end;
  static_cast<void>(&end);
  return true;
}

// Takes memory of the system; all blocks but one go to `rest`, which has room for a slab.
void* make_blocks(std::size_t c, void** rest, std::size_t& count) {
  const std::size_t made = slab_blocks(c);
  depot(c).grow(made);
  auto* const slab =
      static_cast<std::byte*>(::operator new(made * bytes_of(c), std::align_val_t(kStep)));
  for (std::size_t i = 1; i < made; ++i) rest[count++] = slab + i * bytes_of(c);
  return slab;
}

// On a thread that ends.
void* allocate_without_cache(std::size_t c) {
  void* block = nullptr;
  if (depot(c).take(&block, 1) == 1) return block;
  std::array<void*, slab_blocks(0)> rest;
  std::size_t count = 0;
  block = make_blocks(c, rest.data(), count);
  depot(c).give(rest.data(), count);
  return block;
}

[[gnu::noinline]] void* allocate_slowly(std::size_t c, std::size_t size) {
  if (c >= kClasses) return ::operator new(size);
  if (!may_keep()) return allocate_without_cache(c);
  ThreadList& list = cache.lists[c];
  list.count = depot(c).take(list.blocks.data(), thread_blocks(c) / 2);
  if (list.count != 0) return list.blocks[--list.count];
  return make_blocks(c, list.blocks.data(), list.count);
}

[[gnu::noinline]] void free_slowly(std::size_t c, void* block) noexcept {
  if (c >= kClasses) return ::operator delete(block);
  if (!may_keep()) return depot(c).give(&block, 1);
  ThreadList& list = cache.lists[c];
  if (list.count == list.limit) {
    const std::size_t half = list.limit / 2;
    list.count -= half;
    depot(c).give(list.blocks.data() + list.count, half);
  }
  list.blocks[list.count++] = block;
}

}  // namespace

void* pool_allocate(std::size_t size) {
  const std::size_t c = class_of(size);
  if (c >= kClasses) return allocate_slowly(c, size);  // of size 0, too
  ThreadList& list = cache.lists[c];
  if (list.count == 0) return allocate_slowly(c, size);
  return list.blocks[--list.count];
}

void pool_free(void* block, std::size_t size) noexcept {
  const std::size_t c = class_of(size);
  if (c >= kClasses) return free_slowly(c, block);
  ThreadList& list = cache.lists[c];
  if (list.count >= list.limit) return free_slowly(c, block);
  list.blocks[list.count++] = block;
}

#endif

}  // namespace millrace
