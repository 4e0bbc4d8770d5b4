// Pooled: small objects that come and go with every step (cells, messages, work items) are recycled in free
// lists by size, so that a step in the steady state asks the system for no memory.
#pragma once

#include <cstddef>

namespace millrace {

// A block of at least size bytes, aligned for any ordinary type; from a free list where one is there.
// Sizes above 1 KiB go to operator new. Thread-safe; blocks may be freed on another thread.
void* pool_allocate(std::size_t size);
void pool_free(void* block, std::size_t size) noexcept;

// Base class that gives a type pooled operator new and delete.
class Pooled {
 public:
  static void* operator new(std::size_t size) { return pool_allocate(size); }
  static void operator delete(void* block, std::size_t size) noexcept { pool_free(block, size); }

 protected:
  ~Pooled() = default;
};

}  // namespace millrace
