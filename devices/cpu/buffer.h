// CpuBuffer: the handle on an array of a CPU device that users hold.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "millrace/core/base/mutex.h"
#include "millrace/devices/client.h"
#include "millrace/devices/cpu/array.h"
#include "millrace/devices/cpu/device.h"

namespace millrace::devices::cpu {

// Thread-safety: thread-safe.
class CpuBuffer final : public BufferBody {
 public:
  CpuBuffer(CpuDevice& device, const Shape& shape, Ref<CpuArray> array)
      : device_(device), shape_(shape), life_(device.life()), array_(std::move(array)) {}

  const Shape& shape() const override { return shape_; }
  Client& client() const override { return device_.client(); }
  DeviceId device() const override { return device_.id(); }
  std::size_t size_bytes() const override { return shape_.size_bytes(); }
  Future<void> ready() const override;
  Future<void> copy_to_host(std::span<std::byte> destination, Owner keep_alive) override;
  Result<HostAccess> host_access() override;
  void remove() override { take(); }
  bool removed() const override { return !array(); }

  // Empty once removed, and when its device was restarted.
  Ref<CpuArray> array() const;
  // Removes it and gives the array to the caller.
  Ref<CpuArray> take();

 private:
  std::unexpected<Error> removed_error(std::string_view what) const;

  CpuDevice& device_;
  const Shape shape_;
  const std::uint32_t life_;  // of its device
  mutable Mutex mutex_;
  Ref<CpuArray> array_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::devices::cpu
