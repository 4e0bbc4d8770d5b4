#include "millrace/core/pool.h"

#include <array>
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
constexpr std::size_t kClasses = 16;       // 64, 128, ... 1024 bytes
constexpr std::size_t kThreadBlocks = 64;  // a thread keeps at most this many blocks of a class

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
  while (cache.lists[c].count < kThreadBlocks / 2) {
    Block* block = d.lists[c].pop();
    if (block == nullptr) return;
    cache.lists[c].push(block);
  }
}

void spill(std::size_t c) {
  Depot& d = depot();
  MutexLock lock(d.mutex);
  while (cache.lists[c].count > kThreadBlocks / 2) d.lists[c].push(cache.lists[c].pop());
}

}  // namespace

void* pool_allocate(std::size_t size) {
  const std::size_t c = (size + kStep - 1) / kStep - 1;
  if (size == 0 || c >= kClasses) return ::operator new(size);
  if (cache.alive) {
    if (cache.lists[c].head == nullptr) refill(c);
    if (Block* block = cache.lists[c].pop()) return block;
  }
  return ::operator new((c + 1) * kStep);
}

void pool_free(void* block, std::size_t size) noexcept {
  const std::size_t c = (size + kStep - 1) / kStep - 1;
  if (size == 0 || c >= kClasses || !cache.alive) {
    ::operator delete(block);
    return;
  }
  cache.lists[c].push(static_cast<Block*>(block));
  if (cache.lists[c].count > kThreadBlocks) spill(c);
}

#endif

}  // namespace millrace
