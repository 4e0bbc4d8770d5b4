// `millrace devices`: what there is to run on.
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "millrace/core/blocking.h"
#include "millrace/core/make_executor.h"
#include "millrace/tools/commands/command.h"

namespace millrace::commands {

namespace {

using Json = nlohmann::ordered_json;

std::string memory_kind(const devices::Client& client, int id) {
  for (const devices::MemoryInfo& memory : client.memories()) {
    if (memory.id == id) return memory.kind;
  }
  return std::to_string(id);
}

Json to_json(const devices::Client& client) {
  Json list = Json::array();
  for (const devices::DeviceInfo& device : client.devices()) {
    Json memories = Json::array();
    for (const int id : device.memories) memories.push_back(memory_kind(client, id));
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

std::string to_text(const devices::Client& client) {
  std::string text =
      std::string(client.platform_name()) + " " + std::string(client.platform_version()) + "\n";
  for (const devices::DeviceInfo& device : client.devices()) {
    text += std::to_string(devices::index(device.id)) + "  " + device.kind + ", memory: ";
    const char* separator = "";
    for (const int id : device.memories) {
      text += separator + memory_kind(client, id);
      separator = ", ";
    }
    text += "\n";
  }
  return text;
}

// One backend, opened, described and closed: no runtime is made for a look.
struct Look {
  Json json;
  std::string text;
  Status opened;
};

Look look_at(const std::string& name, const devices::ClientRegistry& registry,
             const devices::ClientOptions& options) {
  const Result<std::unique_ptr<devices::Client>> client = registry.create(name, options);
  if (!client) {
    const std::string& why = client.error().message();
    return {.json = {{"name", name}, {"problem", why}},
            .text = "cannot be used: " + why + "\n",
            .opened = std::unexpected(client.error())};
  }
  Look look{.json = to_json(**client), .text = to_text(**client), .opened = {}};
  look.json["name"] = name;
  static_cast<void>(wait_blocking((*client)->close()));  // nothing was begun
  return look;
}

// Every backend once, in the order in which a runtime would try them.
std::map<std::string, Look> look_at_all(const devices::ClientRegistry& registry,
                                        const RuntimeOptions& options) {
  // For completions and, as they are here only to be counted, the CPU's devices.
  const std::unique_ptr<PoolExecutor> pool =
      make_executor(ExecutorBackend::kThreads, 1, "millrace-look");
  devices::ClientOptions client_options;
  client_options.environment = {
      .clock = &steady_clock(), .compute = pool.get(), .blocking = pool.get()};
  client_options.variables = options.variables;
  client_options.threads = [&pool](int, int) {
    return devices::DeviceThreads{.executor = pool.get(), .parallel = &pool->parallel()};
  };
  std::map<std::string, Look> looks;
  for (const std::string& name : registry.names())
    looks.emplace(name, look_at(name, registry, client_options));
  static_cast<void>(wait_blocking(pool->close()));
  return looks;
}

}  // namespace

Result<ExitCode> devices_command(const DevicesFlags& flags, Console& console) {
  MILLRACE_TRY(const RuntimeOptions options, runtime_options({}, {}, flags.plugins));
  MILLRACE_TRY(const devices::ClientRegistry registry, make_registry(options));
  const std::map<std::string, Look> looks = look_at_all(registry, options);
  const Result<devices::ClientChoice> choice = registry.choose(
      options.variables,
      [&looks](const std::string& name) -> Status { return looks.at(name).opened; });
  Json json = choice ? looks.at(choice->name).json : Json{{"schema", 1}};
  std::string text = choice ? looks.at(choice->name).text : "";
  if (choice) {
    json["reason"] = choice->reason;
  } else {
    json["problem"] = choice.error().message();
  }
  json["others"] = Json::array();
  for (const std::string& name : registry.names()) {
    if (choice && name == choice->name) continue;
    const Look& look = looks.at(name);
    json["others"].push_back(look.json);
    text.append(text.empty() ? "" : "\n").append("not chosen, ").append(name);
    text.append(" (PJRT_DEVICE=").append(name).append("):\n").append(look.text);
  }
  if (choice && choice->automatic)
    text += "\nchosen, " + choice->name + ": " + choice->reason + "\n";
  MILLRACE_TRY_STATUS(console.data(flags.json ? json.dump() + "\n" : text));
  if (choice) return ExitCode::kOk;
  // The list is what was asked for; that a run would fail is told as well.
  console.error(choice.error());
  return ExitCode::kDevice;
}

}  // namespace millrace::commands
