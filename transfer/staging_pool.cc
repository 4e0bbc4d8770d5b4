#include "millrace/transfer/staging_pool.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/check.h"
#include "millrace/core/combinators.h"
#include "millrace/core/mutex.h"
#include "millrace/core/scope.h"
#include "millrace/core/timer_queue.h"
#include "millrace/transfer/pages.h"
#include "millrace/transfer/staging_ledger.h"
#include "millrace/transfer/staging_mappings.h"

namespace millrace::transfer {

using Grant = StagingLedger::Grant;
using Region = StagingLedger::Region;

// One call of acquire() that waits its turn. Whoever takes it out of the queue completes its
// promise.
class StagingWaiter final : public RefCounted, public Pooled {
 public:
  using Pooled::operator new;
  using Pooled::operator delete;

  Ref<StagingPoolState> pool;
  std::size_t bytes = 0;
  Scope::Hold hold;
  Promise<StagingBlock> promise;
};

// What the pool, its blocks and its waiters share; lives until the last of them is gone.
class StagingPoolState final : public RefCounted {
 public:
  StagingPoolState(const StagingPoolOptions& options, TimerQueue& timers)
      : options_(options), timers_(timers), ledger_(options.max_bytes) {}
  ~StagingPoolState() override { trim(0); }

  Future<StagingBlock> acquire(std::size_t bytes, const CallOptions& call);
  void give_back(Region block);
  void map(Region block, const devices::Device& device) { mappings_.map(block, device); }
  void trim(std::size_t keep_bytes);
  StagingPoolMetrics metrics() const;
  Future<void> close();
  // Takes waiter out of the queue, if it is still there, and fails it.
  void give_up(StagingWaiter& waiter, ErrorCode code, const char* why);

 private:
  std::optional<Grant> take_at_once(std::size_t block_bytes) MILLRACE_REQUIRES(mutex_);
  std::optional<Error> refuse_to_wait(std::size_t bytes, bool late) const MILLRACE_REQUIRES(mutex_);
  Ref<StagingWaiter> enqueue(std::size_t bytes, Scope::Hold& hold) MILLRACE_REQUIRES(mutex_);
  Result<StagingBlock> fulfil(const Grant& grant, std::size_t bytes, Scope::Hold hold);
  void arm(const Ref<StagingWaiter>& waiter, const Future<StagingBlock>& future,
           const CallOptions& call);
  void serve_waiting();
  Error describe(ErrorCode code, std::size_t bytes, const std::string& why) const;
  void free_all(const std::vector<Region>& regions) {
    for (const Region& r : regions) mappings_.free(r);
  }

  const StagingPoolOptions options_;
  TimerQueue& timers_;
  StagingMappings mappings_;
  Scope scope_{"the staging pool"};
  mutable Mutex mutex_;
  StagingLedger ledger_ MILLRACE_GUARDED_BY(mutex_);
  PooledDeque<Ref<StagingWaiter>> waiting_ MILLRACE_GUARDED_BY(mutex_);
  bool closing_ MILLRACE_GUARDED_BY(mutex_) = false;
  std::uint64_t granted_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::uint64_t reused_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::uint64_t waited_ MILLRACE_GUARDED_BY(mutex_) = 0;
};

// The use of one block; gives it back at its end. The pool closes only after that.
class StagingLease {
 public:
  StagingLease(Ref<StagingPoolState> pool, Region block, Scope::Hold hold)
      : pool_(std::move(pool)), block_(block), hold_(std::move(hold)) {}
  StagingLease(const StagingLease&) = delete;
  StagingLease& operator=(const StagingLease&) = delete;
  ~StagingLease() { pool_->give_back(block_); }
  void map_for(const devices::Device& device) const { pool_->map(block_, device); }

