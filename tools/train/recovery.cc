#include "millrace/tools/train/recovery.h"

#include "millrace/core/combinators.h"

namespace millrace::train {
namespace {

using devices::Device;
using devices::DeviceId;

// The client knows first, its actor soon after.
bool has_failed(const Device& device) {
  const Future<void> failed = device.client().failed(device.id());
  return failed.valid() && failed.ready() && !failed.result();
}

}  // namespace

Task<std::vector<DeviceId>> restart_failed(std::vector<Device> devices, Environment environment,
                                           actors::RestartBudget* budget, CallOptions call) {
  std::vector<DeviceId> restarted;
  for (const Device& device : devices) {
    if (!has_failed(device)) continue;
    const std::string name = "device " + std::to_string(index(device.id()));
    if (!budget->take(environment.clock->now())) {
      Error error(ErrorCode::kUnavailable,
                  name + " was not restarted: the limit is " + budget->limit().to_string());
      co_return error;
    }
    const Future<void> failed = device.failed();
    static_cast<void>(co_await failed);
    const Future<void> restarting = with_options(device.restart(), call, *environment.timers);
    if (Status status = co_await restarting; !status) co_return status.error();
    restarted.push_back(device.id());
  }
  co_return restarted;
}

}  // namespace millrace::train
