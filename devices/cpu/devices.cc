#include "millrace/devices/cpu/devices.h"

#include <string>
#include <utility>

namespace millrace::devices::cpu {

CpuDevices::CpuDevices(Client& of, CpuClientOptions given) : client(of), options(std::move(given)) {
  for (std::size_t i = 0; i < options.threads.size(); ++i) {
    all.push_back(std::make_unique<CpuDevice>(
        client, scope, DeviceId{static_cast<std::int32_t>(i)}, options.threads[i],
        options.memory_bytes, *options.clock,
        DeviceTrace{options.trace, options.trace_switch, options.lane_suffix}));
  }
}

void ProcessLaunches::add(std::shared_ptr<ProcessLaunch> launch) {
  MutexLock lock(mutex_);
  const ProcessLaunch* const key = launch.get();
  all_.emplace(key, std::move(launch));
}

void ProcessLaunches::erase(const ProcessLaunch* launch) {
  MutexLock lock(mutex_);
  all_.erase(launch);
}

void ProcessLaunches::interrupt() {
  std::map<const ProcessLaunch*, std::shared_ptr<ProcessLaunch>> now;
  {
    MutexLock lock(mutex_);
    now = all_;
  }
  for (const auto& [key, launch] : now) launch->interrupt();
}

Result<CpuDevice*> CpuDevices::find(DeviceId device, int memory) const {
  const auto i = static_cast<std::size_t>(index(device));
  if (index(device) < 0 || i >= all.size()) {
    return fail(ErrorCode::kInvalidArgument, "there is no CPU device " +
                                                 std::to_string(index(device)) + " (of " +
                                                 std::to_string(all.size()) + ")");
  }
  if (memory != -1 && memory != index(device)) {
    return fail(ErrorCode::kInvalidArgument, "CPU device " + std::to_string(index(device)) +
                                                 " has no memory " + std::to_string(memory));
  }
  return all[i].get();
}

}  // namespace millrace::devices::cpu
