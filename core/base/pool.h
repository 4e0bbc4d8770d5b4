// Pooled: small objects that come and go with every step (cells, messages, work items) are recycled
// in free lists by size, so that a step in the steady state asks the system for no memory.
#pragma once

#include <cstddef>
#include <deque>
#include <new>
#include <vector>

namespace millrace {

// A block of at least size bytes, aligned for any ordinary type; from a free list where one is
// there. Sizes above 64 KiB go to operator new. Thread-safe; blocks may be freed on another thread.
void* pool_allocate(std::size_t size);
void pool_free(void* block, std::size_t size) noexcept;

// Base class that gives a type pooled operator new and delete.
class Pooled {
 public:
  static void* operator new(std::size_t size) { return pool_allocate(size); }
  static void operator delete(void* block, std::size_t size) noexcept { pool_free(block, size); }
  // Blocks of the pool are aligned for ordinary types only.
  static void* operator new(std::size_t size, std::align_val_t align) {
    return ::operator new(size, align);
  }
  static void operator delete(void* block, std::size_t, std::align_val_t align) noexcept {
    ::operator delete(block, align);
  }

 protected:
  ~Pooled() = default;
};

// For containers and shared owners that come and go. Stateless: any one frees any block.
template <class T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) {
  }  // NOLINT(google-explicit-constructor): containers convert it
  T* allocate(std::size_t n) { return static_cast<T*>(pool_allocate(n * sizeof(T))); }
  void deallocate(T* block, std::size_t n) noexcept { pool_free(block, n * sizeof(T)); }
  template <class U>
  bool operator==(const PoolAllocator<U>&) const {
    return true;
  }
};

// For lists that a call makes and drops again.
template <class T>
using PooledVector = std::vector<T, PoolAllocator<T>>;
// A queue that stands takes no memory but the pool's, however far it has moved.
template <class T>
using PooledDeque = std::deque<T, PoolAllocator<T>>;

}  // namespace millrace
