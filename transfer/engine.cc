#include "millrace/transfer/engine.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/check.h"
#include "millrace/core/combinators.h"
#include "millrace/core/coroutine.h"
#include "millrace/devices/host_view.h"

namespace millrace::transfer {

using devices::Buffer;
using devices::Device;
using devices::HostArray;
using devices::HostBufferSemantics;
using devices::HostView;
using devices::PutOptions;
using devices::PutResult;

// What the transfers of one device share. Thread-safety: thread-safe.
class EngineLane {
 public:
  EngineLane(std::size_t limit, TimerQueue& timers)
      : credits_(make_ref<ByteCredits>(limit, timers)) {}

  ByteCredits& credits() const { return *credits_; }
  void count(std::uint64_t TransferStats::* transfers, std::uint64_t TransferStats::* bytes,
             std::size_t n) {
    MutexLock lock(mutex_);
    ++(stats_.*transfers);
    stats_.*bytes += n;
  }
  void count_staged(std::size_t bytes) {
    MutexLock lock(mutex_);
    stats_.staged_bytes += bytes;
  }
  void count_failure() {
    MutexLock lock(mutex_);
    ++stats_.failures;
  }
  TransferStats stats() const {
    MutexLock lock(mutex_);
    TransferStats stats = stats_;
    stats.bytes_in_flight = credits_->in_use();
    stats.peak_bytes_in_flight = credits_->peak();
    return stats;
  }

