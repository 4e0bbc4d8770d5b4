#include "millrace/transfer/staging_pool.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/async/byte_gate.h"
#include "millrace/core/base/mutex.h"
#include "millrace/transfer/pages.h"
#include "millrace/transfer/staging_ledger.h"
#include "millrace/transfer/staging_mappings.h"

namespace millrace::transfer {

using Grant = StagingLedger::Grant;
using Region = StagingLedger::Region;

// What the pool and its blocks share; lives until the last of them is gone. A block's bytes enter
// the gate before the ledger books it, and leave after the ledger has it back: it has room.
class StagingPoolState final : public RefCounted {
 public:
  StagingPoolState(const StagingPoolOptions& options, TimerQueue& timers)
      : gate_(
            make_ref<ByteGate>(options.max_bytes, options.max_waiting, timers, "the staging pool")),
        ledger_(options.max_bytes) {}
  ~StagingPoolState() override { trim(0); }

  Future<StagingBlock> acquire(std::size_t bytes, const CallOptions& call);
  void release_block(Region block);
  void map(Region block, const devices::Device& device) { mappings_.map(block, device); }
  void trim(std::size_t keep_bytes);
  StagingPoolMetrics metrics() const;
  Future<void> close();

 private:
  Result<StagingBlock> grant(std::size_t bytes, Result<ByteGate::Pass> pass, bool waited);
  void free_all(const std::vector<Region>& regions) {
    for (const Region& r : regions) mappings_.free(r);
  }

  const Ref<ByteGate> gate_;
  StagingMappings mappings_;
  mutable Mutex mutex_;
  StagingLedger ledger_ MILLRACE_GUARDED_BY(mutex_);
  std::uint64_t granted_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::uint64_t reused_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::uint64_t waited_ MILLRACE_GUARDED_BY(mutex_) = 0;
};

// The use of one block; its end releases the block. The pool closes only after that.
class StagingLease {
 public:
  StagingLease(Ref<StagingPoolState> pool, Region block, ByteGate::Pass pass)
      : pool_(std::move(pool)), block_(block), pass_(std::move(pass)) {}
  StagingLease(const StagingLease&) = delete;
  StagingLease& operator=(const StagingLease&) = delete;
  ~StagingLease() { pool_->release_block(block_); }
  void map_for(const devices::Device& device) const { pool_->map(block_, device); }

 private:
  Ref<StagingPoolState> pool_;
  Region block_;
  ByteGate::Pass pass_;
};

StagingBlock::StagingBlock(std::span<std::byte> bytes, std::shared_ptr<StagingLease> lease)
    : bytes_(bytes), lease_(std::move(lease)) {}

std::shared_ptr<const void> StagingBlock::owner() const { return lease_; }

void StagingBlock::map_for(const devices::Device& device) const { lease_->map_for(device); }

Future<StagingBlock> StagingPoolState::acquire(std::size_t bytes, const CallOptions& call) {
  Future<ByteGate::Pass> pass = gate_->enter(StagingLedger::block_bytes(bytes), call);
  if (pass.ready()) return grant(bytes, pass.take(), false);
  return std::move(pass).then(inline_executor(), [self = Ref<StagingPoolState>::share(this),
                                                  bytes](Result<ByteGate::Pass> entered) {
    return self->grant(bytes, std::move(entered), true);
  });
}

// The block of the ledger, mapped if it is new.
Result<StagingBlock> StagingPoolState::grant(std::size_t bytes, Result<ByteGate::Pass> pass,
                                             bool waited) {
  const auto acquiring = [bytes] {
    return "acquiring " + std::to_string(bytes) + " bytes of staging memory";
  };
  if (!pass) return std::unexpected(pass.error().with_context(acquiring()));
  const std::size_t block_bytes = StagingLedger::block_bytes(bytes);
  Grant grant;
  {
    MutexLock lock(mutex_);
    grant = ledger_.take(block_bytes);
    ++granted_;
    if (waited) ++waited_;
    if (grant.data != nullptr) ++reused_;
  }
  free_all(grant.evicted);
  std::byte* data = grant.data != nullptr ? grant.data : map_pages(block_bytes);
  if (data == nullptr) {
    MutexLock lock(mutex_);
    ledger_.cancel(block_bytes);
    return fail(ErrorCode::kResourceExhausted, acquiring() + ": the system has no memory for " +
                                                   std::to_string(block_bytes) +
                                                   " bytes more; lower the limit of the pool");
  }
  unguard_pages(data, block_bytes);
  return StagingBlock({data, bytes},
                      std::allocate_shared<StagingLease>(
                          PoolAllocator<StagingLease>(), Ref<StagingPoolState>::share(this),
                          Region{data, block_bytes}, std::move(*pass)));
}

void StagingPoolState::release_block(Region block) {
  guard_pages(block.data, block.bytes);
  {
    MutexLock lock(mutex_);
    ledger_.release(block);
  }
  if (gate_->closing()) trim(0);
}

void StagingPoolState::trim(std::size_t keep_bytes) {
  std::vector<Region> unused;
  {
    MutexLock lock(mutex_);
    unused = ledger_.trim(keep_bytes);
  }
  free_all(unused);
}

StagingPoolMetrics StagingPoolState::metrics() const {
  MutexLock lock(mutex_);
  return {.max_bytes = ledger_.max_bytes(),
          .in_use_bytes = ledger_.in_use_bytes(),
          .cached_bytes = ledger_.cached_bytes(),
          .peak_in_use_bytes = ledger_.peak_in_use_bytes(),
          .mapped_bytes = mappings_.mapped_bytes(),
          .waiting = gate_->waiting(),
          .granted = granted_,
          .reused = reused_,
          .waited = waited_};
}

Future<void> StagingPoolState::close() {
  const Future<void> closed = gate_->close();
  trim(0);
  // Again, for a block that came back while the gate closed.
  return closed.then(inline_executor(),
                     [self = Ref<StagingPoolState>::share(this)](const Status&) { self->trim(0); });
}

StagingPool::StagingPool(const StagingPoolOptions& options, TimerQueue& timers)
    : state_(make_ref<StagingPoolState>(options, timers)) {}

StagingPool::~StagingPool() { static_cast<void>(state_->close()); }

Future<StagingBlock> StagingPool::acquire(std::size_t bytes, const CallOptions& options) {
  return state_->acquire(bytes, options);
}

std::size_t StagingPool::block_bytes(std::size_t requested) {
  return StagingLedger::block_bytes(requested);
}

void StagingPool::trim(std::size_t keep_bytes) { state_->trim(keep_bytes); }

StagingPoolMetrics StagingPool::metrics() const { return state_->metrics(); }

Future<void> StagingPool::close() { return state_->close(); }

}  // namespace millrace::transfer
