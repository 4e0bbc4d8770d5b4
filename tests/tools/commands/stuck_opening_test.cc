// The commands on a plugin that never answers while it is opened: --deadline and the first signal
// end them, with the plugin and the call that has not returned. Real processes and real signals,
// because those are what is tested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/plus_one.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/fault_pipe.h"
#include "tests/tools/commands/process.h"
#include "tests/tools/commands/until_limit.h"

namespace millrace {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::Process;

using Environ = std::map<std::string, std::string>;

const Environ kCalls = {{"stuck.load", "dlopen"},
                        {"stuck.api", "GetPjrtApi"},
                        {"stuck.initialize", "PJRT_Plugin_Initialize"},
                        {"stuck.create", "PJRT_Client_Create"}};

std::string library() { return testing::build_folder() + "/lib/faulty_plugin.so"; }

class SilentPluginCommandTest : public ::testing::Test {
 protected:
  // The verbs that open a runtime.
  std::vector<std::vector<std::string>> verbs() {
    const std::string text = testing::kPlusOne;
    const std::string program = folder_.write("p.mlir", std::as_bytes(std::span(text)));
    return {{"run", program},
            {"inspect", program},
            {"train", "--model", testing::mnist_model(), "--fake-data"}};
  }
  static std::vector<std::string> command(std::vector<std::string> words) {
    words.insert(words.end(), {"--plugin", "npu=" + library()});
    return testing::millrace_command(std::move(words));
  }
  static std::string why(const std::string& fault) {
    return "opening the plugin npu \\(" + library() +
           "\\) was given up after [0-9.]+ s: " + kCalls.at(fault) + " has not returned";
  }
  testing::TempFolder folder_;
};

TEST_F(SilentPluginCommandTest, DeadlineEndsItAndNamesPluginAndCall) {
  for (const std::vector<std::string>& verb : verbs()) {
    const auto start = [&](const std::string& fault, const std::string& limit) {
      std::vector<std::string> words = verb;
      words.insert(words.end(), {"--deadline", limit});
      return std::make_unique<Process>(command(words), Environ{{"MILLRACE_FAULT", fault}});
    };
    const auto there = [&](const std::string& fault, const Outcome& o) {
      EXPECT_EQ(o.code, 124) << verb[0] << " " << fault << ": " << o.err;
      return o.err.find(kCalls.at(fault)) != std::string::npos;
    };
    const auto names = std::views::keys(kCalls);
    const auto all = testing::until_limit(1, {names.begin(), names.end()}, start, there);
    for (const auto& [fault, end] : all) {
      SCOPED_TRACE(verb[0] + " " + fault);
      EXPECT_THAT(end.outcome.err,
                  ContainsRegex("--deadline " + end.limit +
                                " came before there was a device [^\n]*: " + why(fault)));
    }
  }
}

// The maker's thread is not the one that destroys it.
TEST_F(SilentPluginCommandTest, DeadlineReportsWhyAPluginWasNotOpenedAndWhatItsEndWaitsFor) {
  const auto start = [&](const std::string& limit) {
    std::vector<std::string> words = verbs()[0];
    words.insert(words.end(), {"--deadline", limit});
    return std::make_unique<Process>(
        command(words), Environ{{"MILLRACE_FAULT", "stuck.free_client_after_an_error"}});
  };
  const auto there = [](const Outcome& o) {
    return o.err.find("PJRT_Client_Destroy") != std::string::npos;
  };
  const auto end = testing::until_limit(1, start, there);
  EXPECT_EQ(end.outcome.code, 124) << end.outcome.err;
  EXPECT_THAT(end.outcome.err,
              ContainsRegex("given up after [0-9.]+ s: PJRT_Client_Destroy has not returned[^\n]*, "
                            "after opening devices [^\n]*PJRT_Client_PlatformName of the plugin"));
}

TEST_F(SilentPluginCommandTest, FirstSignalEndsItAndNamesPluginAndCall) {
#if defined(MILLRACE_TSAN)
  GTEST_SKIP() << "the thread sanitizer runs a handler where a thread calls what it intercepts, "
                  "which none of a command does that waits for an opening";
#endif
  for (const std::vector<std::string>& words : verbs()) {
    for (const auto& [fault, call] : kCalls) {
      const int signal = fault == "stuck.create" ? SIGTERM : SIGINT;
      SCOPED_TRACE(words[0] + " " + fault);
      const testing::FaultPipe pipe;
      Process process(command(words), pipe.variables(fault));
      ASSERT_TRUE(pipe.wait()) << "the plugin was never asked";
      process.send(signal);
      const Outcome& o = process.wait();
      EXPECT_EQ(o.code, 128 + signal) << o.err;
      EXPECT_THAT(o.err, HasSubstr(signal == SIGINT ? "stopped on SIGINT before"
                                                    : "stopped on SIGTERM before"));
      EXPECT_THAT(o.err, ContainsRegex(why(fault)));
    }
  }
}

}  // namespace
}  // namespace millrace