 private:
  Ref<StagingPoolState> pool_;
  Region block_;
  Scope::Hold hold_;  // goes before pool_, which it points into
};

StagingBlock::StagingBlock(std::span<std::byte> bytes, std::shared_ptr<StagingLease> lease)
    : bytes_(bytes), lease_(std::move(lease)) {}

std::shared_ptr<const void> StagingBlock::owner() const { return lease_; }

void StagingBlock::map_for(const devices::Device& device) const { lease_->map_for(device); }

namespace {

struct CancelOnStop {
  Ref<StagingWaiter> waiter;
  void operator()() const {
    waiter->pool->give_up(*waiter, ErrorCode::kCancelled, "stopped on request while it waited");
  }
};

}  // namespace

Error StagingPoolState::describe(ErrorCode code, std::size_t bytes, const std::string& why) const {
  return Error(code, "acquiring " + std::to_string(bytes) + " bytes of staging memory: " + why);
}

Future<StagingBlock> StagingPoolState::acquire(std::size_t bytes, const CallOptions& call) {
  const std::size_t block_bytes = StagingLedger::block_bytes(bytes);
  if (block_bytes > options_.max_bytes) {
    return describe(ErrorCode::kResourceExhausted, bytes,
                    "a block of " + std::to_string(block_bytes) + " bytes never fits a pool of " +
                        std::to_string(options_.max_bytes) + "; raise its limit");
  }
  if (call.stop.stop_requested()) {
    return describe(ErrorCode::kCancelled, bytes, "stopped on request before it began");
  }
  Scope::Hold hold = scope_.hold();
  if (!hold) return scope_.closed_error();
  const bool late = call.deadline != kNoDeadline && call.deadline <= timers_.clock().now();
  std::optional<Grant> grant;
  Ref<StagingWaiter> waiter;
  Future<StagingBlock> future;
  {
    MutexLock lock(mutex_);
    if (closing_) return scope_.closed_error();
    grant = take_at_once(block_bytes);
    if (!grant) {
      if (std::optional<Error> refusal = refuse_to_wait(bytes, late)) return *std::move(refusal);
      waiter = enqueue(bytes, hold);
      future = waiter->promise.future();
    }
  }
  if (waiter) {
    arm(waiter, future, call);
    return future;
  }
  Result<StagingBlock> block = fulfil(*grant, bytes, std::move(hold));
  if (!block) serve_waiting();  // room that was booked for it is free again
  return block;
}

std::optional<Grant> StagingPoolState::take_at_once(std::size_t block_bytes) {
  if (!waiting_.empty()) return std::nullopt;  // they came first
  std::optional<Grant> grant = ledger_.take(block_bytes);
  if (grant) {
    ++granted_;
    if (grant->data != nullptr) ++reused_;
  }
  return grant;
}

std::optional<Error> StagingPoolState::refuse_to_wait(std::size_t bytes, bool late) const {
  if (late) {
    return describe(ErrorCode::kDeadlineExceeded, bytes, "its deadline has passed already");
  }
  if (waiting_.size() >= options_.max_waiting) {
    return describe(ErrorCode::kResourceExhausted, bytes,
                    std::to_string(waiting_.size()) + " calls wait already");
  }
  return std::nullopt;
}

Ref<StagingWaiter> StagingPoolState::enqueue(std::size_t bytes, Scope::Hold& hold) {
  auto waiter = make_ref<StagingWaiter>();
  waiter->pool = Ref<StagingPoolState>::share(this);
  waiter->bytes = bytes;
  waiter->hold = std::move(hold);
  waiting_.push_back(waiter);
  return waiter;
}

// Ties stop and deadline to a waiter that others may have completed meanwhile.
void StagingPoolState::arm(const Ref<StagingWaiter>& waiter, const Future<StagingBlock>& future,
                           const CallOptions& call) {
  if (call.stop.stop_possible()) {
    auto* guard = new detail::GuardWaiter<std::stop_callback<CancelOnStop>>;
    guard->guard.emplace(call.stop, CancelOnStop{waiter});
    future.cell()->add_waiter(guard);
  }
  if (call.deadline != kNoDeadline) {
    detail::arm_deadline(timers_, call.deadline, Ref<AsyncValue>(future.cell()),
                         Ref<RefCounted>(waiter), [](RefCounted& target) {
                           auto& late = static_cast<StagingWaiter&>(target);
                           late.pool->give_up(late, ErrorCode::kDeadlineExceeded,
                                              "its deadline came while it waited");
                         });
  }
}

// The block that the ledger has granted, mapped if it is new.
Result<StagingBlock> StagingPoolState::fulfil(const Grant& grant, std::size_t bytes,
                                              Scope::Hold hold) {
  free_all(grant.evicted);
  const std::size_t block_bytes = StagingLedger::block_bytes(bytes);
  std::byte* data = grant.data != nullptr ? grant.data : map_pages(block_bytes);
  if (data == nullptr) {
    MutexLock lock(mutex_);
    ledger_.cancel(block_bytes);
    return std::unexpected(describe(ErrorCode::kResourceExhausted, bytes,
                                    "the system has no memory for " + std::to_string(block_bytes) +
                                        " bytes more; lower the limit of the pool"));
  }
  unguard_pages(data, block_bytes);
  return StagingBlock({data, bytes},
                      std::allocate_shared<StagingLease>(
                          PoolAllocator<StagingLease>(), Ref<StagingPoolState>::share(this),
                          Region{data, block_bytes}, std::move(hold)));
}

// Hands out what is free to those who wait, in order, until the first does not fit.
void StagingPoolState::serve_waiting() {
  while (true) {
    Ref<StagingWaiter> first;
    std::optional<Grant> grant;
    {
      MutexLock lock(mutex_);
      if (waiting_.empty()) return;
      grant = ledger_.take(StagingLedger::block_bytes(waiting_.front()->bytes));
      if (!grant) return;
      first = std::move(waiting_.front());
      waiting_.pop_front();
      ++granted_;
      ++waited_;
      if (grant->data != nullptr) ++reused_;
    }
    first->promise.set(fulfil(*grant, first->bytes, std::move(first->hold)));
  }
}

void StagingPoolState::give_up(StagingWaiter& waiter, ErrorCode code, const char* why) {
  Ref<StagingWaiter> taken;
  {
    MutexLock lock(mutex_);
    for (auto i = waiting_.begin(); i != waiting_.end(); ++i) {
      if (i->get() != &waiter) continue;
      taken = std::move(*i);
      waiting_.erase(i);
      break;
    }
  }
  if (!taken) return;
  taken->promise.set_error(describe(code, taken->bytes, why));
  taken->hold.reset();
  serve_waiting();  // it may have been first, and too large for what others could have had
}

void StagingPoolState::give_back(Region block) {
  guard_pages(block.data, block.bytes);
  std::vector<Region> unused;
  {
    MutexLock lock(mutex_);
    ledger_.give_back(block);
    if (closing_) unused = ledger_.trim(0);
  }
  free_all(unused);
  serve_waiting();
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
          .waiting = waiting_.size(),
          .granted = granted_,
          .reused = reused_,
          .waited = waited_};
}

Future<void> StagingPoolState::close() {
  PooledDeque<Ref<StagingWaiter>> cancelled;
  {
    MutexLock lock(mutex_);
    closing_ = true;
    cancelled.swap(waiting_);
  }
  trim(0);
  for (const Ref<StagingWaiter>& waiter : cancelled) {
    waiter->promise.set_error(
        describe(ErrorCode::kCancelled, waiter->bytes, "the pool was closed while it waited"));
    waiter->hold.reset();
  }
  return scope_.close();
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
