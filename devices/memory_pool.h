// MemoryPool: the memory of a device that uses host memory, and that of host arrays. Blocks come in
// size classes, are 64-byte aligned (large ones lie on huge pages where the system gives them) and
// return to a free list: a program that runs again and again asks the system for nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "millrace/core/base/mutex.h"
#include "millrace/core/base/pool.h"
#include "millrace/core/base/ref.h"
#include "millrace/core/base/size_class.h"
#include "millrace/devices/client.h"

namespace millrace::devices {

// The alignment of blocks, and of what kernels write.
inline constexpr std::size_t kBlockAlignment = 64;

// Memory of the system for arrays, temporaries and constants: aligned for kernels, large pieces on
// huge pages where the system gives them.
struct FreeMemory {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
using SystemMemory = std::unique_ptr<std::byte[], FreeMemory>;

// Unwritten. kResourceExhausted with the bytes and with `what` they were for, where the system has
// none or a limit of the process would be reached (core/base/memory_left.h). Thread-safe.
Result<SystemMemory> allocate_memory(std::size_t bytes, std::string_view what);

class MemoryPool;

// What kernels read in place: host bytes aligned like this are put without a copy.
inline constexpr std::size_t kInputAlignment = 16;

// A piece of memory, shared by all that read it: the array that it holds, runs, copies and the
// host. Either of a pool, or host memory that is lent and used in place. Thread-safety:
// thread-safe for the count; contents as those who share it agree.
class Block final : public Pooled {
 public:
  // In place. released completes when its last use has ended.
  static Ref<Block> borrow(void* data, std::size_t size, bool writable, Owner owner,
                           Promise<void> released);

  void add_ref() const noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }  // holds one
  void release() const noexcept {
    if (refs_.fetch_sub(1) == 1) const_cast<Block*>(this)->free();
  }
  // True if the caller's reference is the only one; then no thread can get another.
  bool unique() const { return refs_.load() == 1; }

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  // Whether a program may write into it: never into host memory that was lent for reading.
  bool writable() const { return writable_; }

 private:
  friend class MemoryPool;
  struct Borrowed;

  Block() = default;
  ~Block() = default;
  void free();

  mutable std::atomic<std::uint32_t> refs_{1};
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;  // as asked for
  bool writable_ = true;
  std::uint8_t class_ = 0;
  MemoryPool* pool_ = nullptr;  // nullptr: borrowed
  Borrowed* borrowed_ = nullptr;
  Block* next_ = nullptr;  // in a free list
};

// A shared owner of block, in pooled memory.
Owner make_owner(Ref<Block> block);
// The block that make_owner() was given; nullptr of any other owner.
Ref<Block> block_of(const Owner& owner);

// Lives until its device and all its blocks are gone. Thread-safety: thread-safe.
class MemoryPool final : public RefCounted {
 public:
  // limit_bytes: of blocks in use, 0 for none. cache_bytes: free blocks kept for reuse, at most.
  explicit MemoryPool(std::int64_t limit_bytes = 0,
                      std::int64_t cache_bytes = std::int64_t{1} << 30);

  // kResourceExhausted with the numbers, beyond the limit or where the system has no more. The
  // content is undefined.
  Result<Ref<Block>> allocate(std::size_t size, std::string_view what = "an array of a CPU device");
  // Memory of the device that is no block, such as the temporaries of an execution: in use, and
  // within the limit, for as long as this lives. The same errors.
  class Use;
  Result<Use> use(std::size_t size);
  MemoryStats stats() const;
  // The peak begins anew, at what is in use.
  void clear_peak() { peak_.store(in_use_.load()); }
  // Blocks that the system has given, ever: constant in the steady state.
  std::int64_t system_allocations() const { return system_allocations_.load(); }

 private:
  friend class Block;
  static constexpr SizeClasses kSizes{kBlockAlignment};
  static constexpr std::size_t kLargest = std::size_t{1} << 46;

  ~MemoryPool() override;
  Status begin_use(std::int64_t bytes);
  void end_use(std::int64_t bytes) { in_use_.fetch_sub(bytes); }
  Block* take(std::uint8_t size_class);
  void put_back(Block* block);

  const std::int64_t limit_bytes_;
  const std::int64_t cache_bytes_;
  std::atomic<std::int64_t> in_use_{0};
  std::atomic<std::int64_t> peak_{0};
  std::atomic<std::int64_t> system_allocations_{0};
  Mutex mutex_;
  std::array<Block*, kSizes.class_of(kLargest) + 1> free_ MILLRACE_GUARDED_BY(mutex_) = {};
  std::int64_t cached_ MILLRACE_GUARDED_BY(mutex_) = 0;
};

class MemoryPool::Use {
 public:
  Use(Use&& other) noexcept
      : pool_(std::move(other.pool_)), bytes_(std::exchange(other.bytes_, 0)) {}
  Use& operator=(Use&&) = delete;
  ~Use() {
    if (bytes_ != 0) pool_->end_use(bytes_);
  }

 private:
  friend class MemoryPool;
  Use(Ref<MemoryPool> pool, std::int64_t bytes) : pool_(std::move(pool)), bytes_(bytes) {}
  Ref<MemoryPool> pool_;
  std::int64_t bytes_;
};

}  // namespace millrace::devices
