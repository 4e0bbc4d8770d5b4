#include "millrace/devices/registry.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <utility>

#include "millrace/devices/backend_name.h"
#include "millrace/devices/cpu/client.h"
#include "millrace/devices/cpu/compile.h"

namespace millrace::devices {
namespace {

constexpr int kMostCpuDevices = 1024;
constexpr std::string_view kCpu = "cpu";

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
  cpu::CpuClientOptions made{.clock = options.environment.clock,
                             .trace = options.trace,
                             .memory_bytes = options.memory_bytes,
                             .inline_time = options.inline_time,
                             .compile = &cpu::compile,
                             .compile_again = &cpu::compile_again};
  for (int i = 0; i < devices; ++i) made.threads.push_back(options.threads(i, devices));
  return std::make_unique<cpu::CpuClient>(std::move(made));
}

}  // namespace

std::string lower(std::string_view name) {
  std::string result(name);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

Variables process_variables() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  };
}

Result<std::optional<int>> read_count(const Variables& variables, const std::string& name,
                                      int least, int most) {
  const std::optional<std::string> text = variables(name);
  if (!text || text->empty()) return std::nullopt;
  int value = 0;
  const char* const end = text->data() + text->size();
  const auto [stopped, error] = std::from_chars(text->data(), end, value);
  if (error == std::errc() && stopped == end && value >= least && value <= most) return value;
  return fail(ErrorCode::kInvalidArgument,
              name + " is '" + *text + "', but must be a whole number from " +
                  std::to_string(least) + " to " + std::to_string(most));
}

ClientRegistry::ClientRegistry() {
  entries_.emplace(kCpu, Entry{.factory = &make_cpu, .named_by = {}});
}

Status ClientRegistry::add(std::string_view name, const ClientFactory& factory, int priority,
                           std::string_view named_by) {
  MILLRACE_TRY_STATUS(check_backend_name(name));
  const std::string key = lower(name);
  const Entry entry{.factory = factory,
                    .priority = priority,
                    .place = entries_.size(),
                    .named_by = std::string(named_by)};
  if (entries_.try_emplace(key, entry).second) return {};
  return fail(ErrorCode::kAlreadyExists, "there is a device kind '" + key + "' already");
}

std::vector<std::string> ClientRegistry::names() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) names.push_back(name);
  std::ranges::sort(names, {}, [this](const std::string& name) {
    const Entry& entry = entries_.at(name);
    return std::pair(-entry.priority, entry.place);
  });
  return names;
}

Status ClientRegistry::check(std::string_view name, std::string_view origin) const {
  if (entries_.contains(lower(name))) return {};
  std::string known;
  for (const auto& [kind, entry] : entries_) known += (known.empty() ? "" : ", ") + kind;
  return fail(ErrorCode::kInvalidArgument, std::string(origin) + " names the device kind '" +
                                               std::string(name) +
                                               "', which is not known here; known: " + known);
}

Result<ClientChoice> ClientRegistry::choose(const Variables& variables,
                                            const CanOpen& can_open) const {
  const std::string asked = variables("PJRT_DEVICE").value_or("");
  if (!asked.empty()) {
    MILLRACE_TRY_STATUS(check(asked, "PJRT_DEVICE"));
    const std::string name = lower(asked);
    MILLRACE_TRY_STATUS(can_open(name));
    return ClientChoice{.name = name, .reason = "PJRT_DEVICE=" + asked};
  }
  std::string reason = "PJRT_DEVICE is not set";
  std::optional<Error> first;
  const std::vector<std::string> tried = names();
  for (const std::string& name : tried) {
    const std::string& named_by = entries_.at(name).named_by;
    const Status opened = can_open(name);
    if (opened) {
      if (!named_by.empty()) {
        reason += "; " + named_by + " names '" + name + "'";
      } else if (!first && tried.size() > 1) {
        reason += "; '" + name + "' comes first of " + std::to_string(tried.size());
      }
      return ClientChoice{
          .name = name, .reason = reason, .automatic = named_by.empty() && tried.size() > 1};
    }
    if (!named_by.empty()) {
      return std::unexpected(
          opened.error().with_context(named_by + " names '" + name +
                                      "', which cannot be used (PJRT_DEVICE=cpu takes the CPU)"));
    }
    reason += "; '" + name + "' cannot be used: " + opened.error().message();
    if (!first) first = opened.error();
  }
  return std::unexpected(*first);
}

Result<OpenedClient> ClientRegistry::open(const Variables& variables,
                                          const ClientOptions& options) const {
  OpenedClient opened;
  std::optional<Error> given_up;
  const CanOpen open_it = [&](const std::string& name) -> Status {
    if (given_up) return std::unexpected(*given_up);
    Result<std::unique_ptr<Client>> client = create(name, options);
    if (!client) {
      if (client.error().detail<OpeningGivenUp>() != nullptr) given_up = client.error();
      return std::unexpected(client.error());
    }
    opened.client = *std::move(client);
    return {};
  };
  Result<ClientChoice> choice = choose(variables, open_it);
  if (given_up) return std::unexpected(*std::move(given_up));
  MILLRACE_TRY(opened.choice, std::move(choice));
  return opened;
}

Result<std::unique_ptr<Client>> ClientRegistry::create(std::string_view name,
                                                       const ClientOptions& options) const {
  MILLRACE_TRY_STATUS(check(name, "create"));
  return entries_.at(lower(name)).factory(options);
}

}  // namespace millrace::devices
