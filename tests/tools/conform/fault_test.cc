// Every check fails for the plugin that has its fault, alone; none does for the healthy one. Real
// processes, because the command is what starts them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/tools/conform/runner.h"
#include "tests/support/plugins.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"
#include "tests/tools/commands/until_limit.h"

namespace millrace::conform {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;
using millrace::testing::Process;

std::string plugin(const std::string& name) {
  return millrace::testing::build_folder() + "/lib/" + name + ".so";
}

// What a plugin with a fault printed; an empty fault: a healthy plugin.
struct Told {
  millrace::testing::Outcome outcome;
  std::map<std::string, Json> checks;

  std::vector<std::string> named(const std::string& outcome_name) const {
    std::vector<std::string> names;
    for (const auto& [name, check] : checks) {
      if (check["outcome"] == outcome_name) names.push_back(name);
    }
    return names;
  }
};

std::unique_ptr<Process> start_conform(const std::string& path, const std::string& fault,
                                       const std::vector<std::string>& options) {
  std::vector<std::string> words = {"conform", path, "--json"};
  words.insert(words.end(), options.begin(), options.end());
  std::map<std::string, std::string> variables;
  if (!fault.empty()) variables["MILLRACE_FAULT"] = fault;
  return std::make_unique<Process>(millrace::testing::millrace_command(words), variables);
}
Told told_by(const millrace::testing::Outcome& outcome) {
  Told run{.outcome = outcome, .checks = {}};
  std::istringstream lines(outcome.out);
  Json last;
  for (std::string line; std::getline(lines, line);) {
    last = Json::parse(line, nullptr, false);
    if (last.is_object() && last["event"] == "check") run.checks[last["name"]] = last;
  }
  if (!last.is_object() || last["event"] != "done")
    ADD_FAILURE() << "no report: " << outcome.out << outcome.err;
  return run;
}
Told run_conform(const std::string& path, const std::string& fault,
                 const std::vector<std::string>& options) {
  return told_by(start_conform(path, fault, options)->wait());
}

// The check is ended by a deadline, which is enough for it to come to that place.
void expect_hang(const std::string& fault, const std::string& check, const std::string& place) {
  const auto start = [&](const std::string& limit) {
    return start_conform(plugin("faulty_plugin"), fault, {"--deadline", limit, "--filter", check});
  };
  const auto there = [&](const millrace::testing::Outcome& o) {
    return o.out.find(place) != std::string::npos;
  };
  const auto [outcome, limit] = millrace::testing::until_limit(0.5, start, there);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(told_by(outcome).checks.at(check)["detail"],
            "no answer within " + limit + " s, " + place);
}

// Short, but for a machine that is busy with other things.
std::vector<std::string> quick() {
#ifdef MILLRACE_SANITIZED
  return {"--deadline", "60", "--executions", "1000"};
#else
  return {"--deadline", "10", "--executions", "1000"};
#endif
}

TEST(ConformTest, HealthyPluginsFailNoCheck) {
  for (const char* name : {"memory_plugin", "faulty_plugin"}) {
#ifdef MILLRACE_SANITIZED
    // Fewer executions: what is freed stays resident for a while.
    const Told run = run_conform(plugin(name), "", quick());
#else
    const Told run = run_conform(plugin(name), "", {});
#endif
    EXPECT_EQ(run.outcome.code, 0) << run.outcome.err;
    EXPECT_EQ(run.checks.size(), all_checks().size());
    EXPECT_EQ(run.named("passed").size(), all_checks().size());
    for (const auto& [check, told] : run.checks) {
      EXPECT_EQ(told["outcome"], "passed") << check << ": " << told["detail"];
    }
  }
}

TEST(ConformTest, HangBeforeTheFirstFunctionIsNamedToo) {
  expect_hang("stuck.load", "table.exported", "while the library was loaded");
  expect_hang("stuck.api", "table.exported", "in or after GetPjrtApi");
}

class ConformFaultTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ConformFaultTest, FailsTheCheckOfItsNameAlone) {
  const std::string& name = GetParam();
  std::vector<std::string> options = quick();
  // Every run tries the checks of the fault's family; a long one tries all.
  if (std::getenv("MILLRACE_LONG") == nullptr) {
    options.insert(options.end(), {"--filter", name.substr(0, name.find('.'))});
  }
  const Told run = run_conform(plugin("faulty_plugin"), name, options);
  EXPECT_EQ(run.outcome.code, 1);
  EXPECT_THAT(run.named("failed"), ElementsAre(name)) << run.outcome.out;
  // What builds on it is skipped; nothing else is.
  EXPECT_THAT(run.named("unsupported"), IsEmpty()) << run.outcome.out;
  for (const std::string& skipped : run.named("skipped")) {
    EXPECT_THAT(run.checks.at(skipped)["detail"].get<std::string>(), HasSubstr("it builds on"));
  }
}

