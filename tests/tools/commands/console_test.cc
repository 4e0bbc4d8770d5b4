#include "millrace/tools/commands/console.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace millrace::commands {
namespace {

devices::Variables table(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

TEST(ConsoleTest, BarsNeedATerminalThatCanAndNoCi) {
  EXPECT_TRUE(console_traits(true, table({{"TERM", "xterm"}})).bar);
  EXPECT_TRUE(console_traits(true, table({{"TERM", "xterm"}, {"CI", ""}})).bar);
  EXPECT_FALSE(console_traits(false, table({{"TERM", "xterm"}})).bar);
  EXPECT_FALSE(console_traits(true, table({{"TERM", "dumb"}})).bar);
  EXPECT_FALSE(console_traits(true, table({})).bar);
  EXPECT_FALSE(console_traits(true, table({{"TERM", "xterm"}, {"CI", "true"}})).bar);
}

TEST(ConsoleTest, NoColorMeansNone) {
  EXPECT_TRUE(console_traits(true, table({{"TERM", "xterm"}})).color);
  EXPECT_FALSE(console_traits(true, table({{"TERM", "xterm"}, {"NO_COLOR", "1"}})).color);
  EXPECT_FALSE(console_traits(false, table({{"TERM", "xterm"}})).color);
}

TEST(ConsoleTest, NothingInAnErrorIsACommandToTheTerminal) {
  EXPECT_EQ(Console::for_terminal("a plugin says \x1b[2J\x07:\n  line\n"),
            "a plugin says \\x1b[2J\\x07:\n  line\n");
}

TEST(ExitCodeTest, ErrorsBecomeTheCodesOfTheConventions) {
  EXPECT_EQ(exit_code(Error(ErrorCode::kNotFound, "x")), ExitCode::kFailure);
  EXPECT_EQ(exit_code(Error(ErrorCode::kDeadlineExceeded, "x")), ExitCode::kDeadline);
  EXPECT_EQ(exit_code(usage_error("x").error()), ExitCode::kUsage);
  const Error rejected =
      Error(ErrorCode::kUnimplemented, "x").with_detail(ExitWith{ExitCode::kProgramRejected});
  EXPECT_EQ(exit_code(rejected.with_context("seen from above")), ExitCode::kProgramRejected);
  EXPECT_EQ(static_cast<int>(exit_code_of_signal(2)), 130);
  EXPECT_EQ(static_cast<int>(exit_code_of_signal(15)), 143);
}

}  // namespace
}  // namespace millrace::commands
