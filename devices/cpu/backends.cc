#include "millrace/devices/cpu/backends.h"

#include <string>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/devices/cpu/client.h"
#include "millrace/devices/cpu/compile/compile.h"

namespace millrace::devices::cpu {
namespace {

constexpr int kMostCpuDevices = 1024;

Result<std::unique_ptr<Client>> make_cpu(const ClientOptions& options) {
  MILLRACE_TRY(const std::optional<int> from_variable,
               read_count(options.variables, "CPU_NUM_DEVICES", 1, kMostCpuDevices));
  const int devices = options.devices.value_or(from_variable.value_or(1));
  if (devices < 1 || devices > kMostCpuDevices) {
    return fail(ErrorCode::kInvalidArgument, "cannot make " + std::to_string(devices) +
                                                 " CPU devices: from 1 to " +
                                                 std::to_string(kMostCpuDevices) + " are possible");
  }
  if (!options.threads) {
    return fail(ErrorCode::kInvalidArgument, "CPU devices need threads (ClientOptions::threads)");
  }
  CpuClientOptions made{.clock = options.environment.clock,
                        .trace = options.trace,
                        .lane_suffix = options.lane_suffix,
                        .memory_bytes = options.memory_bytes,
                        .inline_time = options.inline_time,
                        .compile = &compile,
                        .processes = options.processes};
  for (int i = 0; i < devices; ++i) made.threads.push_back(options.threads(i, devices));
  return std::make_unique<CpuClient>(std::move(made));
}

}  // namespace

ClientRegistry backends() {
  ClientRegistry registry;
  const Status added = registry.add("cpu", &make_cpu, 0);
  MILLRACE_CHECK(added.has_value(), "an empty registry takes any name");
  return registry;
}

}  // namespace millrace::devices::cpu
