#include "millrace/devices/sim/sim_buffer.h"

#include <algorithm>
#include <string>

#include "millrace/devices/device_scope.h"

namespace millrace::devices::sim {
namespace {

std::unexpected<Error> removed_error(const SimBuffer& buffer, const char* what) {
  return fail(ErrorCode::kFailedPrecondition, std::string(what) + " of " +
                                                  buffer.shape().to_string() + " on " +
                                                  name_of(buffer.device()) +
                                                  ": the buffer was donated or removed before, or "
                                                  "lost with its device");
}

}  // namespace

SimBuffer::SimBuffer(SimCore& client, SimDevice& device, const Shape& shape, Ref<SimBytes> bytes)
    : client_(client),
      device_(device),
      shape_(shape),
      life_(device_.life()),
      bytes_(std::move(bytes)) {
  client_.buffers.fetch_add(1);
  device_.add_memory(static_cast<std::int64_t>(size_bytes()));
}

SimBuffer::~SimBuffer() {
  remove();
  client_.buffers.fetch_sub(1);
}

Future<void> SimBuffer::ready() const {
  if (removed()) return removed_error(*this, "the ready event");
  return Future<void>(Ref<Cell<void>>(ready_));
}

bool SimBuffer::removed() const { return removed_.load() || life_ != device_.life(); }

Ref<SimBytes> SimBuffer::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

bool SimBuffer::donate() {
  if (removed_.exchange(true)) return false;
  device_.add_memory(-static_cast<std::int64_t>(size_bytes()));
  Ref<SimBytes> bytes;  // goes after the lock
  MutexLock lock(mutex_);
  std::swap(bytes, bytes_);
  return true;
}

Future<void> SimBuffer::copy_to_host(std::span<std::byte> destination, Owner keep_alive) {
  if (DeviceScope::current() == nullptr) client_.check_scope({}, "copy_to_host");
  if (removed()) {
    client_.removed_uses.fetch_add(1);
    return removed_error(*this, "a copy to the host");
  }
  if (destination.size() != size_bytes()) {
    return fail(ErrorCode::kInvalidArgument, "a copy to the host of " + shape_.to_string() +
                                                 " into " + std::to_string(destination.size()) +
                                                 " bytes");
  }
  Scope::Hold hold = client_.scope.hold();
  if (!hold) return client_.scope.closed_error();
  auto transfer = make_ref<SimTransfer>(client_, device_, std::move(hold));
  return transfer->fetch(Ref<SimBuffer>::share(this), destination, std::move(keep_alive));
}

Result<HostAccess> SimBuffer::host_access() {
  if (!client_.options.host_access || !client_.options.keep_bytes) {
    // Met in every fetch, so it is made once.
    static const Error out_of_sight(ErrorCode::kUnimplemented,
                                    "this simulated device's memory is out of the host's sight");
    return std::unexpected(out_of_sight);
  }
  const Ref<SimBytes> bytes = this->bytes();
  if (!bytes) return removed_error(*this, "host access");
  if (!ready_->complete()) {
    return fail(ErrorCode::kFailedPrecondition,
                "host access of " + shape_.to_string() + " before it is ready");
  }
  {
    MutexLock lock(client_.mutex);
    if (device_.failure) return std::unexpected(*device_.failure);
  }
  Owner owner(bytes->span().data(), [bytes](const void*) {}, PoolAllocator<std::byte>());
  return HostAccess{bytes->span(), std::move(owner)};
}

Ref<SimBytes> make_bytes(const SimOptions& options, const Shape& shape) {
  return options.keep_bytes ? make_ref<SimBytes>(shape.size_bytes()) : nullptr;
}

SimTransfer::SimTransfer(SimCore& client, SimDevice& device, Scope::Hold hold)
    : client_(client),
      device_(device),
      hold_(std::move(hold)),
      number_(client.next_number.fetch_add(1)) {}

void SimTransfer::put(const HostView& view, Ref<SimBuffer> to, std::optional<Error> scripted) {
  begin_kind_ = SimEvent::Kind::kPutBegin;
  end_kind_ = SimEvent::Kind::kPutEnd;
  size_ = view.shape.size_bytes();
  view_ = view;
  std::ranges::copy(view.byte_strides, strides_.begin());
  view_.byte_strides = {strides_.data(), view.byte_strides.size()};
  to_ = std::move(to);
  error_ = std::move(scripted);
  reserve();
}

void SimTransfer::copy(Ref<SimBuffer> from, Ref<SimBuffer> to) {
  begin_kind_ = SimEvent::Kind::kCopyBegin;
  end_kind_ = SimEvent::Kind::kCopyEnd;
  to_ = std::move(to);
  wait_for_source(std::move(from));
}

Future<void> SimTransfer::fetch(Ref<SimBuffer> from, std::span<std::byte> to, Owner keep_alive) {
  begin_kind_ = SimEvent::Kind::kFetchBegin;
  end_kind_ = SimEvent::Kind::kFetchEnd;
  host_ = to;
  keep_alive_ = std::move(keep_alive);
  Future<void> future = done();
  wait_for_source(std::move(from));
  return future;
}

void SimTransfer::wait_for_source(Ref<SimBuffer> from) {
  size_ = from->size_bytes();
  from_ = from->bytes();
  from->ready()
      .then(inline_executor(),
            [self = Ref<SimTransfer>::share(this)](const Status& ready) {
              if (ready) return self->reserve();
              self->error_ = ready.error();
              self->end();
            })
      .ignore();
}

void SimTransfer::reserve() {
  const SimOptions& options = client_.options;
  length_ = options.transfer_latency;
  if (options.transfer_bytes_per_second > 0) {
    const double seconds = static_cast<double>(size_) / options.transfer_bytes_per_second;
    length_ += Duration(static_cast<Duration::rep>(seconds * 1e9));
  }
  {
    MutexLock lock(client_.mutex);
    const bool out = begin_kind_ == SimEvent::Kind::kFetchBegin;
    begin_ = device_.reserve(out ? SimDevice::Direction::kOut : SimDevice::Direction::kIn,
                             client_.now(), length_);
    length_ = device_.scaled(length_, begin_);
  }
  client_.note({.kind = begin_kind_, .device = device_.id(), .at = begin_, .number = number_});
  end();
}

void SimTransfer::end() {
  const Ref<SimTransfer> self = Ref<SimTransfer>::share(this);
  TimePoint due;
  {
    MutexLock lock(client_.mutex);
    due = device_.end_of(begin_, length_);
    if (device_.failure && !error_) error_ = device_.failure;
  }
  if (!error_ && due > client_.now()) {
    client_.options.timers->schedule(due, [self] { self->end(); });
    return;
  }
  const Status moved = move_bytes();
  client_.note({.kind = end_kind_, .device = device_.id(), .number = number_});
  from_ = nullptr;
  view_.owner = nullptr;
  keep_alive_ = nullptr;
  if (to_) std::exchange(to_, {})->complete(moved);
  done_->try_set(end_kind_ == SimEvent::Kind::kPutEnd ? Status() : moved);
  hold_.reset();
}

// The bytes move when the time is over, so that a source that is reused too early shows.
Status SimTransfer::move_bytes() {
  if (error_) return std::unexpected(*error_);
  const Ref<SimBytes> to = to_ ? to_->bytes() : nullptr;
  if (view_.data != nullptr) {
    if (to) copy_dense(view_, to->span().data());
  } else if (from_) {
    const std::span<std::byte> target = to ? to->span() : host_;
    if (!target.empty()) std::memcpy(target.data(), from_->span().data(), target.size());
  }
  return {};
}

}  // namespace millrace::devices::sim
