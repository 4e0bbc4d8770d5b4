#include "millrace/tools/api/runtime_options.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "millrace/core/base/cores.h"
#include "millrace/core/observe/log.h"
#include "millrace/devices/cpu/kernels/base/isa_level.h"

namespace millrace {

namespace {

// Variables of PyTorch/XLA that say how many devices, or which, to take. (libtpu reads
// TPU_VISIBLE_CHIPS and TPU_PROCESS_BOUNDS itself.)
Status read_foreign(const devices::Variables& variables, RuntimeOptions& options) {
  if (!variables("XRT_TPU_CONFIG").value_or("").empty()) {
    return fail(ErrorCode::kUnimplemented,
                "XRT_TPU_CONFIG is set, which is XRT's: PJRT_DEVICE=TPU takes the chips of this "
                "host, and TPU_VISIBLE_CHIPS some of them; unset XRT_TPU_CONFIG");
  }
  MILLRACE_TRY(const std::optional<int> gpus,
               devices::read_count(variables, "GPU_NUM_DEVICES", 1, RuntimeOptions::kMostDevices));
  if (!gpus) return {};
  if (options.device.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "GPU_NUM_DEVICES is set, but PJRT_DEVICE is not: set that to CUDA, or to the name "
                "of another plugin, or unset GPU_NUM_DEVICES");
  }
  if (devices::lower(options.device) != "cpu") options.devices = gpus;
  return {};
}

}  // namespace

int RuntimeOptions::most_threads() { return millrace::most_threads(); }

Result<RuntimeOptions> RuntimeOptions::from_env(devices::Variables variables) {
  RuntimeOptions options;
  options.device = variables("PJRT_DEVICE").value_or("");
  MILLRACE_TRY_STATUS(read_foreign(variables, options));
  // The backend reads it where it counts; a bad one is reported in any case.
  MILLRACE_TRY([[maybe_unused]] const std::optional<int> devices,
               devices::read_count(variables, "CPU_NUM_DEVICES", 1, kMostDevices));
  MILLRACE_TRY(const std::optional<int> threads,
               devices::read_count(variables, "MILLRACE_THREADS", 1, most_threads()));
  // The kernels read it by themselves.
  MILLRACE_TRY_STATUS(devices::cpu::check_isa_name(variables("MILLRACE_CPU_ISA").value_or("")));
  // core/observe/log reads it by itself, at the first line that is logged: too late to report a
  // slip.
  MILLRACE_TRY_STATUS(check_log_levels(variables("MILLRACE_LOG").value_or("")));
  options.threads = threads.value_or(0);
  options.trace_file = variables("MILLRACE_TRACE").value_or("");
  if (const std::string cache = variables("MILLRACE_COMPILATION_CACHE").value_or("");
      !cache.empty()) {
    auto parsed = devices::CompilationCacheOptions::parse(cache);
    if (!parsed) return std::unexpected(parsed.error().with_context("MILLRACE_COMPILATION_CACHE"));
    options.compilation_cache = *std::move(parsed);
  }
  MILLRACE_TRY(const std::optional<JobPlace> place, job_place(variables));
  if (place) options.process = place->process;
  MILLRACE_TRY(options.job, net::job_options(variables, place));
  options.variables = std::move(variables);
  return options;
}

Status RuntimeOptions::check() const {
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  const auto check = [](const char* name, std::int64_t value, std::int64_t least,
                        std::int64_t most) -> Status {
    if (value >= least && value <= most) return {};
    const bool low = value < least;
    return fail(ErrorCode::kInvalidArgument, "RuntimeOptions::" + std::string(name) + " is " +
                                                 std::to_string(value) + ", but must be at " +
                                                 (low ? "least " : "most ") +
                                                 std::to_string(low ? least : most));
  };
  MILLRACE_TRY_STATUS(check("devices", devices.value_or(1), 1, kMostDevices));
  MILLRACE_TRY_STATUS(check("threads", threads, 0, most_threads()));
  MILLRACE_TRY_STATUS(check("blocking_threads", blocking_threads, 1, most_threads()));
  MILLRACE_TRY_STATUS(check("limits.launches", limits.launches, 1, kNoLimit));
  MILLRACE_TRY_STATUS(check("close_timeout", close_timeout.count(), 0, kNoLimit));
  if (std::ranges::find(more_devices, "") != more_devices.end()) {
    return fail(ErrorCode::kInvalidArgument,
                "RuntimeOptions::more_devices has an empty name; name a kind of device (\"cpu\")");
  }
  // The kernels read the process's own variable, whatever made these options.
  const char* const isa = std::getenv("MILLRACE_CPU_ISA");
  return devices::cpu::check_isa_name(isa == nullptr ? "" : isa);
}

Result<KnownBackends> find_backends(const RuntimeOptions& options) {
  const devices::Variables none = [](const std::string&) { return std::nullopt; };
  devices::pjrt::PluginList found =
      devices::pjrt::find_plugins(options.plugins, options.variables ? options.variables : none);
  KnownBackends known;
  known.problems = std::move(found.problems);
  for (const devices::pjrt::PluginEntry& plugin : found.entries) {
    const bool given = plugin.origin == devices::pjrt::kGivenPlugin;
    const Status added = known.registry.add(plugin.name, make_factory(plugin), plugin.priority,
                                            given ? devices::pjrt::kGivenPlugin : "");
    if (added) {
      known.plugins.emplace(devices::lower(plugin.name), plugin);
      continue;
    }
    Error error = added.error()
                      .with_context(plugin.origin + " names a plugin")
                      .with_detail(devices::pjrt::PluginSource{plugin.origin});
    if (given) return std::unexpected(std::move(error));
    known.problems.push_back(std::move(error));
  }
  return known;
}

int compute_threads(const RuntimeOptions& options) {
  return options.threads > 0 ? options.threads : usable_cores();
}

}  // namespace millrace
