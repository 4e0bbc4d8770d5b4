// A Runtime on a plugin that cannot be opened, because a function of it does not return: the open
// fails in time and names the function. In processes of their own, whose threads stay stuck.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"
#include "tests/tools/commands/until_limit.h"

namespace millrace {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

struct StuckCase {
  const char* fault;
  const char* call;
  friend std::ostream& operator<<(std::ostream& out, const StuckCase& c) { return out << c.fault; }
};

std::string library(const std::string& name) {
  return testing::build_folder() + "/lib/" + name + ".so";
}

// Half a second for what is stuck, if that is enough to come to the call each time; and minutes for
// the other plugin, which needs a moment, unless it is stuck as well.
testing::Outcome open_limited(const std::string& fault, const std::string& call) {
  const testing::TempFolder folder;
  const auto start = [&](const std::string& limit) {
    const std::string pipe = folder.file("pipe" + limit);
    EXPECT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const std::vector<std::string> words = {testing::build_folder() + "/bin/open_limited",
                                            library("faulty_plugin"),
                                            library("memory_plugin"),
                                            pipe,
                                            limit,
                                            fault == "stuck.load" ? limit : "300"};
    const std::map<std::string, std::string> variables = {{"MILLRACE_FAULT", fault},
                                                          {"MILLRACE_FAULT_PIPE", pipe}};
    return std::make_unique<testing::Process>(words, variables);
  };
  const auto there = [&](const testing::Outcome& o) {
    int found = 0;
    std::istringstream lines(o.out);
    for (std::string line; std::getline(lines, line);) {
      const bool limited = line.starts_with("deadline\t") || line.starts_with("again\t");
      if (limited && line.find(call) != std::string::npos) ++found;
    }
    return found == 2;
  };
  return testing::until_limit(0.5, start, there).outcome;
}

class StuckOpeningTest : public ::testing::TestWithParam<StuckCase> {};

TEST_P(StuckOpeningTest, EndsByDeadlineAndStopAndNamesPluginAndFunction) {
  const testing::Outcome outcome = open_limited(GetParam().fault, GetParam().call);
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const std::string why = "opening the plugin npu \\(" + library("faulty_plugin") +
                          "\\) was given up after [0-9.]+ s: " + GetParam().call +
                          " has not returned";
  EXPECT_THAT(outcome.out, ContainsRegex("(^|\n)stop\tCANCELLED: " + why));
  for (const std::string step : {"deadline", "again"})
    EXPECT_THAT(outcome.out, ContainsRegex("\n" + step + "\tDEADLINE_EXCEEDED: " + why));
  EXPECT_THAT(outcome.out, HasSubstr("\nleft behind\tyes\n"));
}

// The next one is not held up, but by the C library, which loads one library at a time.
TEST_P(StuckOpeningTest, AnotherPluginIsOpenedMeanwhile) {
  if (GetParam().fault == std::string("stuck.load")) GTEST_SKIP() << "dlopen is what is stuck";
  const testing::Outcome outcome = open_limited(GetParam().fault, GetParam().call);
  EXPECT_THAT(outcome.out, HasSubstr("\nother\tok\n")) << outcome.err;
}

// The client is there, and does not tell of its devices.
TEST(SilentDeviceTest, OpeningEndsByDeadlineAndStopAndNamesPluginAndFunction) {
  const testing::Outcome outcome = open_limited("stuck.memory_stats", "PJRT_Device_MemoryStats");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  // Calls of the others are still under way.
  const std::string why =
      "opening 'npu' was given up: PJRT_Device_MemoryStats( \\([23]\\))? of the plugin npu \\(" +
      library("faulty_plugin") + "\\) has not returned";
  EXPECT_THAT(outcome.out, ContainsRegex("(^|\n)stop\tCANCELLED: " + why));
  for (const std::string step : {"deadline", "again"})
    EXPECT_THAT(outcome.out, ContainsRegex("\n" + step + "\tDEADLINE_EXCEEDED: " + why));
  EXPECT_THAT(outcome.out, HasSubstr("\nother\tok\n")) << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Faults, StuckOpeningTest,
                         ::testing::Values(StuckCase{"stuck.load", "dlopen"},
                                           StuckCase{"stuck.api", "GetPjrtApi"},
                                           StuckCase{"stuck.initialize", "PJRT_Plugin_Initialize"},
                                           StuckCase{"stuck.create", "PJRT_Client_Create"},
                                           StuckCase{"stuck.describe", "PJRT_Client_PlatformName"}),
                         [](const auto& info) {
                           const std::string name = info.param.fault;
                           return name.substr(name.find('.') + 1);
                         });

}  // namespace
}  // namespace millrace
