// `millrace devices`: what there is to run on.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

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

// A backend that is not the chosen one: opened, described, closed.
struct Other {
  std::string name;
  Json json;
  std::string text;
};

Other look_at(const std::string& name, RuntimeOptions options) {
  options.device = name;
  options.trace_file.clear();
  Other other{.name = name, .json = {{"name", name}}, .text = {}};
  const Result<Runtime> runtime = Runtime::create(options);
  if (runtime) {
    other.json.update(to_json(runtime->client()));
    other.text = to_text(runtime->client());
  } else {
    other.json["problem"] = runtime.error().message();
    other.text = "cannot be used: " + runtime.error().message() + "\n";
  }
  return other;
}

}  // namespace

Result<ExitCode> devices_command(const DevicesFlags& flags, Console& console) {
  MILLRACE_TRY(const RuntimeOptions options, runtime_options({}, {}, flags.plugins));
  MILLRACE_TRY(const devices::ClientRegistry registry, make_registry(options));
  MILLRACE_TRY(const Runtime runtime, open_runtime(options));
  Json json = to_json(runtime.client());
  std::string text = to_text(runtime.client());
  json["name"] = runtime.device_kind();
  json["others"] = Json::array();
  for (const std::string& name : registry.names()) {
    if (name == runtime.device_kind()) continue;
    const Other other = look_at(name, options);
    json["others"].push_back(other.json);
    text.append("\nnot chosen, ").append(name).append(" (PJRT_DEVICE=").append(name);
    text.append("):\n").append(other.text);
  }
  MILLRACE_TRY_STATUS(console.data(flags.json ? json.dump() + "\n" : text));
  return ExitCode::kOk;
}

}  // namespace millrace::commands
