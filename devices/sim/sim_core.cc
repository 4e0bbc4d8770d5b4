#include "millrace/devices/sim/sim_core.h"

#include <algorithm>
#include <cstdio>
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

void SimDevice::add_memory(std::int64_t bytes) {
  const std::int64_t now = bytes_in_use_.fetch_add(bytes) + bytes;
  std::int64_t peak = peak_bytes_.load();
  while (now > peak && !peak_bytes_.compare_exchange_weak(peak, now)) {
  }
}

MemoryStats SimDevice::memory() const {
  MemoryStats stats{.bytes_in_use = bytes_in_use_.load(), .peak_bytes_in_use = peak_bytes_.load()};
  if (limit_ != 0) stats.bytes_limit = limit_;
  return stats;
}

TimePoint SimDevice::end_of(TimePoint begin, Duration length) const {
  TimePoint end = begin + length;
  for (const Stall& stall : stalls) {  // in order of their time
    const TimePoint over = stall.at + stall.length;
    const bool hits = stall.at <= begin ? over > begin : stall.at < end;
    if (hits) end += over - std::max(stall.at, begin);
  }
  return end;
}

Duration SimDevice::scaled(Duration length, TimePoint begin) const {
  double factor = 1;
  for (const Slow& slow : slows) {
    if (slow.at <= begin) factor = slow.factor;
  }
  return Duration(static_cast<Duration::rep>(static_cast<double>(length.count()) * factor));
}

TimePoint SimDevice::reserve(Direction direction, TimePoint now, Duration length) {
  TimePoint& free = free_from[static_cast<std::size_t>(direction)];
  const TimePoint begin = std::max(now, free);
  free = end_of(begin, scaled(length, begin));
  return begin;
}

const Error* SimDevice::find(const std::vector<Nth>& faults, std::uint64_t nth) {
  for (const Nth& fault : faults) {
    if (fault.nth == nth) return &fault.error;
  }
  return nullptr;
}

SimQueued* SimDevice::candidate(bool in_order) const {
  if (running != nullptr) return nullptr;
  for (const Ref<SimQueued>& launch : queue) {
    if (launch->inputs_ready()) return launch.get();
    if (in_order) return nullptr;
  }
  return nullptr;
}

void SimDevice::erase(const SimQueued& launch) {
  if (running == &launch) running = nullptr;
  std::erase_if(queue, [&](const Ref<SimQueued>& queued) { return queued.get() == &launch; });
}

SimCore::SimCore(const SimOptions& opts) : options(opts), violation_(&end_process) {
  for (int i = 0; i < options.devices; ++i)
    devices_.push_back(std::make_unique<SimDevice>(DeviceId{i}, options.memory_bytes));
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
  violation += scope == nullptr ? "outside every device actor"
                                : "by the actor of " + name_of(scope->device());
  for (const DeviceId device : devices) violation += ", for " + name_of(device);
  violation_(violation);
}

void SimCore::note(SimEvent event) {
  if (!options.record_events) return;
  if (event.at == TimePoint{}) event.at = now();
  MutexLock lock(mutex);
  events_.push_back(std::move(event));
}

std::unexpected<Error> no_room(const SimDevice& device, const std::string& what) {
  return fail(ErrorCode::kResourceExhausted,
              "no memory for " + what + " on simulated " + name_of(device.id()));
}

}  // namespace millrace::devices::sim
