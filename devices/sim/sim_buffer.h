// SimBuffer: an array of a simulated device. SimTransfer: bytes on their way to, between or from
// simulated devices. Internal to sim_client.h.
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "millrace/devices/sim/sim_core.h"

namespace millrace::devices::sim {

// The bytes of a buffer, shared by the uses that are under way.
class SimBytes final : public RefCounted, public Pooled {
 public:
  using Pooled::operator new;
  using Pooled::operator delete;

  explicit SimBytes(std::size_t size)
      : data_(static_cast<std::byte*>(pool_allocate(size + 1))), size_(size) {
    std::memset(data_, 0, size);
  }
  // In place, in host memory that is lent; released completes when the last use has ended.
  SimBytes(const void* data, std::size_t size, Owner owner)
      : data_(static_cast<std::byte*>(const_cast<void*>(data))),
        size_(size),
        owner_(std::move(owner)),
        released_(std::in_place) {}
  std::span<std::byte> span() const { return {data_, size_}; }
  Future<void> released() { return released_->future(); }  // of foreign bytes

 private:
  ~SimBytes() override {
    owner_ = nullptr;
    if (released_) {
      released_->set_value();
    } else {
      pool_free(data_, size_ + 1);
    }
  }
  std::byte* data_;
  std::size_t size_;
  Owner owner_;
  std::optional<Promise<void>> released_;
};

// A future whose error another one has too (a launch, of its outputs): it need not be looked at.
class QuietCell final : public Cell<void> {
 public:
  QuietCell() { mark_observed(); }
};

// Thread-safety: thread-safe.
class SimBuffer final : public BufferBody {
 public:
  SimBuffer(SimCore& client, SimDevice& device, const Shape& shape, Ref<SimBytes> bytes);

  const Shape& shape() const override { return shape_; }
  Client& client() const override { return client_; }
  DeviceId device() const override { return device_.id(); }
  std::size_t size_bytes() const override { return shape_.size_bytes(); }
  Future<void> ready() const override;
  Future<void> copy_to_host(std::span<std::byte> destination, Owner keep_alive) override;
  Result<HostAccess> host_access() override;
  void remove() override { donate(); }
  bool removed() const override;

  // As ready(), for a launch that took it before it was donated.
  Future<void> written() const { return Future<void>(Ref<Cell<void>>(ready_)); }
  // Removes it for a donation; false if that has happened before.
  bool donate();
  // Empty once removed, or where the client keeps no bytes.
  Ref<SimBytes> bytes() const;
  void complete(Status status) { ready_->try_set(std::move(status)); }

 private:
  ~SimBuffer() override;

  SimCore& client_;
  SimDevice& device_;
  const Shape shape_;
  const std::uint32_t life_;  // of its device
  const Ref<QuietCell> ready_ = make_ref<QuietCell>();
  std::atomic<bool> removed_{false};
  mutable Mutex mutex_;
  Ref<SimBytes> bytes_ MILLRACE_GUARDED_BY(mutex_);
};

// Empty where the client keeps no bytes.
Ref<SimBytes> make_bytes(const SimOptions& options, const Shape& shape);

// Life: waits for its source, takes its turn in the lane (one at a time per device and direction),
// ends. Owned by what will call it next.
class SimTransfer final : public RefCounted, public Pooled {
 public:
  using Pooled::operator new;
  using Pooled::operator delete;

  SimTransfer(SimCore& client, SimDevice& device, Scope::Hold hold);

  void put(const HostView& view, Ref<SimBuffer> to, std::optional<Error> scripted);
  void copy(Ref<SimBuffer> from, Ref<SimBuffer> to);
  Future<void> fetch(Ref<SimBuffer> from, std::span<std::byte> to, Owner keep_alive);
  // The end of a put or a fetch.
  Future<void> done() const { return Future<void>(Ref<Cell<void>>(done_)); }

 private:
  void wait_for_source(Ref<SimBuffer> from);
  void reserve();
  void end();
  Status move_bytes();

  SimCore& client_;
  SimDevice& device_;
  Scope::Hold hold_;
  SimEvent::Kind begin_kind_{};
  SimEvent::Kind end_kind_{};
  std::uint64_t number_ = 0;
  std::size_t size_ = 0;
  TimePoint begin_{};
  Duration length_{};
  HostView view_;
  std::array<std::int64_t, kMaxRank> strides_{};
  Ref<SimBytes> from_;
  Ref<SimBuffer> to_;
  std::span<std::byte> host_;
  Owner keep_alive_;
  std::optional<Error> error_;
  const Ref<QuietCell> done_ = make_ref<QuietCell>();
};

}  // namespace millrace::devices::sim
