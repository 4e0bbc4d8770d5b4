#include "millrace/devices/memory_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <string>

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

struct Block::Borrowed : Pooled {
  Borrowed(Owner o, Promise<void> r) : owner(std::move(o)), released(std::move(r)) {}
  Owner owner;
  Promise<void> released;
};

Ref<Block> Block::borrow(void* data, std::size_t size, bool writable, Owner owner,
                         Promise<void> released) {
  auto* block = new Block;
  block->data_ = static_cast<std::byte*>(data);
  block->size_ = size;
  block->writable_ = writable && reinterpret_cast<std::uintptr_t>(data) % kBlockAlignment == 0;
  block->borrowed_ = new Borrowed(std::move(owner), std::move(released));
  return Ref<Block>::adopt(block);
}

void Block::free() {
  if (pool_ != nullptr) {
    MemoryPool* const pool = pool_;
    pool->put_back(this);
    pool->release();
    return;
  }
  Promise<void> released = std::move(borrowed_->released);
  delete borrowed_;
  delete this;
  released.set_value();  // last: the host may do what it likes with the bytes
}

MemoryPool::MemoryPool(std::int64_t limit_bytes, std::int64_t cache_bytes)
    : limit_bytes_(limit_bytes), cache_bytes_(cache_bytes) {}

MemoryPool::~MemoryPool() {
  MutexLock lock(mutex_);
  for (Block*& list : free_) {
    while (Block* block = list) {
      list = block->next_;
      std::free(block->data_);
      delete block;
    }
  }
}

Status MemoryPool::begin_use(std::int64_t bytes) {
  const std::int64_t now = in_use_.fetch_add(bytes) + bytes;
  if (limit_bytes_ != 0 && now > limit_bytes_) {
    end_use(bytes);
    return fail(ErrorCode::kResourceExhausted,
                "no room for " + std::to_string(bytes) +
                    " bytes in a CPU device's memory: " + std::to_string(now - bytes) + " of " +
                    std::to_string(limit_bytes_) + " are in use");
  }
  std::int64_t peak = peak_.load();
  while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
  }
  return {};
}

Result<MemoryPool::Use> MemoryPool::use(std::size_t size) {
  const auto bytes = static_cast<std::int64_t>(size);
  MILLRACE_TRY_STATUS(begin_use(bytes));
  return Use(Ref<MemoryPool>::share(this), bytes);
}

Result<Ref<Block>> MemoryPool::allocate(std::size_t size, std::string_view what) {
  if (size > kLargest) {
    return fail(ErrorCode::kResourceExhausted,
                "an array of " + std::to_string(size) + " bytes is more than any CPU device holds");
  }
  const std::uint8_t size_class = kSizes.class_of(size);
  const auto bytes = static_cast<std::int64_t>(kSizes.bytes_of(size_class));
  MILLRACE_TRY_STATUS(begin_use(bytes));
  Block* block = take(size_class);
  if (block == nullptr) {
    Result<SystemMemory> data = allocate_memory(static_cast<std::size_t>(bytes), what);
    if (!data) {
      end_use(bytes);
      return std::unexpected(data.error());
    }
    system_allocations_.fetch_add(1);
    block = new Block;
    block->data_ = data->release();
    block->class_ = size_class;
    block->pool_ = this;
  }
  block->refs_.store(1, std::memory_order_relaxed);  // no other thread has it
  block->size_ = size;
  add_ref();  // the block's
  return Ref<Block>::adopt(block);
}

Block* MemoryPool::take(std::uint8_t size_class) {
  MutexLock lock(mutex_);
  Block* const block = free_[size_class];
  if (block != nullptr) {
    free_[size_class] = block->next_;
    cached_ -= static_cast<std::int64_t>(kSizes.bytes_of(size_class));
  }
  return block;
}

void MemoryPool::put_back(Block* block) {
  const auto bytes = static_cast<std::int64_t>(kSizes.bytes_of(block->class_));
  end_use(bytes);
  {
    MutexLock lock(mutex_);
    if (cached_ + bytes <= cache_bytes_) {
      cached_ += bytes;
      block->next_ = std::exchange(free_[block->class_], block);
      return;
    }
  }
  std::free(block->data_);
  delete block;
}

MemoryStats MemoryPool::stats() const {
  MemoryStats stats{.bytes_in_use = in_use_.load(), .peak_bytes_in_use = peak_.load()};
  if (limit_bytes_ != 0) stats.bytes_limit = limit_bytes_;
  return stats;
}

namespace {

struct HoldsBlock {
  void operator()(const void* /*data*/) const {}
  Ref<Block> block;
};

}  // namespace

Owner make_owner(Ref<Block> block) {
  const void* const data = block->data();
  return Owner(data, HoldsBlock{std::move(block)}, PoolAllocator<std::byte>());
}

Ref<Block> block_of(const Owner& owner) {
  const auto* const holder = std::get_deleter<HoldsBlock>(owner);
  return holder == nullptr ? nullptr : holder->block;
}

}  // namespace millrace::devices
