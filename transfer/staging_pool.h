// StagingPool: host memory in which batches are assembled and from which they are copied to
// devices: bounded in bytes, page-aligned, in huge pages where those help, reused, so that a
// running loader asks the system for nothing. Read next: staging_ledger.h (which block serves a
// request), staging_mappings.h (which devices read by themselves); device_loader.h, its main user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/ref.h"

namespace millrace {
class TimerQueue;
}
namespace millrace::devices {
class Device;
}

namespace millrace::transfer {

class StagingPoolState;
class StagingLease;

// A block of a StagingPool; returns to it when this and every owner() are destroyed. It may outlive
// the pool object. Its content is what the last user left. Thread-safety: external.
class StagingBlock {
 public:
  StagingBlock() = default;
  StagingBlock(StagingBlock&&) noexcept = default;
  StagingBlock& operator=(StagingBlock&&) noexcept = default;

  explicit operator bool() const { return lease_ != nullptr; }
  // As many as were asked for, at a multiple of the page size.
  std::span<std::byte> bytes() const { return bytes_; }
  // A share in the block, for its later readers (a HostView, a Buffer that aliases it).
  std::shared_ptr<const void> owner() const;
  // Before copies to this device: its client reads the block by itself from now on, where it offers
  // that (StagingMappings). Waits for nothing.
  void map_for(const devices::Device& device) const;

 private:
  friend class StagingPoolState;
  StagingBlock(std::span<std::byte> bytes, std::shared_ptr<StagingLease> lease);

  std::span<std::byte> bytes_;
  std::shared_ptr<StagingLease> lease_;
};

struct StagingPoolOptions {
  // All blocks together, in use or kept for reuse, as rounded by StagingPool::block_bytes().
  std::size_t max_bytes = std::size_t{256} << 20;
  // acquire() calls that may wait at once; one more is refused with kResourceExhausted.
  std::size_t max_waiting = 4096;
};

// One moment of a pool. Bytes are those of whole blocks.
struct StagingPoolMetrics {
  std::size_t max_bytes = 0;
  std::size_t in_use_bytes = 0;
  std::size_t cached_bytes = 0;       // kept for reuse
  std::size_t peak_in_use_bytes = 0;  // the high-water mark since the pool was made
  std::size_t mapped_bytes = 0;       // that devices read by themselves
  std::size_t waiting = 0;            // acquire() calls without a block yet
  std::uint64_t granted = 0;          // blocks handed out
  std::uint64_t reused = 0;           // of those, without asking the system
  std::uint64_t waited = 0;           // of those, not at once
};

// States: open -> closing -> closed (all blocks are back). Thread-safety: thread-safe.
class StagingPool {
 public:
  StagingPool(const StagingPoolOptions& options, TimerQueue& timers);
  StagingPool(const StagingPool&) = delete;
  StagingPool& operator=(const StagingPool&) = delete;
  // As close(), without waiting: blocks that are out return to the system when they are released.
  ~StagingPool();

  // A block of at least this many bytes as soon as the bound allows it. First come, first served,
  // whatever the sizes, so that no large request starves. Completes on the calling thread, or on
  // the one that releases a block, stops, or at the deadline. Errors: kResourceExhausted (larger
  // than the pool, too many waiting, no memory), kCancelled (stop, close), kDeadlineExceeded,
  // kUnavailable (after close). A call that stops waiting loses only its place.
  Future<StagingBlock> acquire(std::size_t bytes, const CallOptions& options = {});

  // The bytes that a block for such a request takes of max_bytes.
  static std::size_t block_bytes(std::size_t requested);

  // Returns unused blocks to the system until at most keep_bytes of them are kept.
  void trim(std::size_t keep_bytes = 0);
  StagingPoolMetrics metrics() const;
  // Refuses new calls, cancels those that wait, and completes when all blocks are back and
  // unmapped; those that a device reads by itself, a moment later.
  Future<void> close();

 private:
  Ref<StagingPoolState> state_;
};

}  // namespace millrace::transfer
