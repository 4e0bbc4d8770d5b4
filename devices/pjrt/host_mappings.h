// HostMappings: host memory that a plugin's devices read and write by themselves. A mapping ends
// once: with the last copy of its handle, or with the client's close, when nothing is under way any
// more. A handle may outlive the client. Internal to client_core.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "millrace/core/base/mutex.h"
#include "millrace/devices/buffer.h"
#include "millrace/devices/pjrt/call_gate.h"
#include "millrace/devices/pjrt/opened_client.h"

namespace millrace::devices::pjrt {

// Those of one client. Thread-safety: thread-safe.
class HostMappings {
 public:
  // events: the client's number (EventSource). The others outlive this.
  HostMappings(const OpenedClient& opened, CallGate& gate, std::uint64_t events)
      : opened_(opened), gate_(gate), events_(events) {}

  // Where some of the bytes are being unmapped, this waits for it, as mapping them would.
  // kAlreadyExists if others are mapped.
  Result<Owner> map(std::span<std::byte> bytes, Owner owner);
  bool any() const;
  void end_all();  // those that are left; blocks
  // The client was given up: what waits here need not go on.
  void wake();

 private:
  class Mapping;
  Status begin(const std::shared_ptr<Mapping>& mapping);
  std::shared_ptr<Mapping> any_overlapping(const Mapping& mapping) const MILLRACE_REQUIRES(mutex_);
  void erase(const Mapping& mapping);
  void unmap(Mapping& mapping);

  const OpenedClient& opened_;
  CallGate& gate_;
  const std::uint64_t events_;
  mutable Mutex mutex_;
  CondVar unmapped_;  // something was
  // What the plugin has mapped, or is about to, by its first byte.
  std::map<const std::byte*, std::shared_ptr<Mapping>> mapped_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::devices::pjrt
