// SimBuffer: an array of a simulated device. Internal to sim_client.h.
#pragma once

#include <atomic>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "millrace/core/mutex.h"
#include "millrace/devices/client.h"

namespace millrace::devices::sim {

class SimClient;

// The bytes of a buffer, shared by the uses that are under way.
class SimBytes final : public RefCounted, public Pooled {
 public:
  using Pooled::operator new;
  using Pooled::operator delete;

  explicit SimBytes(std::size_t size)
      : data_(static_cast<std::byte*>(pool_allocate(size + 1))), size_(size) {
    std::memset(data_, 0, size);
  }
  // In place, in host memory of somebody else; released completes when the last use has ended.
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

// A future of whose error somebody else tells too (a launch of its outputs): nobody need look at
// it.
class QuietCell final : public Cell<void> {
 public:
  QuietCell() { mark_observed(); }
};

// Thread-safety: thread-safe.
class SimBuffer final : public BufferBody {
 public:
  SimBuffer(SimClient& client, DeviceId device, const Shape& shape, Ref<SimBytes> bytes);

  const Shape& shape() const override { return shape_; }
  Client& client() const override;
  DeviceId device() const override { return device_; }
  std::size_t size_bytes() const override { return shape_.size_bytes(); }
  Future<void> ready() const override;
  Future<void> copy_to_host(std::span<std::byte> destination, Owner keep_alive) override;
  Result<HostAccess> host_access() override;
  void remove() override;
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

  SimClient& client_;
  const DeviceId device_;
  const Shape shape_;
  const std::uint32_t life_;  // of its device
  const Ref<QuietCell> ready_ = make_ref<QuietCell>();
  std::atomic<bool> removed_{false};
  mutable Mutex mutex_;
  Ref<SimBytes> bytes_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::devices::sim