 private:
  const Ref<ByteCredits> credits_;
  mutable Mutex mutex_;
  TransferStats stats_ MILLRACE_GUARDED_BY(mutex_);
};

namespace {

using Lane = std::shared_ptr<EngineLane>;
using Transfers = std::uint64_t TransferStats::*;

// What a transfer holds from its admission until its bytes have arrived.
struct Ticket {
  Lane lane;
  Scope::Hold hold;
  ByteCredits::Credit credit;
  std::size_t bytes = 0;
};

// Counts a transfer, and gives up what it holds, once its bytes have arrived and its source is
// free.
void settle(Ticket ticket, const Future<void>& over, Transfers transfers, Transfers bytes,
            Executor& executor) {
  auto count = [ticket = std::move(ticket), transfers, bytes](const Status& status) mutable {
    if (status) {
      ticket.lane->count(transfers, bytes, ticket.bytes);
    } else {
      ticket.lane->count_failure();
    }
    ticket.credit.reset();
    ticket.hold.reset();
  };
  static_cast<void>(over.then(executor, std::move(count)));
}

Task<Buffer> upload_task(Ticket ticket, Device device, HostView view,
                         std::vector<std::int64_t> strides, UploadOptions options,
                         std::shared_ptr<StagingPool> pool, Executor& executor) {
  view.byte_strides = strides;
  Result<ByteCredits::Credit> credit =
      co_await ticket.lane->credits().acquire(ticket.bytes, options.call);
  if (!credit) {
    ticket.lane->count_failure();
    co_return credit.error();
  }
  ticket.credit = std::move(*credit);
  PutOptions put{.semantics = options.use == SourceUse::kZeroCopy
                                  ? HostBufferSemantics::kImmutableZeroCopy
                                  : HostBufferSemantics::kImmutableUntilTransferCompletes,
                 .memory = options.memory,
                 .call = options.call};
  if (options.use == SourceUse::kCopy) {
    Result<StagingBlock> block =
        co_await pool->acquire(std::max<std::size_t>(ticket.bytes, 1), options.call);
    if (!block) {
      ticket.lane->count_failure();
      co_return block.error();
    }
    block->map_for(device);
    devices::copy_dense(view, block->bytes().data());
    ticket.lane->count_staged(ticket.bytes);
    view = {.data = block->bytes().data(),
            .shape = view.shape,
            .byte_strides = {},
            .owner = block->owner()};
  }
  const Result<PutResult> result = co_await device.put_tracked(std::move(view), put);
  if (!result) {
    ticket.lane->count_failure();
    co_return result.error();
  }
  // With zero copy the source is released when the buffer goes: that is not waited for.
  const Future<void> arrived = result->buffer.ready();
  const Future<void> over =
      options.use == SourceUse::kZeroCopy ? arrived : when_all(arrived, result->source_released);
  settle(std::move(ticket), over, &TransferStats::uploads, &TransferStats::bytes_up, executor);
  co_return result->buffer;
}

Task<HostArray> download_task(Ticket ticket, Device device, Buffer buffer, CallOptions options) {
  Result<ByteCredits::Credit> credit =
      co_await ticket.lane->credits().acquire(ticket.bytes, options);
  if (!credit) {
    ticket.lane->count_failure();
    co_return credit.error();
  }
  ticket.credit = std::move(*credit);
  Result<HostArray> array = co_await device.fetch(buffer, options);
  if (!array) {
    ticket.lane->count_failure();
    co_return array.error();
  }
  ticket.lane->count(&TransferStats::downloads, &TransferStats::bytes_down, ticket.bytes);
  co_return array;
}

Task<Buffer> copy_task(Ticket ticket, Buffer source, Device destination, CallOptions options,
                       Executor& executor) {
  Result<ByteCredits::Credit> credit =
      co_await ticket.lane->credits().acquire(ticket.bytes, options);
  if (!credit) {
    ticket.lane->count_failure();
    co_return credit.error();
  }
  ticket.credit = std::move(*credit);
  const Result<Buffer> copied = co_await destination.copy_from(source, options);
  if (!copied) {
    ticket.lane->count_failure();
    co_return copied.error();
  }
  settle(std::move(ticket), copied->ready(), &TransferStats::copies, &TransferStats::bytes_copied,
         executor);
  co_return *copied;
}

}  // namespace

TransferEngine::TransferEngine(const Environment& environment, TransferEngineOptions options)
    : environment_(environment), options_(std::move(options)) {
  MILLRACE_CHECK(options_.pool != nullptr, "an engine has a staging pool");
}

TransferEngine::~TransferEngine() = default;

std::shared_ptr<EngineLane> TransferEngine::lane(const Device& device) {
  MutexLock lock(mutex_);
  std::shared_ptr<EngineLane>& lane = lanes_[device.actor().get()];
  if (!lane)
    lane = std::make_shared<EngineLane>(options_.bytes_in_flight_per_device, *environment_.timers);
  return lane;
}

Future<Buffer> TransferEngine::upload(const Device& device, const HostView& view,
                                      const UploadOptions& options) {
  if (const Status valid = devices::check(view); !valid) return valid.error();
  if (options.use != SourceUse::kCopy && !view.owner) {
    return Error(ErrorCode::kInvalidArgument,
                 "uploading " + view.shape.to_string() +
                     " without a copy: the view names no owner that would keep the "
                     "bytes; give one, or let them be copied");
  }
  Scope::Hold hold = scope_.hold();
  if (!hold) return scope_.closed_error();
  Ticket ticket{lane(device), std::move(hold), {}, view.shape.size_bytes()};
  std::vector<std::int64_t> strides(view.byte_strides.begin(), view.byte_strides.end());
  Executor& compute = *environment_.compute;
  return spawn(compute, upload_task(std::move(ticket), device, view, std::move(strides), options,
                                    options_.pool, compute));
}

Future<HostArray> TransferEngine::download(const Device& device, const Buffer& buffer,
                                           const CallOptions& options) {
  Scope::Hold hold = scope_.hold();
  if (!hold) return scope_.closed_error();
  Ticket ticket{lane(device), std::move(hold), {}, buffer.shape().size_bytes()};
  return spawn(*environment_.compute, download_task(std::move(ticket), device, buffer, options));
}

Future<Buffer> TransferEngine::copy(const Buffer& source, const Device& destination,
                                    const CallOptions& options) {
  Scope::Hold hold = scope_.hold();
  if (!hold) return scope_.closed_error();
  Ticket ticket{lane(destination), std::move(hold), {}, source.shape().size_bytes()};
  Executor& compute = *environment_.compute;
  return spawn(compute, copy_task(std::move(ticket), source, destination, options, compute));
}

TransferStats TransferEngine::stats(const Device& device) const {
  MutexLock lock(mutex_);
  const auto found = lanes_.find(device.actor().get());
  return found == lanes_.end() ? TransferStats() : found->second->stats();
}

Future<void> TransferEngine::close() { return scope_.close(); }

}  // namespace millrace::transfer