std::vector<std::string> names_of_checks() {
  std::vector<std::string> names;
  for (const Check& check : all_checks()) {
    const std::string name(check.name);
#ifdef MILLRACE_SANITIZED
    // One of each family: the others are other lines of the faulty plugin, and every check of a
    // family runs with each of them.
    const std::string family = name.substr(0, name.find('.') + 1);
    if (!names.empty() && names.back().starts_with(family)) continue;
    if (family == "leaks.") continue;  // it has an allocator of its own, which tells less
#endif
    names.push_back(name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Checks, ConformFaultTest, ::testing::ValuesIn(names_of_checks()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

struct CrashCase {
  const char* fault;
  const char* told;
};

TEST(ConformCrashTest, CrashOfAPluginIsOneFailedCheckThatNamesItsPlace) {
  const CrashCase cases[] = {
      {"crash.abort",
       "the process was killed by SIGABRT, in or after PJRT_Executable_Name; last it said: the "
       "plugin gives up"},
      {"crash.kill", "the process was killed by SIGKILL, in or after PJRT_Executable_Name"},
      {"crash.exit", "the process ended with status 3, in or after PJRT_Executable_Name"},
      {"crash.exception",
       "PJRT_Executable_Name threw a C++ exception through the C interface: thrown by a plugin"},
  };
  for (const CrashCase& c : cases) {
    const Told run = run_conform(plugin("faulty_plugin"), c.fault, {"--filter", "compile"});
    EXPECT_EQ(run.outcome.code, 1);
    EXPECT_THAT(run.named("failed"), ElementsAre("compile.name")) << c.fault;
    EXPECT_EQ(run.checks.at("compile.name")["detail"], c.told);
  }
}

TEST(ConformCrashTest, AHangEndsAtTheDeadline) {
  expect_hang("crash.hang", "compile.name", "in or after PJRT_Executable_Name");
}

TEST(ConformCommandTest, APluginThatDoesNotExistIsAnErrorOfTheDevice) {
  const auto outcome = millrace::testing::run_millrace({"conform", "/no/such/plugin.so"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("there is no plugin /no/such/plugin.so"));
  EXPECT_THAT(outcome.out, IsEmpty());
}

TEST(ConformCommandTest, AFileThatIsNoLibraryFailsTheFirstCheckAndSkipsTheOthers) {
  const millrace::testing::TempFolder folder;
  const std::string path = folder.path() + "/text.so";
  std::ofstream(path) << "this is a text\n";
  const Told run = run_conform(path, "", {});
  EXPECT_EQ(run.outcome.code, 1);
  EXPECT_THAT(run.named("failed"), ElementsAre("table.exported"));
  EXPECT_EQ(run.named("skipped").size(), all_checks().size() - 1);
  EXPECT_THAT(run.checks.at("table.exported")["detail"].get<std::string>(),
              HasSubstr("cannot be loaded"));
}

TEST(ConformCommandTest, ALibraryWithoutTheFunctionIsNoPlugin) {
  const Told run = run_conform(plugin("libmillrace_c"), "", {"--filter", "table"});
  EXPECT_EQ(run.outcome.code, 1);
  EXPECT_EQ(run.checks.at("table.exported")["detail"], "it exports no function GetPjrtApi");
}

TEST(ConformCommandTest, NoPluginAndOptionsWithoutValuesAreErrorsOfUsage) {
  EXPECT_EQ(millrace::testing::run_millrace({"conform"}).code, 2);
  const std::string path = plugin("memory_plugin");
  EXPECT_EQ(millrace::testing::run_millrace({"conform", path, "--option", "devices"}).code, 2);
  EXPECT_EQ(millrace::testing::run_millrace({"conform", path, "--filter", "nothing.like.it"}).code,
            2);
}

TEST(ConformCommandTest, CreateOptionsComeInEveryForm) {
  const std::string path = plugin("memory_plugin");
  const std::vector<std::vector<std::string>> forms = {
      {path + ",devices=3"}, {"any=" + path + ",devices=3"}, {path, "--option", "devices=3"}};
  for (const auto& form : forms) {
    const Told run = run_conform(form[0], "", [&] {
      std::vector<std::string> rest(form.begin() + 1, form.end());
      rest.insert(rest.end(), {"--filter", "client.devices"});
      return rest;
    }());
    EXPECT_EQ(run.checks.at("client.devices")["detail"], "3 here, 3 in all") << form[0];
  }
}

TEST(ConformCommandTest, ChecksOfSeveralDevicesAreSkippedWithOne) {
  const Told run = run_conform(plugin("memory_plugin") + ",devices=1", "", {"--filter", "several"});
  EXPECT_EQ(run.outcome.code, 0);
  EXPECT_EQ(run.named("skipped").size(), run.checks.size());
  EXPECT_THAT(run.checks.at("several.portable")["detail"].get<std::string>(),
              HasSubstr("it wants 2 devices and there is 1"));
}

TEST(ConformCommandTest, PrintsALineForEachCheckAndWritesJUnit) {
  const millrace::testing::TempFolder folder;
  const std::string path = folder.path() + "/report.xml";
  const auto outcome = millrace::testing::run_millrace(
      {"conform", plugin("memory_plugin"), "--filter", "plugin", "--junit", path});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("plugin.stablehlo_versions"));
  EXPECT_THAT(outcome.out, HasSubstr("4 passed, 0 failed, 0 unsupported, 0 skipped in "));
  std::stringstream xml;
  xml << std::ifstream(path).rdbuf();
  EXPECT_THAT(xml.str(), HasSubstr("<testsuite name=\"plugin\" tests=\"4\" failures=\"0\""));
}

TEST(ConformCommandTest, AReportThatCannotBeWrittenFailsBeforeTheChecks) {
  const auto outcome = millrace::testing::run_millrace(
      {"conform", plugin("memory_plugin"), "--junit", "/no/such/folder/report.xml"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, IsEmpty());
}

TEST(ConformCommandTest, KilledCommandLeavesNoPartOfAReport) {
  const millrace::testing::TempFolder folder;
  millrace::testing::Process process(millrace::testing::millrace_command(
      {"conform", plugin("memory_plugin"), "--junit", folder.file("report.xml")}));
  EXPECT_TRUE(process.wait_for(
      [](const millrace::testing::Outcome& outcome) { return outcome.out.contains('\n'); }));
  process.send(SIGKILL);
  process.wait();
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_EQ(entry.path().filename(), "report.xml");  // there only if it was the faster one
}

TEST(ConformCommandTest, ListsWhatItChecks) {
  const auto outcome = millrace::testing::run_millrace({"conform", "--list", "--filter", "events"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("events.called_once"));
  EXPECT_THAT(outcome.out, HasSubstr("a callback comes once"));
  EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("host.")));
  const auto json = millrace::testing::run_millrace({"conform", "--list", "--json"});
  EXPECT_EQ(json.code, 0);
  std::istringstream lines(json.out);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_EQ(Json::parse(line)["name"], all_checks().at(count).name);
  EXPECT_EQ(count, all_checks().size());
}

TEST(ConformCommandTest, AFilterThatMatchesNothingIsRefusedBeforeAnythingIsTried) {
  const millrace::testing::TempFolder folder;
  const std::string report = folder.file("report.xml");
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--list"}, {plugin("memory_plugin"), "--junit", report}}) {
    std::vector<std::string> words = {"conform", "--filter", "events", "--filter", "nope"};
    words.insert(words.end(), more.begin(), more.end());
    const auto outcome = millrace::testing::run_millrace(words);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, HasSubstr("no check matches --filter 'nope'"));
    EXPECT_THAT(outcome.err, HasSubstr("table, plugin, client"));
  }
  EXPECT_FALSE(std::filesystem::exists(report));
}

// The end of the pipe is closed when no process is left that has it.
TEST(ConformCommandTest, ProcessesThatAPluginLeavesBehindInSessionsOfTheirOwnEndWithTheCheck) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);  // theirs, too
  ASSERT_EQ(::fcntl(ends[0], F_SETFD, FD_CLOEXEC), 0);
  const Told run = run_conform(plugin("faulty_plugin"), "leave.daemon", {"--filter", "table"});
  ::close(ends[1]);
  EXPECT_EQ(run.outcome.code, 0) << run.outcome.out;
  pollfd polled{.fd = ends[0], .events = POLLIN};
  EXPECT_EQ(::poll(&polled, 1, 300'000), 1) << "a process is left";
  EXPECT_TRUE((polled.revents & POLLHUP) != 0);
  ::close(ends[0]);
}

TEST(ConformCommandTest, RunsChecksInItsOwnProcess) {
  const auto outcome = millrace::testing::run_millrace(
      {"conform", plugin("memory_plugin"), "--here", "--filter", "execute.result"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("1 passed"));
}

// What XLA's own CPU client is known to do otherwise, by the age of the plugin (tools/reports tells
// more). A stress test, because a plugin of 250 MB is loaded for every check.
struct KnownPlugin {
  const char* name;
  std::vector<std::string> failing;
};
void PrintTo(const KnownPlugin& known, std::ostream* out) { *out << known.name; }

class ConformXlaStressTest : public ::testing::TestWithParam<KnownPlugin> {};

TEST_P(ConformXlaStressTest, FailsOnlyWhatIsKnown) {
  const auto plugins = millrace::testing::plugins_at_hand();
  const auto found = plugins.find(GetParam().name);
  if (found == plugins.end()) {
    GTEST_SKIP() << "no plugin here: tests/fetch_plugins " << GetParam().name << " fetches it";
  }
  const Told run = run_conform(found->second, "", {"--executions", "1000"});
  EXPECT_EQ(run.named("failed"), GetParam().failing) << run.outcome.out;
  EXPECT_GT(run.named("passed").size(), 150U);
}

INSTANTIATE_TEST_SUITE_P(
    Plugins, ConformXlaStressTest,
    ::testing::Values(KnownPlugin{"Xla0115", {}},
                      KnownPlugin{"Xla0106", {"compile.deleted", "events.error_reaches_host"}},
                      KnownPlugin{"Xla0081", {"compile.deleted"}}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace millrace::conform
