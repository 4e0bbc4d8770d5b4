// A Runtime on a plugin of which a function does not return: its close ends all the same and names
// the function. In processes of their own, whose threads stay stuck.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/tools/commands/process.h"
#include "tests/tools/commands/until_limit.h"

namespace millrace {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

struct StuckCase {
  const char* fault;
  const char* call;
  friend std::ostream& operator<<(std::ostream& out, const StuckCase& c) { return out << c.fault; }
};

// As errors tell of it; drive_plugin knows it as "it".
std::string named(const std::string& plugin) { return "it \\(" + plugin + "\\)"; }

std::string plugin() { return testing::build_folder() + "/lib/faulty_plugin.so"; }

// How it ends where steps may wait so long; longer, if its last words are not these by then.
// beside: a kind of device that is open, too.
testing::Limited drive(double seconds, const std::string& fault, const std::string& last,
                       const std::string& beside = {}) {
  const auto start = [&](const std::string& limit) {
    std::vector<std::string> words = {testing::build_folder() + "/bin/drive_plugin", plugin(),
                                      limit};
    if (!beside.empty()) words.push_back(beside);
    return std::make_unique<testing::Process>(
        words, std::map<std::string, std::string>{{"MILLRACE_FAULT", fault}});
  };
  const auto there = [&](const testing::Outcome& o) {
    EXPECT_EQ(o.code, 0) << o.out << o.err;
    const std::size_t close = o.out.find("\nclose\t");
    return close != std::string::npos && o.out.find(last, close) != std::string::npos;
  };
  return testing::until_limit(seconds, start, there);
}

class StuckPluginTest : public ::testing::TestWithParam<StuckCase> {};

TEST_P(StuckPluginTest, CloseEndsInTimeAndNamesTheFunction) {
  const auto [outcome, limit] = drive(0.05, GetParam().fault, GetParam().call);
  EXPECT_THAT(outcome.out, ContainsRegex("close\tDEADLINE_EXCEEDED: closing has waited more than " +
                                         limit + "[0-9]* s for what has not returned: [^\n]*" +
                                         std::string(GetParam().call) + "[^\n]* of the plugin " +
                                         named(plugin())));
  EXPECT_THAT(outcome.out, HasSubstr("waiting\t0 of "));
  EXPECT_THAT(outcome.out, Not(HasSubstr("waiting\t0 of 0")));
}

// The other kind works on, and the close ends no later for it.
TEST_P(StuckPluginTest, AnotherKindOfDeviceWorksBesideIt) {
  const auto [outcome, limit] = drive(0.05, GetParam().fault, GetParam().call, "cpu");
  EXPECT_THAT(outcome.out, HasSubstr("\nbeside\tok\n"));
  EXPECT_THAT(outcome.out, ContainsRegex("close\tDEADLINE_EXCEEDED: closing has waited more than " +
                                         limit + "[0-9]* s for what has not returned: [^\n]*" +
                                         std::string(GetParam().call)));
  EXPECT_THAT(outcome.out, HasSubstr("waiting\t0 of "));
}

// What frees: on a device's thread, in passing, or on the one that is there for it.
class StuckFreeTest : public ::testing::TestWithParam<StuckCase> {};

TEST_P(StuckFreeTest, CloseEndsInTimeAndNamesTheFunction) {
  const auto [outcome, limit] = drive(0.05, GetParam().fault, GetParam().call);
  EXPECT_THAT(outcome.out, ContainsRegex("close\tDEADLINE_EXCEEDED: [^\n]*not returned: [^\n]*" +
                                         std::string(GetParam().call) + "[^\n]* of the plugin " +
                                         named(plugin())));
  EXPECT_THAT(outcome.out, HasSubstr("waiting\t0 of "));
}

INSTANTIATE_TEST_SUITE_P(Faults, StuckFreeTest,
                         ::testing::Values(StuckCase{"stuck.free_buffer", "PJRT_Buffer_Destroy"},
                                           StuckCase{"stuck.free_program",
                                                     "PJRT_LoadedExecutable_Destroy"},
                                           StuckCase{"stuck.remove", "PJRT_Buffer_Delete"},
                                           StuckCase{"stuck.unmap", "PJRT_Client_DmaUnmap"}),
                         [](const auto& info) {
                           std::string name = info.param.fault;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

// Nor is it opened: neither its making nor its end may wait for ever.
TEST(StuckClientTest, RuntimeIsRefusedInTimeThoughTheClientIsNeverFreed) {
  testing::Process process({testing::build_folder() + "/bin/drive_plugin", plugin(), "0.2"},
                           {{"MILLRACE_FAULT", "stuck.free_client_after_an_error"}});
  const testing::Outcome& outcome = process.wait();
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("a fault of this plugin; nor has "
                                                   "PJRT_Client_Destroy returned after that"));
  EXPECT_THAT(outcome.err, ContainsRegex("what has not returned: what frees for a plugin that was "
                                         "not opened; [^\n]*left until the process ends"));
}

// After the close, when the runtime goes: the client is left, and that is said.
TEST(StuckClientTest, RuntimeGoesInTimeThoughTheClientIsNeverFreed) {
  const auto [outcome, limit] = drive(0.2, "stuck.free_client", "\tok\n");
  EXPECT_THAT(outcome.out, HasSubstr("\nclose\tok\n"));
  EXPECT_THAT(outcome.err, ContainsRegex("closing has waited more than " + limit +
                                         "[0-9]* s for what has not returned: "
                                         "PJRT_Client_Destroy of the plugin " +
                                         named(plugin()) + "; [^\n]*left until the process ends"));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, StuckPluginTest,
    ::testing::Values(
        StuckCase{"stuck.compile", "PJRT_Client_Compile"},
        StuckCase{"stuck.cost", "PJRT_Executable_GetCostAnalysis"},
        StuckCase{"stuck.serialize", "PJRT_Executable_Serialize"},
        StuckCase{"stuck.load_program", "PJRT_Executable_DeserializeAndLoad"},
        StuckCase{"stuck.memory_stats_later", "PJRT_Device_MemoryStats"},
        StuckCase{"stuck.put", "PJRT_Client_BufferFromHostBuffer for device 0"},
        StuckCase{"stuck.execute", "PJRT_LoadedExecutable_Execute for device 0"},
        StuckCase{"stuck.copy", "PJRT_Buffer_CopyToDevice for device 1"},
        StuckCase{"stuck.ready", "PJRT_Buffer_ReadyEvent for device 0"},
        StuckCase{"stuck.read", "PJRT_Buffer_OpaqueDeviceMemoryDataPointer for device 0"},
        StuckCase{"stuck.execute_several", "PJRT_LoadedExecutable_Execute for"},
        StuckCase{"stuck.execute_holding_all", "PJRT_LoadedExecutable_Execute for device 0"}),
    [](const auto& info) {
      std::string name = info.param.fault;
      std::ranges::replace(name, '.', '_');
      return name;
    });

}  // namespace
}  // namespace millrace
