// Our own client on every fault that a plugin can have here (tests/plugins/faulty): it ends in
// time, neither crashes nor hangs, and what it can see of the fault is an error that names the
// function or the plugin. In processes of their own (tests/programs/drive_plugin.cc), several at a
// time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/tools/conform/runner.h"
#include "tests/support/paths.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using testing::Outcome;
using testing::Process;

// Seconds that each step may take. Of one that never ends each takes all of them, so there it is
// short.
constexpr const char* kPatience = "60";
#ifdef MILLRACE_SANITIZED
constexpr const char* kShortPatience = "10";
#else
constexpr const char* kShortPatience = "4";
#endif
const char* patience_for(const std::string& fault) {
  return fault == "events.completes" ? kShortPatience : kPatience;
}
constexpr std::size_t kAtOnce = 5;

std::string faulty_plugin() { return testing::build_folder() + "/lib/faulty_plugin.so"; }

// How an error of a function of the plugin begins, behind what it was called for.
std::string by_plugin(const std::string& function, const std::string& text = "") {
  return ": " + function + " of the plugin it (" + faulty_plugin() + "): " + text;
}

// The step of a line that tells anything but success, and the line; of a healthy plugin none.
using Told = std::map<std::string, std::string>;

Told told_by(const Outcome& outcome) {
  // What our client refuses by itself.
  const std::set<std::string> expected = {"compile.refused", "execute.wrong", "execute.removed",
                                          "fetch.removed", "load.refused"};
  Told told;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    const std::string step = line.substr(0, line.find('\t'));
    const std::string what = line.substr(line.find('\t') + 1);
    if (what == "ok" || expected.contains(step) || what.starts_with("0 of ")) continue;
    told.emplace(step, what);
  }
  return told;
}

// What our client must say of the faults that it can see: at least this, of this step. Where the
// numbers are spoilt, it is a wrong number, which no client can tell from a right one. Of all
// others it must say nothing.
const std::map<std::string, std::pair<std::string, std::string>>& visible() {
  static const std::map<std::string, std::pair<std::string, std::string>> faults = {
      {"buffer.external_reference", {"put.0.fetch", "wrong"}},
      {"buffer.on_cpu",
       {"put.0.fetch", by_plugin("PJRT_Buffer_IsOnCpu", "a fault of this plugin")}},
      {"client.create", {"create", by_plugin("PJRT_Client_Create", "a fault of this plugin")}},
      {"compile.devices", {"compile.both", "2 devices, of which 0 are in this process"}},
      {"compile.replicas", {"compile", "PJRT_Executable_NumReplicas"}},
      {"compile.text", {"compile", by_plugin("PJRT_Client_Compile", "a fault of this plugin")}},
      {"donation.kept",
       {"donate.kept.fetch", by_plugin("PJRT_Buffer_IncreaseExternalReferenceCount")}},
      {"events.completes", {"close", "has never ended PJRT_Buffer_ReadyEvent ("}},
      {"events.no_error",
       {"put.0.fetch", by_plugin("PJRT_Buffer_ReadyEvent", "a fault of this plugin")}},
      {"execute.complete_event",
       {"threads", by_plugin("PJRT_LoadedExecutable_Execute", "a fault of this plugin")}},
      {"execute.result", {"execute.fetch", "wrong"}},
      {"host.mutable_zero_copy", {"put.3.fetch", "wrong"}},
      {"host.round_trip", {"put.0.fetch", "wrong"}},
      {"plugin.initialize",
       {"create", by_plugin("PJRT_Plugin_Initialize", "a fault of this plugin")}},
      {"serialize.round_trip",
       {"load", by_plugin("PJRT_Executable_DeserializeAndLoad", "a fault")}},
      {"several.copy_to_device",
       {"copy.execute", by_plugin("PJRT_LoadedExecutable_Execute", "argument 0")}},
      {"table.exported", {"create", "GetPjrtApi gives no table of functions"}},
      {"table.size", {"create", "bytes is shorter than the"}},
      {"table.version", {"create", "has PJRT API 0.12; this client speaks 0.68 to "}},
  };
  return faults;
}

void check(const std::string& fault, const Outcome& outcome) {
  SCOPED_TRACE(fault + "\n" + outcome.out + outcome.err);
  EXPECT_EQ(outcome.code, 0) << "it crashed or hung";
  EXPECT_TRUE(outcome.out.starts_with("create\t"));
  const Told told = told_by(outcome);
  const auto expected = visible().find(fault);
  if (expected == visible().end()) {
    for (const auto& [step, what] : told) ADD_FAILURE() << step << ": " << what;
    return;
  }
  const auto& [step, part] = expected->second;
  ASSERT_TRUE(told.contains(step)) << "nothing was told of it";
  EXPECT_THAT(told.at(step), ::testing::HasSubstr(part));
}

TEST(OurClientTest, EveryFaultIsAnErrorThatNamesItOrNothing) {
  std::deque<std::pair<std::string, std::unique_ptr<Process>>> running;
  const auto finish = [&] {
    auto& [fault, process] = running.front();
    check(fault, process->wait());
    running.pop_front();
  };
  std::vector<std::string> faults = {""};
  for (const conform::Check& one : conform::all_checks()) faults.emplace_back(one.name);
  ASSERT_GT(faults.size(), 180U);
  for (const std::string& fault : faults) {
    if (running.size() == kAtOnce) finish();
    std::map<std::string, std::string> variables;
    if (!fault.empty()) variables["MILLRACE_FAULT"] = fault;
    const std::vector<std::string> words = {testing::build_folder() + "/bin/drive_plugin",
                                            faulty_plugin(), patience_for(fault)};
    running.emplace_back(fault, std::make_unique<Process>(words, variables));
  }
  while (!running.empty()) finish();
}

// What a plugin may lack and is used all the same: an optimized program that can be read, shapes of
// outputs, memories. A program that was loaded then has only what the plugin reports of it.
TEST(OurClientTest, PluginThatLacksWhatCanBeDoneWithoutIsUsed) {
  for (const char* fault :
       {"lacks.optimized_program", "lacks.readable_program", "lacks.parameters", "lacks.outputs",
        "lacks.memories", "lacks.default_memory", "lacks.any_memory", "lacks.mapping"}) {
    Process process({testing::build_folder() + "/bin/drive_plugin", faulty_plugin(), kPatience},
                    {{"MILLRACE_FAULT", fault}});
    const Outcome& outcome = process.wait();
    SCOPED_TRACE(std::string(fault) + "\n" + outcome.out + outcome.err);
    EXPECT_EQ(outcome.code, 0);
    Told told = told_by(outcome);
    const std::string lacking = fault;
    if (lacking == "lacks.parameters" || lacking == "lacks.outputs") {
      EXPECT_THAT(told["load"], ::testing::HasSubstr("UNIMPLEMENTED"));
      EXPECT_THAT(told["load"], ::testing::HasSubstr("PJRT_Executable_"));
      told.erase("load");
    }
    EXPECT_EQ(told.contains("map"), lacking == "lacks.mapping");
    if (lacking == "lacks.mapping") {
      EXPECT_THAT(told["map"], ::testing::HasSubstr(by_plugin("PJRT_Client_DmaMap")));
      told.erase("map");
    } else {
      EXPECT_THAT(outcome.out, ::testing::HasSubstr("map.twice\tok\nmap.again\tok"));
    }
    for (const auto& [step, what] : told) ADD_FAILURE() << step << ": " << what;
    EXPECT_THAT(outcome.out, ::testing::HasSubstr("parts.fetch1\tok"));
  }
}

}  // namespace
}  // namespace millrace
