// The kinds of device of a Runtime: how each is opened, and which of them a device is of.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "millrace/core/async/blocking.h"
#include "millrace/core/observe/log.h"
#include "millrace/devices/device_actor.h"
#include "millrace/devices/registry.h"
#include "millrace/tools/api/installed_plugins.h"
#include "millrace/tools/api/runtime_core.h"

namespace millrace {
namespace {

// A program of the CPU device that takes less runs on the thread that launches it: two wake-ups
// would cost more (0.07 to 0.11 ms, devices/operation.h).
constexpr Duration kInlineTime = std::chrono::microseconds(50);

}  // namespace

const Runtime::Core::Kind* Runtime::Core::kind_of(const devices::Device& device) const {
  if (!device) return nullptr;
  for (const std::unique_ptr<Kind>& kind : kinds) {
    if (kind->client.get() == &device.client()) return kind.get();
  }
  return nullptr;
}

bool Runtime::Core::calls_may_block() const {
  return std::ranges::any_of(
      kinds, [](const auto& kind) { return kind->client && kind->client->calls_may_block(); });
}

std::string Runtime::Core::calls_under_way() const {
  std::string all;
  for (const std::unique_ptr<Kind>& kind : kinds) {
    const std::string calls = kind->client ? kind->client->calls_under_way() : "";
    if (!calls.empty()) all += (all.empty() ? "" : "; ") + calls;
  }
  return all;
}

// The threads that run programs are shared out over the devices that compute on the host, at least
// one each: a device without a thread would stand still.
devices::DeviceThreads Runtime::Core::make_device_threads(int i, int n) {
  RuntimeThreads* const shared = options.shared_threads.get();
  const int all = shared != nullptr ? shared->threads() : compute_threads(options);
  const int mine = std::max(1, all / n + (i < all % n ? 1 : 0));
  device_pools.push_back(shared != nullptr ? make_executor_on(shared->programs(), mine)
                                           : make_executor(default_compute_backend(), mine,
                                                           "millrace-dev" + std::to_string(i)));
  return {.executor = device_pools.back().get(), .parallel = &device_pools.back()->parallel()};
}

Status Runtime::Core::make_client(const KnownBackends& known, const WantedKind& wanted,
                                  const CallOptions& call, Kind& kind) {
  const devices::Variables none = [](const std::string&) { return std::nullopt; };
  devices::ClientOptions client_options;
  client_options.environment = environment;
  client_options.variables = options.variables ? options.variables : none;
  client_options.devices = wanted.devices;
  client_options.threads = [this](int i, int n) { return make_device_threads(i, n); };
  client_options.call = call;
  client_options.opener = [this] {
    if (!opener) opener = make_executor(ExecutorBackend::kThreads, 1, "millrace-open");
    return opener.get();
  };
  client_options.frees = [this, &kind] {
    if (kind.frees) frees_before.push_back(std::move(kind.frees));
    kind.frees = make_executor(ExecutorBackend::kThreads, 1, "millrace-free");
    return kind.frees.get();
  };
  client_options.inline_time = kInlineTime;
  client_options.trace = trace.get();
  client_options.lane_suffix = wanted.lane_suffix;
  client_options.profile = !options.trace_file.empty();
  client_options.process = options.process;
  client_options.processes = [this] { return program_links(); };
  client_options.store = options.store;
  if (client_options.store == nullptr && job) client_options.store = &job->job().store();
  client_options.close_timeout = quarter() * 2 / 3;
  static_assert(devices::longest_close(Duration(2)) == Duration(3), "a quarter is all it gets");
  const devices::Variables device =
      [&wanted](const std::string& variable) -> std::optional<std::string> {
    if (variable != "PJRT_DEVICE" || wanted.name.empty()) return std::nullopt;
    return wanted.name;
  };
  Result<devices::OpenedClient> opened =
      known.registry.open(device, client_options, wanted.said_by);
  if (!opened) {
    const auto* detail = opened.error().detail<devices::OpeningGivenUp>();
    if (detail != nullptr && detail->left) given_up = opened.error();
    return std::unexpected(
        with_plugin_advice(opened.error(), known.registry, wanted.name, client_options.variables));
  }
  kind.client = std::move(opened->client);
  kind.name = opened->choice.name;
  const std::size_t count = kind.client->devices().size();
  const std::string opening = "opened '" + kind.name + "' with " + std::to_string(count) +
                              (count == 1 ? " device: " : " devices: ") + opened->choice.reason;
  if (opened->choice.automatic) {
    MILLRACE_LOG(kWarning, "runtime", opening);
  } else {
    MILLRACE_LOG(kInfo, "runtime", opening);
  }
  return {};
}

Status Runtime::Core::make_devices(Kind& kind, std::optional<int> most) {
  devices::DeviceActorOptions actor_options{.environment = environment, .limits = options.limits};
  actor_options.inline_when_idle = true;
  const std::size_t there = kind.client->devices().size();
  const auto wanted = static_cast<std::size_t>(most.value_or(static_cast<int>(there)));
  if (wanted > there) {
    return fail(ErrorCode::kInvalidArgument, std::to_string(wanted) +
                                                 " devices were asked for, but '" + kind.name +
                                                 "' has " + std::to_string(there));
  }
  kind.first = devices.size();
  kind.count = wanted;
  if (kind.client->calls_may_block()) {
    // A thread of each device's own, so that neither a file nor another device's call delays it.
    for (std::size_t i = 0; i < wanted; ++i) {
      device_pools.push_back(make_executor(ExecutorBackend::kThreads, 1,
                                           "millrace-drv" + std::to_string(kind.first + i)));
      actor_options.drivers.push_back(device_pools.back().get());
    }
  }
  const std::vector<devices::Device> made =
      devices::make_devices(*kind.client, actor_options, wanted);
  devices.insert(devices.end(), made.begin(), made.end());
  return {};
}

// The first answer says which devices report their memory; a plugin may not return from it.
Status Runtime::Core::ask_memory(Kind& kind, const CallOptions& call) {
  const auto known = std::make_shared<std::vector<Memory>>();
  const Future<void> asked = make_ready().then(
      opener ? *opener : inline_executor(),
      [client = kind.client.get(), known](const Status&) -> Status {
        for (const devices::DeviceInfo& device : client->devices()) {
          const Result<devices::MemoryStats> stats = client->memory_stats(device.id);
          known->push_back({.last = stats ? std::optional(*stats) : std::nullopt, .asked = {}});
        }
        return {};
      });
  if (!wait_until(asked, call)) {
    const std::string under_way = kind.client->calls_under_way();
    given_up =
        Error(call.stop.stop_requested() ? ErrorCode::kCancelled : ErrorCode::kDeadlineExceeded,
              "opening '" + kind.name + "' was given up: " + under_way +
                  " has not returned, and is left to itself until the process ends")
            .with_detail(devices::OpeningGivenUp{.call = under_way, .left = true});
    kind.client->give_up(*given_up);
    return std::unexpected(*given_up);
  }
  opener.reset();
  MutexLock lock(memory_mutex);
  for (std::size_t i = 0; i < kind.count; ++i) memory_known.push_back((*known)[i]);
  return {};
}

Status Runtime::Core::open_kind(const KnownBackends& known, const WantedKind& wanted,
                                const CallOptions& call) {
  Kind& kind = *kinds.emplace_back(std::make_unique<Kind>());
  MILLRACE_TRY_STATUS(make_client(known, wanted, call, kind));
  MILLRACE_TRY_STATUS(make_devices(kind, wanted.devices));
  return ask_memory(kind, call);
}

Status Runtime::Core::open_kinds(const CallOptions& call) {
  MILLRACE_TRY(const KnownBackends known, find_backends(options));
  for (const Error& problem : known.problems) MILLRACE_LOG(kWarning, "runtime", problem.message());
  const bool from_variable =
      options.variables && options.variables("PJRT_DEVICE") == options.device;
  MILLRACE_TRY_STATUS(open_kind(known,
                                {.name = options.device,
                                 .said_by = from_variable ? "PJRT_DEVICE" : options.device_said_by,
                                 .devices = options.devices,
                                 .lane_suffix = {}},
                                call));
  for (const std::string& more : options.more_devices) {
    const bool open = std::ranges::any_of(kinds, [&more](const auto& kind) {
      return devices::lower(kind->name) == devices::lower(more);
    });
    if (open) continue;
    MILLRACE_TRY_STATUS(open_kind(known,
                                  {.name = more,
                                   .said_by = "RuntimeOptions::more_devices",
                                   .devices = {},
                                   .lane_suffix = " (" + devices::lower(more) + ")"},
                                  call));
  }
  return {};
}

}  // namespace millrace
