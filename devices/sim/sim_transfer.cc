#include "millrace/devices/sim/sim_transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "millrace/devices/host_view.h"
#include "millrace/devices/sim/sim_client.h"

namespace millrace::devices::sim {

SimTransfer::SimTransfer(SimClient& client, SimDevice& device, Scope::Hold hold)
    : client_(client),
      device_(device),
      hold_(std::move(hold)),
      number_(client.next_number_.fetch_add(1)) {}

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
  source_ready_ = from->ready();
  add_ref();
  source_ready_.cell()->add_waiter(this);
}

void SimTransfer::on_complete(AsyncValue& value) noexcept {
  if (const Error* error = value.error()) {
    error_ = *error;
    end();
  } else {
    reserve();
  }
  release();
}

void SimTransfer::reserve() {
  const SimOptions& options = client_.options_;
  length_ = options.transfer_latency;
  if (options.transfer_bytes_per_second > 0) {
    const double seconds = static_cast<double>(size_) / options.transfer_bytes_per_second;
    length_ += Duration(static_cast<Duration::rep>(seconds * 1e9));
  }
  {
    MutexLock lock(client_.mutex_);
    const bool out = begin_kind_ == SimEvent::Kind::kFetchBegin;
    begin_ = device_.reserve(out ? SimDevice::Lane::kOut : SimDevice::Lane::kIn,
                             options.timers->clock().now(), length_);
    length_ = device_.scaled(length_, begin_);
  }
  client_.note({.kind = begin_kind_, .device = device_.id(), .at = begin_, .number = number_});
  end();
}

void SimTransfer::end() {
  const Ref<SimTransfer> self = Ref<SimTransfer>::share(this);
  TimePoint due;
  {
    MutexLock lock(client_.mutex_);
    due = device_.end_of(begin_, length_);
    if (device_.failure && !error_) error_ = device_.failure;
  }
  if (!error_ && due > client_.options_.timers->clock().now()) {
    client_.options_.timers->schedule(due, [self] { self->end(); });
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
