#include "millrace/core/pool.h"

#include <array>
#include <bit>
#include <new>

#include "millrace/core/mutex.h"

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

// A thread keeps at most this many blocks of a class.
constexpr std::size_t thread_blocks(std::size_t c) { return c < kSmallClasses ? 64 : 8; }

// kClasses: too large.
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

struct Block {
  Block* next;
};

struct List {
  Block* head = nullptr;
  std::size_t count = 0;

  void push(Block* block) {
    block->next = head;
    head = block;
    ++count;
  }
  Block* pop() {
    Block* block = head;
    if (block != nullptr) {
      head = block->next;
      --count;
    }
    return block;
  }
};

// Blocks that no thread keeps. Never destroyed: objects of static lifetime may be freed after main.
struct Depot {
  Mutex mutex;
  std::array<List, kClasses> lists MILLRACE_GUARDED_BY(mutex);
};
Depot& depot() {
  static Depot* instance = new Depot;
  return *instance;
}

struct ThreadCache {
  std::array<List, kClasses> lists;
  bool alive = true;

  ~ThreadCache() {
    alive = false;
    Depot& d = depot();
    MutexLock lock(d.mutex);
    for (std::size_t c = 0; c < kClasses; ++c) {
      while (Block* block = lists[c].pop()) d.lists[c].push(block);
    }
  }
};
thread_local ThreadCache cache;

// Half a thread's share at a time, so that a producer and a consumer thread meet in the depot
// rarely.
void refill(std::size_t c) {
  Depot& d = depot();
  MutexLock lock(d.mutex);
  while (cache.lists[c].count < thread_blocks(c) / 2) {
    Block* block = d.lists[c].pop();
    if (block == nullptr) return;
    cache.lists[c].push(block);
  }
}

void spill(std::size_t c) {
  Depot& d = depot();
  MutexLock lock(d.mutex);
  while (cache.lists[c].count > thread_blocks(c) / 2) d.lists[c].push(cache.lists[c].pop());
}

}  // namespace

void* pool_allocate(std::size_t size) {
  const std::size_t c = class_of(size);
  if (size == 0 || c >= kClasses) return ::operator new(size);
  if (cache.alive) {
    if (cache.lists[c].head == nullptr) refill(c);
    if (Block* block = cache.lists[c].pop()) return block;
  }
  return ::operator new(bytes_of(c));
}

void pool_free(void* block, std::size_t size) noexcept {
  const std::size_t c = class_of(size);
  if (size == 0 || c >= kClasses || !cache.alive) {
    ::operator delete(block);
    return;
  }
  cache.lists[c].push(static_cast<Block*>(block));
  if (cache.lists[c].count > thread_blocks(c)) spill(c);
}

#endif

}  // namespace millrace
