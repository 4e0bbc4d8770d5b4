// `millrace env`: what this build is and what it finds here: the first thing to look at, and to
// send along, when something is slower or other than expected.
#include <dlfcn.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "millrace/core/base/cores.h"
#include "millrace/core/base/json_text.h"
#include "millrace/core/base/printed.h"
#include "millrace/core/base/ticks.h"
#include "millrace/devices/cpu/kernels/base/isa_level.h"
#include "millrace/devices/registry.h"
#include "millrace/tools/api/version.h"
#include "millrace/tools/child/in_child.h"
#include "millrace/tools/commands/command.h"
#include "millrace/tools/inspect/bytes_text.h"

namespace millrace::commands {

namespace {

using Json = nlohmann::ordered_json;

// With what a plugin does to be opened; its process gets a little longer to report it. Its end may
// take twice the last of these (RuntimeOptions::close_timeout).
constexpr std::chrono::seconds kPatience(30), kGrace(5), kCloseTimeout(1);

struct Variable {
  const char* name;
  const char* without;  // what holds when it is not set
};
constexpr std::array kVariables = {
    Variable{"PJRT_DEVICE", "the best that can be opened"},
    Variable{"CPU_NUM_DEVICES", "1"},
    Variable{"GPU_NUM_DEVICES", "all of a plugin"},
    Variable{"PJRT_NAMES_AND_LIBRARY_PATHS", "no plugins"},
    Variable{"MILLRACE_PLUGIN_PATH", "/usr/lib/millrace/plugins.d"},
    Variable{"MILLRACE_THREADS", "one per core"},
    Variable{"MILLRACE_TRACE", "no trace"},
    Variable{"MILLRACE_COMPILATION_CACHE", "nothing is kept"},
    Variable{"MILLRACE_LOG", "warn"},
    Variable{"MILLRACE_CPU_ISA", "the best there is"},
    Variable{"MILLRACE_STORE", "no job"},
    Variable{"MILLRACE_TRANSPORT", "as the store is reached"},
    Variable{"MILLRACE_SECRET_FILE", "no secret"},
    Variable{"NO_COLOR", "colors where the terminal has them"},
    Variable{"CI", "a progress bar where the terminal can"},
    Variable{"TERM", "no terminal"},
};

// The text behind the first "key" at the begin of a line of a file of /proc: up to its end, without
// separators.
std::string proc_field(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t:", key.size());
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::size_t memory_bytes(const std::string& key) {
  return static_cast<std::size_t>(
             std::strtoull(proc_field("/proc/meminfo", key).c_str(), nullptr, 10)) *
         1024;
}

// The limit of the control group that this process is in, where there is one.
std::optional<std::size_t> memory_limit() {
  std::ifstream in("/sys/fs/cgroup/memory.max");
  std::size_t bytes = 0;
  if (in >> bytes) return bytes;
  return std::nullopt;
}

const char* isa_text() {
  constexpr const char* kNames[] = {"baseline", "x86-64-v3 (AVX2)", "x86-64-v4 (AVX-512)"};
  return kNames[static_cast<std::size_t>(devices::cpu::isa_level())];
}

Json cpu_facts() {
  const std::string model = proc_field("/proc/cpuinfo", "model name");
  return {{"model", model.empty() ? "unknown" : model},
          {"isa", isa_text()},
          {"cores", static_cast<int>(std::thread::hardware_concurrency())},
          {"cores_allowed", usable_cores()},
          {"trace_stamps", ticks_usable() ? "processor ticks" : "clock"}};
}

Json memory_facts() {
  Json json = {{"total_bytes", memory_bytes("MemTotal")},
               {"available_bytes", memory_bytes("MemAvailable")}};
  if (const auto limit = memory_limit()) json["limit_bytes"] = *limit;
  return json;
}

// The files that have LAPACK and its BLAS: the system's alternatives choose them, and their speed.
Json linear_algebra_facts() {
  Json json = Json::object();
  for (const auto& [name, function] :
       {std::pair("lapack", "sgetrf_"), std::pair("blas", "sgemm_")}) {
    void* const found = ::dlsym(RTLD_DEFAULT, function);
    Dl_info file{};
    if (found == nullptr || ::dladdr(found, &file) == 0 || file.dli_fname == nullptr) continue;
    std::error_code failed;
    const auto real = std::filesystem::canonical(file.dli_fname, failed);
    json[name] = failed ? std::string(file.dli_fname) : real.string();
  }
  return json;
}

Json variable_facts() {
  const devices::Variables variables = devices::process_variables();
  Json list = Json::array();
  for (const Variable& v : kVariables) {
    const auto value = variables(v.name);
    const bool set = value && !value->empty();
    list.push_back({{"name", v.name}, {"set", set}, {"value", set ? *value : v.without}});
  }
  return list;
}

// The platform and devices of a runtime, or why there is none.
Json opened_facts(const RuntimeOptions& options) {
  const CallOptions call{.stop = {}, .deadline = steady_clock().now() + kPatience};
  const Result<Runtime> runtime = Runtime::create(options, call);
  if (!runtime) return {{"no_runtime", runtime.error().to_string()}};
  Json list = Json::array();
  for (const devices::Device& device : runtime->devices())
    list.push_back({{"id", devices::index(device.id())}, {"kind", device.info().kind}});
  return {{"platform", runtime->client().platform_name()}, {"devices", list}};
}

// The same, when the runtime is gone again.
Json runtime_facts(const RuntimeOptions& options) {
  Json json = opened_facts(options);
  if (json.contains("devices") && Runtime::left_behind()) {
    json["warning"] =
        "its client did not end within " + std::to_string(2 * kCloseTimeout.count()) + " s";
  }
  return json;
}

// The threads and devices that a runtime has here. It is opened in a process of its own, which a
// plugin may end.
void add_runtime(Json& json, Console& console) {
  const auto report = [&json](const Error& error) { json["no_runtime"] = error.to_string(); };
  const Result<RuntimeOptions> options = runtime_options({});
  if (!options) return report(options.error());
  json["threads"] = compute_threads(*options);
  const Result<KnownBackends> known = find_backends(*options);
  if (!known) return report(known.error());
  json["backends"] = known->registry.names();
  RuntimeOptions quiet = *options;
  quiet.trace_file.clear();  // looking must not write over a trace
  quiet.close_timeout = kCloseTimeout;
  const std::chrono::duration<double> limit = kPatience + kGrace;
  const ChildEnd end =
      in_child([&quiet] { return json_text(runtime_facts(quiet)); }, limit.count());
  console.words(end.words);
  json.update(end.answer ? Json::parse(*end.answer)
                         : Json{{"no_runtime", "opening one in a process of its own: " +
                                                   end.why_not + last_said(end.words)}});
}

Json facts(Console& console) {
  Json json = {{"schema", 1},           {"version", version()}, {"compiler", compiler()},
               {"build", build_type()}, {"cpu", cpu_facts()},   {"memory", memory_facts()}};
  Json libraries = Json::object();
  for (const auto& [name, number] : millrace::libraries()) libraries[std::string(name)] = number;
  json["libraries"] = libraries;
  json["linear_algebra"] = linear_algebra_facts();
  json["variables"] = variable_facts();
  add_runtime(json, console);
  return json;
}

std::string line(const std::string& what, const std::string& value) {
  return printed("%-17s ", what.c_str()) + value + "\n";
}

std::string bytes_of(const Json& json, const char* key) {
  return inspect::bytes_text(json[key].get<std::size_t>());
}

std::string to_text(const Json& json) {
  const auto text_of = [&json](const char* key) { return json[key].get<std::string>(); };
  const Json& cpu = json["cpu"];
  const Json& memory = json["memory"];
  std::string text = line("millrace", text_of("version"));
  text += line("compiler", text_of("compiler") + ", " + text_of("build"));
  std::string libraries;
  for (const auto& [name, number] : json["libraries"].items())
    libraries += (libraries.empty() ? "" : ", ") + name + " " + number.get<std::string>();
  text += line("libraries", libraries);
  for (const auto& [name, file] : json["linear_algebra"].items())
    text += line(name, file.get<std::string>());
  text += line("processor", cpu["model"].get<std::string>() + ", " +
                                std::to_string(cpu["cores_allowed"].get<int>()) + " of " +
                                std::to_string(cpu["cores"].get<int>()) + " cores usable");
  text += line("kernels", cpu["isa"].get<std::string>());
  text += line("trace stamps", cpu["trace_stamps"].get<std::string>());
  text += line(
      "memory",
      bytes_of(memory, "total_bytes") + ", " + bytes_of(memory, "available_bytes") + " available" +
          (memory.contains("limit_bytes") ? ", limited to " + bytes_of(memory, "limit_bytes")
                                          : ""));
  if (json.contains("backends")) {
    std::string backends;
    for (const auto& name : json["backends"])
      backends += (backends.empty() ? "" : ", ") + name.get<std::string>();
    text += line("backends", backends);
  }
  if (json.contains("threads")) text += line("threads", std::to_string(json["threads"].get<int>()));
  if (json.contains("no_runtime")) {
    text += line("devices", "none: " + text_of("no_runtime"));
  } else {
    const std::size_t count = json["devices"].size();
    text += line("devices", std::to_string(count) + " of platform " + text_of("platform"));
  }
  if (json.contains("warning")) text += line("warning", text_of("warning"));
  for (const Json& v : json["variables"]) {
    text += line(v["name"].get<std::string>(), v["set"].get<bool>()
                                                   ? v["value"].get<std::string>()
                                                   : "not set: " + v["value"].get<std::string>());
  }
  return text;
}

}  // namespace

Result<ExitCode> env_command(const EnvFlags& flags, Console& console) {
  const Json json = facts(console);
  MILLRACE_TRY_STATUS(console.data(flags.json ? json_text(json) + "\n" : to_text(json)));
  return ExitCode::kOk;
}

}  // namespace millrace::commands
