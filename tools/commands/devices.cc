// `millrace devices`: what there is to run on. A plugin is looked at in a process of its own: one
// that ends its process, or never answers, is a line of the list.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "millrace/core/async/blocking.h"
#include "millrace/core/base/json_text.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/registry.h"
#include "millrace/tools/api/installed_plugins.h"
#include "millrace/tools/child/in_child.h"
#include "millrace/tools/commands/command.h"

namespace millrace::commands {

namespace {

using Json = nlohmann::ordered_json;

std::string memory_kind(const devices::Client& client, devices::DeviceId device, int id) {
  for (const devices::MemoryInfo& memory : client.memories()) {
    if (memory.id == id && std::ranges::find(memory.devices, device) != memory.devices.end())
      return memory.kind;
  }
  return std::to_string(id);
}

Json to_json(const devices::Client& client) {
  Json list = Json::array();
  for (const devices::DeviceInfo& device : client.devices()) {
    Json memories = Json::array();
    for (const int id : device.memories) memories.push_back(memory_kind(client, device.id, id));
    Json attributes = Json::object();
    for (const auto& [name, value] : device.attributes) {
      std::visit([&, key = &name](const auto& v) { attributes[*key] = v; }, value);
    }
    list.push_back({{"id", devices::index(device.id)},
                    {"process", device.process},
                    {"kind", device.kind},
                    {"memories", memories},
                    {"attributes", attributes}});
  }
  return {{"schema", 1},
          {"platform", client.platform_name()},
          {"version", client.platform_version()},
          {"devices", list}};
}

// The same in words, or why there is none.
std::string to_text(const Json& json) {
  const auto text_of = [](const Json& text) { return text.get<std::string>(); };
  if (json.contains("problem")) return "cannot be used: " + text_of(json["problem"]) + "\n";
  std::string text = text_of(json["platform"]) + " " + text_of(json["version"]) + "\n";
  for (const Json& device : json["devices"]) {
    text += std::to_string(device["id"].get<int>()) + "  " + text_of(device["kind"]) + ", memory: ";
    const char* separator = "";
    for (const Json& memory : device["memories"]) {
      text += separator + text_of(memory);
      separator = ", ";
    }
    text += "\n";
  }
  if (json.contains("warning")) text += "warning: " + text_of(json["warning"]) + "\n";
  return text;
}

// kEndTime: a client has it to end once it is described, which changes nothing of what it says.
// kGrace: a process that looks at one has it to report what it knows, as that the plugin does not
// answer.
constexpr std::chrono::seconds kEndTime(2), kGrace(5);
static_assert(kGrace > 2 * kEndTime);

// One backend, opened, described and closed: no runtime is made for a look.
struct Look {
  Json json;
  Status opened;
};

Look failed_look(Error why) {
  return {.json = {{"problem", why.message()}}, .opened = std::unexpected(std::move(why))};
}

// A client that does not end, with the threads that it uses, is left to the process, which ends
// soon.
void end_look(std::unique_ptr<devices::Client> client, std::unique_ptr<PoolExecutor> frees,
              Look& look) {
  static_cast<void>(wait_blocking(client->close()));  // nothing was begun
  const bool ended = wait_until(client->destroy(), kEndTime);
  if (ended && (!frees || wait_until(frees->close(), kEndTime))) return;
  static_cast<void>(client.release());
  static_cast<void>(frees.release());
  look.json["warning"] = "its client did not end within " + std::to_string(kEndTime.count()) + " s";
}

Look look_at(const std::string& name, const devices::ClientRegistry& registry,
             const RuntimeOptions& options, TimePoint deadline) {
  // For completions and, as they are here only to be counted, the CPU's devices.
  std::unique_ptr<PoolExecutor> pool = make_executor(ExecutorBackend::kThreads, 1, "millrace-look");
  std::unique_ptr<PoolExecutor> frees, opener;
  devices::ClientOptions client_options;
  client_options.call.deadline = deadline;
  client_options.opener = [&opener] {
    opener = make_executor(ExecutorBackend::kThreads, 1, "millrace-open");
    return opener.get();
  };
  client_options.environment = {
      .clock = &steady_clock(), .compute = pool.get(), .blocking = pool.get()};
  client_options.variables = options.variables;
  client_options.threads = [&pool](int, int) {
    return devices::DeviceThreads{.executor = pool.get(), .parallel = &pool->parallel()};
  };
  client_options.frees = [&frees] {
    frees = make_executor(ExecutorBackend::kThreads, 1, "millrace-free");
    return frees.get();
  };
  client_options.close_timeout = kEndTime;
  Result<std::unique_ptr<devices::Client>> client = registry.create(name, client_options);
  Look look;
  if (client) {
    look = {.json = to_json(**client), .opened = {}};
    end_look(*std::move(client), std::move(frees), look);
  } else {
    look = failed_look(client.error());
    const auto* detail = client.error().detail<devices::OpeningGivenUp>();
    if (detail != nullptr && detail->left) {  // left to the process, as below
      static_cast<void>(opener.release());
      static_cast<void>(frees.release());
      static_cast<void>(pool.release());
      return look;
    }
    // A client that was not opened may not have ended either; the error says so.
    if (frees && !wait_until(frees->close(), kEndTime)) static_cast<void>(frees.release());
  }
  static_cast<void>(wait_blocking(pool->close()));
  return look;
}

// A look, from the process that had it to this one.
std::string to_answer(const Look& look) {
  if (look.opened) return json_text(look.json);
  const Error& why = look.opened.error();
  return json_text(Json{{"code", static_cast<int>(why.code())}, {"message", why.message()}});
}
Look from_answer(const std::string& answer) {
  Json json = Json::parse(answer);
  if (!json.contains("code")) return {.json = std::move(json), .opened = {}};
  return failed_look(
      Error(static_cast<ErrorCode>(json["code"].get<int>()), json["message"].get<std::string>()));
}

Look look_from_child(const devices::pjrt::PluginEntry& plugin,
                     const devices::ClientRegistry& registry, const RuntimeOptions& options,
                     double limit_seconds, Console& console) {
  const std::chrono::duration<double> limit(limit_seconds);
  const TimePoint deadline = steady_clock().now() + std::chrono::duration_cast<Duration>(limit);
  const ChildEnd end =
      in_child([&] { return to_answer(look_at(plugin.name, registry, options, deadline)); },
               (limit + kGrace).count());
  console.words(end.words);
  if (end.answer) return from_answer(*end.answer);
  return failed_look(Error(ErrorCode::kUnavailable, "looking at " + plugin.path +
                                                        " in a process of its own: " + end.why_not +
                                                        last_said(end.words)));
}

// Every backend once. The plugins come one after another, because two of them may be two ways to
// the same hardware, which only one process can have; and first, while this process has one thread.
std::map<std::string, Look> look_at_all(const KnownBackends& known, const RuntimeOptions& options,
                                        double limit_seconds, Console& console) {
  std::map<std::string, Look> looks;
  for (const auto& [name, plugin] : known.plugins)
    looks.emplace(name, look_from_child(plugin, known.registry, options, limit_seconds, console));
  for (const std::string& name : known.registry.names()) {
    if (!looks.contains(name))
      looks.emplace(name, look_at(name, known.registry, options, kNoDeadline));
  }
  for (auto& [name, look] : looks) look.json["name"] = name;
  return looks;
}

// Manifests and variables that name no plugin.
void add_problems(const std::vector<Error>& problems, Json& json, std::string& text) {
  json["problems"] = Json::array();
  for (const Error& problem : problems) {
    const auto* source = problem.detail<devices::pjrt::PluginSource>();
    json["problems"].push_back(
        {{"source", source != nullptr ? source->name : ""}, {"problem", problem.message()}});
    text.append(text.empty() ? "" : "\n").append("passed over: ").append(problem.message());
    text += "\n";
  }
}

}  // namespace

Result<ExitCode> devices_command(const DevicesFlags& flags, Console& console) {
  MILLRACE_TRY(const RuntimeOptions options, runtime_options({.plugins = flags.plugins}));
  MILLRACE_TRY(const KnownBackends known, find_backends(options));
  const std::map<std::string, Look> looks =
      look_at_all(known, options, flags.deadline_seconds, console);
  Result<devices::ClientChoice> choice = known.registry.choose(
      options.variables,
      [&looks](const std::string& name) -> Status { return looks.at(name).opened; });
  if (!choice)
    choice = std::unexpected(
        with_plugin_advice(choice.error(), known.registry, options.device, options.variables));
  Json json = choice ? looks.at(choice->name).json : Json{{"schema", 1}};
  std::string text = choice ? to_text(json) : "";
  if (choice && known.plugins.contains(choice->name)) text.insert(0, choice->name + ":\n");
  if (choice) {
    json["reason"] = choice->reason;
  } else {
    json["problem"] = choice.error().message();
  }
  json["others"] = Json::array();
  for (const std::string& name : known.registry.names()) {
    if (choice && name == choice->name) continue;
    const Look& look = looks.at(name);
    json["others"].push_back(look.json);
    text.append(text.empty() ? "" : "\n").append("not chosen, ").append(name);
    text.append(" (PJRT_DEVICE=").append(name).append("):\n").append(to_text(look.json));
  }
  add_problems(known.problems, json, text);
  if (choice && !known.plugins.empty())
    text += "\nchosen, " + choice->name + ": " + choice->reason + "\n";
  MILLRACE_TRY_STATUS(
      console.data(flags.json ? json_text(json) + "\n" : Console::for_terminal(text)));
  if (choice) return ExitCode::kOk;
  // The list is what was asked for; that a run would fail is printed as well.
  console.error(choice.error());
  return ExitCode::kDevice;
}

}  // namespace millrace::commands
