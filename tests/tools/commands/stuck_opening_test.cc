// The commands on a plugin that never answers while it is opened: --deadline and the first signal
// end them, with the plugin and the call that has not returned. Real processes and real signals,
// because those are what is tested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/plus_one.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/fault_pipe.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::Process;

const std::map<std::string, std::string> kCalls = {{"stuck.load", "dlopen"},
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
  for (std::vector<std::string> words : verbs()) {
    words.insert(words.end(), {"--deadline", "3"});  // a busy machine may need two to begin
    std::map<std::string, std::unique_ptr<Process>> processes;
    for (const auto& [fault, call] : kCalls) {
      processes[fault] = std::make_unique<Process>(
          command(words), std::map<std::string, std::string>{{"MILLRACE_FAULT", fault}});
    }
    for (const auto& [fault, process] : processes) {
      SCOPED_TRACE(words[0] + " " + fault);
      const Outcome& o = process->wait();
      EXPECT_EQ(o.code, 124) << o.err;
      EXPECT_THAT(o.err, ContainsRegex("--deadline 3 came before there was a device [^\n]*: " +
                                       why(fault)));
    }
  }
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
