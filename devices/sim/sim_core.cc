#include "millrace/devices/sim/sim_core.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/devices/device_scope.h"

namespace millrace::devices::sim {
namespace {

void end_process(const std::string& violation) {
  std::fprintf(stderr, "millrace: %s\n", violation.c_str());
  check_failed("call inside the device's actor",
               "a simulated device was called from outside its actor");
}

}  // namespace

SimCore::SimCore(const SimOptions& opts) : options(opts), violation_(&end_process) {
  for (int i = 0; i < options.devices; ++i)
    devices_.push_back(std::make_unique<SimDevice>(DeviceId{i}));
}

Result<SimDevice*> SimCore::find(DeviceId device) const {
  const int i = index(device);
  if (i >= 0 && i < options.devices) return devices_[static_cast<std::size_t>(i)].get();
  return fail(ErrorCode::kInvalidArgument, "there is no simulated device " + std::to_string(i) +
                                               " (of " + std::to_string(options.devices) + ")");
}

void SimCore::check_scope(std::span<const DeviceId> devices, std::string_view call) const {
  if (!options.check_scope) return;
  const DeviceScope* scope = DeviceScope::current();
  if (scope != nullptr && &scope->client() == this &&
      std::ranges::find(devices, scope->device()) != devices.end()) {
    return;
  }
  std::string violation = std::string(call) + " was called ";
  violation += scope == nullptr
                   ? "outside every device actor"
                   : "by the actor of device " + std::to_string(index(scope->device()));
  for (const DeviceId device : devices)
    violation += ", for device " + std::to_string(index(device));
  violation_(violation);
}

void SimCore::note(SimEvent event) {
  if (!options.record_events) return;
  if (event.at == TimePoint{}) event.at = now();
  MutexLock lock(mutex);
  events_.push_back(std::move(event));
}

std::unexpected<Error> no_room(const SimDevice& device, const std::string& what) {
  return fail(ErrorCode::kResourceExhausted, "no memory for " + what + " on simulated device " +
                                                 std::to_string(index(device.id())));
}

}  // namespace millrace::devices::sim
