// PjrtBuffer: an array that a plugin holds. Internal to client.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "millrace/core/base/mutex.h"
#include "millrace/devices/client.h"
#include "millrace/devices/pjrt/client_core.h"
#include "millrace/devices/pjrt/plugin.h"

namespace millrace::devices::pjrt {

// Owns a PJRT_Buffer, destroyed with the last handle. Thread-safety: thread-safe, as PJRT's buffers
// are.
class PjrtBuffer final : public BufferBody {
 public:
  // laid_out: it may be in another layout than row-major, so launches ask in which. written: when
  // its bytes are there, where that is known; else the plugin is asked.
  PjrtBuffer(ClientCore& client, DeviceId device, const Shape& shape, abi::Buffer* buffer,
             bool laid_out = false, const Future<void>& written = {});

  const Shape& shape() const override { return shape_; }
  Client& client() const override { return client_; }
  DeviceId device() const override { return device_; }
  std::size_t size_bytes() const override { return shape_.size_bytes(); }
  // kUnimplemented where the plugin does not report it.
  Result<DeviceLayout> layout() const override;
  // On the caller's thread, whichever it is, without a lock: PJRT_Buffer_ReadyEvent,
  // PJRT_Event_IsReady and PJRT_Event_OnReady, which ask and do not wait. A plugin that waits in
  // one of them all the same holds up its caller until it returns, and nothing ends that. They are
  // not handed over to another thread, because everything that is put and launched is asked: a
  // wake-up for each costs more than a small launch, and what is ready would not be so at once.
  Future<void> ready() const override;
  Future<void> copy_to_host(std::span<std::byte> destination, Owner keep_alive) override;
  Result<HostAccess> host_access() override;
  void remove() override;
  bool removed() const override { return state_.load() != State::kThere; }

  abi::Buffer* get() const { return buffer_; }
  bool laid_out() const { return laid_out_; }
  // For a launch that donates it: false if it was removed before.
  bool begin_donation() {
    State there = State::kThere;
    return state_.compare_exchange_strong(there, State::kGiven);
  }
  // The launch was refused: nothing was donated.
  void undo_donation();

 private:
  enum class State : std::uint8_t {
    kThere,         // -> kGiven, kRemoved
    kGiven,         // a launch has it, for good unless it is refused -> kThere, kGivenRemoved
    kGivenRemoved,  // the same, and remove() has come since -> kRemoved
    kRemoved,
  };

  ~PjrtBuffer() override;
  void delete_bytes();  // kRemoved
  // Looks in place, which XLA's C API counts without a lock: they begin and end one at a time.
  Status begin_reading();
  void end_reading();
  Error removed_error(std::string_view use) const;
  // error, of what was to be done with the buffer.
  Error while_doing(std::string_view what, const Error& error) const;

  ClientCore& client_;
  const StripedScope::Hold use_ = client_.use();
  const DeviceId device_;
  const Shape shape_;
  abi::Buffer* const buffer_;
  const bool laid_out_;
  mutable std::atomic<bool> written_;  // known to be
  mutable std::atomic<bool> asked_;    // ready_ is valid
  std::atomic<State> state_{State::kThere};
  Mutex readers_mutex_;
  mutable Mutex mutex_;
  // Valid once a caller had to wait.
  mutable Future<void> ready_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::devices::pjrt
