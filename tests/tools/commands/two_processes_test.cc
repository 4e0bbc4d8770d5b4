// A job of two processes, each with a plugin's devices of its own, ends as the same job on the CPU
// device does. Real processes, since that is what a plugin must stand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/plugins.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using testing::Outcome;
using testing::Process;

// What both ranks tell, which must be the same.
std::string train(const std::string& kind) {
  const testing::TempFolder folder;
  const std::string program = testing::build_folder() + "/bin/train_rank";
  Process first({program, kind, "0", folder.path()});
  Process second({program, kind, "1", folder.path()});
  const Outcome one = first.wait();
  const Outcome other = second.wait();
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_EQ(one.out, other.out);
  return one.out;
}

TEST(TwoProcessesTest, OnAPluginEndAsOnTheCpuDevice) {
  const auto plugins = testing::plugins_at_hand();
  const auto found = plugins.find("Xla0115");
  if (found == plugins.end()) GTEST_SKIP() << "no plugin here: tests/fetch_plugins gets it";
  const std::string expected = train("cpu");
  EXPECT_EQ(std::ranges::count(expected, '\n'), 4);
  EXPECT_EQ(train("xla=" + found->second), expected);
}

TEST(TwoProcessesTest, OnAPluginOfOurOwnEndAsOnTheCpuDevice) {
  EXPECT_EQ(train("memory=" + testing::build_folder() + "/lib/memory_plugin.so"), train("cpu"));
}

// What a plugin is not asked for it is not sent: this is how it would answer.
TEST(TwoProcessesTest, OptionsThatThePluginDoesNotKnowAreItsError) {
  const testing::TempFolder folder;
  const Outcome outcome =
      Process({testing::build_folder() + "/bin/train_rank",
               "memory=" + testing::build_folder() + "/lib/memory_plugin.so,node_id=$process", "0",
               folder.path()})
          .wait();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("node_id"));
}

}  // namespace
}  // namespace millrace
