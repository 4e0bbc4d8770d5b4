// SimCore: what the buffers and launches of simulated devices share with their client. Internal to
// sim_client.h. Read next: sim_device.h (when things happen).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/async/scope.h"
#include "millrace/devices/client.h"
#include "millrace/devices/sim/sim_device.h"
#include "millrace/devices/sim/sim_options.h"

namespace millrace::devices::sim {

// kResourceExhausted: the device has no room for `what`.
std::unexpected<Error> no_room(const SimDevice& device, const std::string& what);

// Thread-safety: thread-safe.
class SimCore : public Client {
 public:
  Result<SimDevice*> find(DeviceId device) const;
  // A violation, unless the actor of one of the devices has allowed the call.
  void check_scope(std::span<const DeviceId> devices, std::string_view call) const;
  void note(SimEvent event);
  bool has_room(const SimDevice& device, std::size_t bytes) const {
    return device.has_room(bytes, options.memory_bytes);
  }
  TimePoint now() const { return options.timers->clock().now(); }

  const SimOptions options;
  std::atomic<std::int64_t> buffers{0};  // that live
  std::atomic<std::uint64_t> removed_uses{0};
  std::atomic<std::uint64_t> next_number{1};
  // For all devices: what a launch that spans some of them does is one step.
  mutable Mutex mutex;
  Scope scope{"the simulated client"};  // held by what is in flight

 protected:
  explicit SimCore(const SimOptions& opts);

  std::vector<std::unique_ptr<SimDevice>> devices_;
  std::function<void(const std::string&)> violation_;
  std::vector<SimEvent> events_ MILLRACE_GUARDED_BY(mutex);
};

}  // namespace millrace::devices::sim
