#include "millrace/devices/cpu/memory_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>
#include <utility>

namespace millrace::devices::cpu {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLargest = std::size_t{1} << 46;

std::byte* system_allocate(std::size_t bytes) {
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kBlockAlignment;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* data = std::aligned_alloc(alignment, rounded);
  // Fewer page faults and TLB misses for large arrays; a system that has none for us is no error.
  if (data != nullptr && alignment == kHugePage) {
    static_cast<void>(::madvise(data, rounded, MADV_HUGEPAGE));
  }
  return static_cast<std::byte*>(data);
}

}  // namespace

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

// Class 4 * e + q holds 64 * 2^e * (4 + q) / 4 bytes.
std::uint8_t MemoryPool::class_of(std::size_t size) {
  const std::size_t units =
      std::max<std::size_t>((size + kBlockAlignment - 1) / kBlockAlignment, 1);
  const auto e = static_cast<std::size_t>(std::bit_width(units) - 1);
  const std::size_t base = std::size_t{1} << e;
  const std::size_t quarter = e >= 2 ? base / 4 : 0;
  if (quarter == 0) return static_cast<std::uint8_t>(4 * (units == base ? e : e + 1));
  return static_cast<std::uint8_t>(4 * e + (units - base + quarter - 1) / quarter);
}

std::size_t MemoryPool::bytes_of(std::uint8_t size_class) {
  const std::size_t power = kBlockAlignment << (size_class / 4);
  return power + power / 4 * (size_class % 4);
}

std::size_t MemoryPool::class_bytes(std::size_t size) { return bytes_of(class_of(size)); }

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

Result<Ref<Block>> MemoryPool::allocate(std::size_t size) {
  if (size > kLargest) {
    return fail(ErrorCode::kResourceExhausted,
                "an array of " + std::to_string(size) + " bytes is more than any CPU device holds");
  }
  const std::uint8_t size_class = class_of(size);
  const auto bytes = static_cast<std::int64_t>(bytes_of(size_class));
  MILLRACE_TRY_STATUS(begin_use(bytes));
  Block* block = take(size_class);
  if (block == nullptr) {
    std::byte* const data = system_allocate(static_cast<std::size_t>(bytes));
    if (data == nullptr) {
      end_use(bytes);
      return fail(ErrorCode::kResourceExhausted,
                  "the system has no " + std::to_string(bytes) + " bytes for a CPU device; " +
                      std::to_string(in_use_.load()) + " are in use");
    }
    system_allocations_.fetch_add(1);
    block = new Block;
    block->data_ = data;
    block->class_ = size_class;
    block->pool_ = this;
  }
  block->refs_.store(1);
  block->size_ = size;
  add_ref();  // the block's
  return Ref<Block>::adopt(block);
}

Block* MemoryPool::take(std::uint8_t size_class) {
  MutexLock lock(mutex_);
  Block* const block = free_[size_class];
  if (block != nullptr) {
    free_[size_class] = block->next_;
    cached_ -= static_cast<std::int64_t>(bytes_of(size_class));
  }
  return block;
}

void MemoryPool::put_back(Block* block) {
  const auto bytes = static_cast<std::int64_t>(bytes_of(block->class_));
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

}  // namespace millrace::devices::cpu
