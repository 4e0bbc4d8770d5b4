// `millrace devices`, and env, beside plugins that take their process along, and manifests that
// name none. Real processes and a real signal, because those are what is tested.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/plugins.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"
#include "tests/tools/commands/until_limit.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using testing::Outcome;
using testing::Process;
using testing::run_millrace;
using testing::TempFolder;
using Json = nlohmann::json;

std::string library(const std::string& name) {
  return testing::build_folder() + "/lib/" + name + ".so";
}

// A folder of two plugins, one of which has the fault.
class BesideFolder {
 public:
  BesideFolder() {
    for (const std::string name : {"faulty_plugin", "memory_plugin"}) {
      const std::string text = Json{{"name", name}, {"library_path", library(name)}}.dump();
      folder_.write(name + ".json", std::as_bytes(std::span(text)));
    }
  }
  std::unique_ptr<Process> start(const std::string& fault, std::vector<std::string> options) const {
    options.insert(options.begin(), "devices");
    const std::map<std::string, std::string> variables = {{"MILLRACE_FAULT", fault},
                                                          {"MILLRACE_PLUGIN_PATH", folder_.path()}};
    return std::make_unique<Process>(testing::millrace_command(options), variables);
  }

 private:
  const TempFolder folder_;
};
Outcome list_beside(const std::string& fault, const std::vector<std::string>& options) {
  return BesideFolder().start(fault, options)->wait();
}

// By name, of what was chosen and what was not.
std::map<std::string, Json> looks(const std::string& out) {
  std::map<std::string, Json> all;
  const Json json = Json::parse(out, nullptr, false);
  EXPECT_TRUE(json.is_object()) << out;
  if (!json.is_object()) return all;
  if (json.contains("name")) all[json["name"]] = json;
  for (const Json& other : json["others"]) all[other["name"]] = other;
  return all;
}

struct Fault {
  const char* name;
  const char* told;
};

class FaultyPluginTest : public ::testing::TestWithParam<Fault> {};

