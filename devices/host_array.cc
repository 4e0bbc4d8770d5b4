// The memory of HostArray::make: blocks of a pool of the whole process, so that what a step brings
// to the host or reduces there asks the system for nothing in the steady state.
#include <cstring>

#include "millrace/core/base/memory_left.h"
#include "millrace/devices/buffer.h"
#include "millrace/devices/memory_pool.h"

namespace millrace::devices {
namespace {

// Free blocks beyond this go back to the system. A sanitizer must see every allocation as its own.
#if defined(MILLRACE_SANITIZED)
constexpr std::int64_t kCacheBytes = 0;
#else
constexpr std::int64_t kCacheBytes = std::int64_t{256} << 20;
#endif

// Never destroyed: arrays of static lifetime may be freed after main.
MemoryPool& host_memory() {
  static MemoryPool* const pool = make_ref<MemoryPool>(0, kCacheBytes).detach();
  return *pool;
}

}  // namespace

HostArray HostArray::make_unwritten(const Shape& shape) {
  Result<Ref<Block>> block = host_memory().allocate(shape.size_bytes(), "an array of the host");
  if (!block) throw NoMemory(block.error());
  std::byte* const data = (*block)->data();
  return HostArray(shape, {data, shape.size_bytes()}, make_owner(*std::move(block)));
}

HostArray HostArray::make(const Shape& shape) {
  HostArray array = make_unwritten(shape);
  const std::span<std::byte> bytes = array.mutable_bytes();
  if (!bytes.empty()) std::memset(bytes.data(), 0, bytes.size());
  return array;
}

}  // namespace millrace::devices