TEST_P(FaultyPluginTest, IsListedWithItsReasonAndTheOthersAreThere) {
  const Outcome o = list_beside(GetParam().name, {"--json", "--deadline", "60"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto all = looks(o.out);
  ASSERT_EQ(all.size(), 3U) << o.out;
  EXPECT_EQ(all.at("cpu")["devices"].size(), 1U);
  EXPECT_EQ(all.at("memory_plugin")["devices"].size(), 2U) << o.out;
  EXPECT_EQ(Json::parse(o.out)["name"], "memory_plugin");
  const Json& bad = all.at("faulty_plugin");
  EXPECT_FALSE(bad.contains("devices"));
  const std::string problem = bad["problem"];
  EXPECT_THAT(problem, ::testing::StartsWith("looking at " + library("faulty_plugin")));
  EXPECT_THAT(problem, ::testing::ContainsRegex(GetParam().told));
  EXPECT_THAT(Json::parse(o.out)["reason"].get<std::string>(),
              HasSubstr("'faulty_plugin' cannot be used: looking at "));
  const Outcome text = list_beside(GetParam().name, {"--deadline", "60"});
  EXPECT_THAT(text.out, HasSubstr("cannot be used: looking at " + library("faulty_plugin")));
  EXPECT_THAT(text.out, ::testing::ContainsRegex(GetParam().told));
}

#ifdef MILLRACE_SANITIZED  // it takes the signal, and ends with a status of its own
constexpr const char* kOfSegfault = "the process (was killed by SIGSEGV|ended with status)";
#else
constexpr const char* kOfSegfault = "the process was killed by SIGSEGV";
#endif
constexpr const char* kOfAbort =
    "the process was killed by SIGABRT; last it said: no hardware here";

INSTANTIATE_TEST_SUITE_P(Faults, FaultyPluginTest,
                         ::testing::Values(Fault{"create.load_aborts", kOfAbort},
                                           Fault{"create.table_aborts", kOfAbort},
                                           Fault{"create.abort", kOfAbort},
                                           Fault{"create.destroy_aborts", kOfAbort},
                                           Fault{"create.segfault", kOfSegfault},
                                           Fault{"create.exit", "the process ended with status 3"}),
                         [](const auto& info) {
                           const std::string name = info.param.name;
                           return name.substr(name.find('.') + 1);
                         });

class SilentPluginTest : public ::testing::TestWithParam<Fault> {};

TEST_P(SilentPluginTest, IsListedAfterTheDeadlineWithItsCallAndTheOthersAreThere) {
  const std::string call = std::string(": ") + GetParam().told + " has not returned";
  const BesideFolder beside;
  const auto start = [&](const std::string& limit) {
    return beside.start(GetParam().name, {"--json", "--deadline", limit});
  };
  const auto there = [&](const Outcome& o) {  // and had the time to look at the others
    auto all = looks(o.out);
    return o.out.find(call) != std::string::npos && all["cpu"].contains("devices") &&
           all["memory_plugin"].contains("devices");
  };
  const Outcome o = testing::until_limit(1, start, there).outcome;
  ASSERT_EQ(o.code, 0) << o.err;
  const auto all = looks(o.out);
  ASSERT_EQ(all.size(), 3U) << o.out;
  EXPECT_EQ(all.at("cpu")["devices"].size(), 1U);
  EXPECT_EQ(Json::parse(o.out)["name"], "memory_plugin");
  const std::string problem = all.at("faulty_plugin")["problem"];
  EXPECT_THAT(problem, ::testing::StartsWith("opening the plugin faulty_plugin (" +
                                             library("faulty_plugin") + ") was given up after "));
  EXPECT_THAT(problem, HasSubstr(call));
}

INSTANTIATE_TEST_SUITE_P(Faults, SilentPluginTest,
                         ::testing::Values(Fault{"stuck.load", "dlopen"},
                                           Fault{"stuck.api", "GetPjrtApi"},
                                           Fault{"stuck.initialize", "PJRT_Plugin_Initialize"},
                                           Fault{"stuck.create", "PJRT_Client_Create"}),
                         [](const auto& info) {
                           const std::string name = info.param.name;
                           return name.substr(name.find('.') + 1);
                         });

// A run uses it all the same.
TEST(DevicesTest, ClientThatDoesNotEndIsAWarningBesideItsDevices) {
  const Outcome o = list_beside("stuck.free_client", {"--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto all = looks(o.out);
  const Json& stuck = all.at("faulty_plugin");
  EXPECT_EQ(stuck["devices"].size(), 2U) << o.out;
  EXPECT_EQ(stuck["warning"], "its client did not end within 2 s");
  EXPECT_FALSE(all.at("memory_plugin").contains("warning")) << o.out;
  EXPECT_THAT(list_beside("stuck.free_client", {}).out,
              HasSubstr("\nwarning: its client did not end within 2 s\n"));
}

TEST(DevicesTest, ClientThatIsNotOpenedAndDoesNotEndIsListedWithBothReasons) {
  const Outcome o = list_beside("stuck.free_client_after_an_error", {"--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto all = looks(o.out);
  EXPECT_THAT(all.at("faulty_plugin")["problem"].get<std::string>(),
              ::testing::ContainsRegex(
                  "PJRT_Client_PlatformName of the plugin [^\n]*: a fault of this plugin; nor has "
                  "PJRT_Client_Destroy returned after that"));
  EXPECT_TRUE(all.at("memory_plugin").contains("devices"));
}

TEST(DevicesTest, NameThatIsTakenOrCannotBeOneIsAUsageErrorOfEveryVerb) {
  for (const std::string name : {"cpu", "a\x1b"}) {
    for (const std::string verb : {"devices", "run"}) {
      std::vector<std::string> words = {verb, "--plugin", name + "=" + library("memory_plugin")};
      if (verb == "run") words.insert(words.begin() + 1, "nowhere.mlir");
      const Outcome o = run_millrace(words);
      EXPECT_EQ(o.code, 2) << o.err;
      EXPECT_THAT(o.err, HasSubstr(name == "cpu" ? "there is a device kind 'cpu' already"
                                                 : "'a\\x1b' cannot name a kind of device"));
      EXPECT_THAT(o.err, ::testing::Not(HasSubstr("\x1b")));
    }
  }
}

TEST(DevicesTest, PluginThatIsAskedForAndCrashesIsAnErrorOfTheDevice) {
  const Outcome o = run_millrace({"devices", "--plugin", "npu=" + library("faulty_plugin")},
                                 {{"MILLRACE_FAULT", "create.abort"}});
  EXPECT_EQ(o.code, 3);
  EXPECT_THAT(o.err, HasSubstr("--plugin names 'npu', which cannot be used"));
  EXPECT_THAT(o.err, HasSubstr("killed by SIGABRT"));
  EXPECT_THAT(o.err, HasSubstr("first line\n")) << "what it said is passed on";
  EXPECT_THAT(o.out, HasSubstr("not chosen, cpu (PJRT_DEVICE=cpu):"));
}

TEST(DevicesTest, PluginsThatPipHasInstalledAreFoundWhereThatIsAskedFor) {
  const TempFolder folder;
  const std::string package = folder.path() + "/lib/python3.11/site-packages/jax_plugins/xla_cuda";
  std::filesystem::create_directories(package);
  std::filesystem::create_symlink(library("memory_plugin"), package + "/xla_cuda_plugin.so");
  const std::map<std::string, std::string> variables = {
      {"VIRTUAL_ENV", folder.path()}, {"PJRT_DEVICE", "CUDA"}, {"GPU_NUM_DEVICES", "1"}};
  const Outcome o = run_millrace({"devices", "--find-plugins"}, variables);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, ::testing::StartsWith("cuda:\nmemory "));

  const Outcome not_asked = run_millrace({"devices"}, variables);
  EXPECT_EQ(not_asked.code, 3);
  EXPECT_THAT(not_asked.err, HasSubstr("pip has installed " + package +
                                       "/xla_cuda_plugin.so: --find-plugins takes it"));

  // As many of a plugin's devices are used as are asked for.
  const auto env = [](const std::string& devices) {
    return Json::parse(run_millrace({"env", "--json"}, {{"PJRT_NAMES_AND_LIBRARY_PATHS",
                                                         "cuda:" + library("memory_plugin")},
                                                        {"PJRT_DEVICE", "CUDA"},
                                                        {"GPU_NUM_DEVICES", devices}})
                           .out);
  };
  EXPECT_EQ(env("1")["devices"].size(), 1U);
  EXPECT_EQ(env("2")["devices"].size(), 2U);
  EXPECT_THAT(env("100")["no_runtime"].get<std::string>(),
              HasSubstr("100 devices were asked for, but 'cuda' has "));
}

TEST(DevicesTest, TextThatIsNoUtf8IsReported) {
  const Outcome o = list_beside("create.kind_is_no_utf8", {"--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const std::string kind = looks(o.out).at("faulty_plugin")["devices"][0]["kind"];
  EXPECT_THAT(kind, ::testing::EndsWith(" kind"));
}

TEST(DevicesTest, WhatTerminalsObeyIsShownAndNotSent) {
  const Outcome o = list_beside("create.version_for_terminals", {});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("memory \\x1b[31mred (PJRT API "));
  EXPECT_THAT(o.out, ::testing::Not(HasSubstr("\x1b")));
}

TEST(DevicesTest, PluginWithoutDevicesIsPassedOverUnlessItIsAskedFor) {
  const std::string told = "PJRT_Client_AddressableDevices of the plugin faulty_plugin (" +
                           library("faulty_plugin") + ") gives no devices";
  const Outcome o = list_beside("create.no_devices", {"--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(Json::parse(o.out)["name"], "memory_plugin");
  EXPECT_THAT(looks(o.out).at("faulty_plugin")["problem"].get<std::string>(), HasSubstr(told));
  const TempFolder folder;
  const auto write = [&folder](const std::string& name, std::string_view text) {
    return folder.write(name, std::as_bytes(std::span(text)));
  };
  write("only.json",
        Json{{"name", "faulty_plugin"}, {"library_path", library("faulty_plugin")}}.dump());
  const std::string program = write("p.mlir",
                                    "func.func public @main() -> tensor<2xf32> {\n"
                                    "  %0 = stablehlo.constant dense<1.0> : tensor<2xf32>\n"
                                    "  return %0 : tensor<2xf32>\n}\n");
  std::map<std::string, std::string> variables = {{"MILLRACE_FAULT", "create.no_devices"},
                                                  {"MILLRACE_PLUGIN_PATH", folder.path()}};
  const Outcome run = run_millrace({"run", program}, variables);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("opened 'cpu' with 1 device: PJRT_DEVICE is not set; "
                                 "'faulty_plugin' cannot be used: "));
  variables["PJRT_DEVICE"] = "faulty_plugin";
  const Outcome asked = run_millrace({"run", program}, variables);
  EXPECT_EQ(asked.code, 3) << asked.err;
  EXPECT_THAT(asked.err, HasSubstr(told));
}

// The pipe has a writer for as long as the process that looks at the plugin lives.
TEST(DevicesTest, InterruptEndsTheLookAtOnceAndLeavesNoProcess) {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    const TempFolder folder;
    const std::string pipe = folder.file("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int descriptor = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(descriptor, 0);
    Process process(testing::millrace_command({"devices", "--deadline", "1000", "--plugin",
                                               "npu=" + library("faulty_plugin")}),
                    {{"MILLRACE_FAULT", "stuck.create"}, {"MILLRACE_FAULT_PIPE", pipe}});
    pollfd polled{.fd = descriptor, .events = POLLIN};
    char byte = 0;
    EXPECT_EQ(::poll(&polled, 1, 300'000), 1) << "the plugin was never asked";
    EXPECT_EQ(::read(descriptor, &byte, 1), 1);
    process.send(signal);
    EXPECT_EQ(process.wait().code, 128 + signal);
    EXPECT_EQ(::poll(&polled, 1, 300'000), 1) << "its process is left";
    EXPECT_EQ(::read(descriptor, &byte, 1), 0);
    ::close(descriptor);
  }
}

// Whatever lies in the folder: each bad one is printed with its path, and the good one is listed.
TEST(DevicesTest, BadManifestsAreListedEachWithPathAndReason) {
  const std::string good = R"({"name": "good", "library_path": ")" + library("memory_plugin") +
                           R"(", "priority": 99999999999999})";
  const std::map<std::string, std::string> reasons = {
      {"array.json", "it is no JSON object"},
      {"deep.json", "it has 'x': array; there are name"},
      {"empty.json", "it is no JSON object"},
      {"folder.json", "it is a folder"},
      {"lost.json", "No such file"},
      {"nameless.json", "it has no name"},
      {"option.json", "create option k: it is object, but a create option is"},
      {"pathless.json", "it has no library_path"},
      {"pipe.json", "it is a pipe"},
      {"taken.json", "there is a device kind 'cpu' already"},
      {"twice.json", "names a plugin 'GOOD', which "},
      {"words.json", "it has 'name': 7; there are name"},
  };
  const TempFolder folder;
  const auto write = [&folder](const char* name, const std::string& text) {
    folder.write(name, std::as_bytes(std::span(text)));
  };
  write("array.json", "[]");
  write("deep.json", R"({"x": )" + std::string(100'000, '[') + std::string(100'000, ']') + "}");
  write("empty.json", "");
  ASSERT_EQ(::mkdir(folder.file("folder.json").c_str(), 0700), 0);
  write("good.json", good);
  ASSERT_EQ(::symlink("/nowhere", folder.file("lost.json").c_str()), 0);
  write("nameless.json", R"({"library_path": "a.so"})");
  write("option.json", R"({"name": "a", "library_path": "a.so", "create_options": {"k": {}}})");
  write("pathless.json", R"({"name": "a"})");
  ASSERT_EQ(::mkfifo(folder.file("pipe.json").c_str(), 0600), 0);
  write("taken.json", R"({"name": "CPU", "library_path": "a.so"})");
  write("twice.json", R"({"name": "GOOD", "library_path": "a.so"})");
  write("words.json", R"({"name": 7})");
  const std::map<std::string, std::string> variables = {{"MILLRACE_PLUGIN_PATH", folder.path()}};

  const Outcome o = run_millrace({"devices", "--json"}, variables);
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["name"], "good");
  std::map<std::string, std::string> told;
  for (const Json& problem : json["problems"]) told[problem["source"]] = problem["problem"];
  EXPECT_EQ(told.size(), reasons.size()) << o.out;
  const std::string text = run_millrace({"devices"}, variables).out;
  for (const auto& [file, reason] : reasons) {
    const std::string path = folder.file(file);
    ASSERT_TRUE(told.contains(path)) << path << "\n" << o.out;
    EXPECT_THAT(told[path], HasSubstr(reason));
    EXPECT_THAT(told[path], HasSubstr(path));
    EXPECT_THAT(text, HasSubstr("passed over: " + told[path] + "\n"));
  }
}

TEST(DevicesTest, VariablesThatNameNoPluginAreListed) {
  const Outcome o = run_millrace({"devices", "--json"}, {{"PJRT_NAMES_AND_LIBRARY_PATHS", "npu"},
                                                         {"MILLRACE_PLUGIN_PATH", "/nowhere"}});
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  ASSERT_EQ(json["problems"].size(), 2U) << o.out;
  EXPECT_EQ(json["problems"][0]["source"], "PJRT_NAMES_AND_LIBRARY_PATHS");
  EXPECT_EQ(json["problems"][1]["source"], "/nowhere");
  EXPECT_EQ(Json::parse(
                run_millrace({"devices", "--json"}, {{"MILLRACE_PLUGIN_PATH", ""}}).out)["problems"]
                .size(),
            0U);
}

TEST(EnvTest, PluginThatCrashesIsTheReasonWhyThereAreNoDevicesAndTheRestIsReported) {
  const Outcome o = run_millrace(
      {"env", "--json"}, {{"PJRT_NAMES_AND_LIBRARY_PATHS", "npu:" + library("faulty_plugin")},
                          {"MILLRACE_FAULT", "create.abort"}});
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["no_runtime"],
            "opening one in a process of its own: the process was killed by SIGABRT; last it said: "
            "no hardware here");
  EXPECT_FALSE(json.contains("devices"));
  EXPECT_EQ(json["backends"].size(), 2U);
  EXPECT_FALSE(json["variables"].empty());
  EXPECT_EQ(Json::parse(run_millrace({"env", "--json"}).out)["devices"].size(), 1U);
}

TEST(EnvTest, ClientThatDoesNotEndStillListsItsDevices) {
  const Outcome o = run_millrace(
      {"env", "--json"}, {{"PJRT_NAMES_AND_LIBRARY_PATHS", "npu:" + library("faulty_plugin")},
                          {"MILLRACE_FAULT", "stuck.free_client"}});
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["devices"].size(), 2U) << o.out;
  EXPECT_EQ(json["warning"], "its client did not end within 2 s");
  EXPECT_THAT(o.err, HasSubstr("not returned: PJRT_Client_Destroy of the plugin "));
  EXPECT_FALSE(Json::parse(run_millrace({"env", "--json"}).out).contains("warning"));
}

}  // namespace
}  // namespace millrace
