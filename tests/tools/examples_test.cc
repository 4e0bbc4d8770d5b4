// The examples run, and the README shows the first of them as it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/paths.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream in(testing::source_folder() + "/" + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(ExamplesTest, FirstProgramPrintsTheProduct) {
  const testing::Outcome o =
      testing::Process({testing::build_folder() + "/bin/first_program"}).wait();
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "4 5 10 11 \n");
}

TEST(ExamplesTest, ReadmeShowsTheFirstProgramAsItIs) {
  const std::string program = file_text("tools/examples/first_program.cc");
  ASSERT_FALSE(program.empty());
  EXPECT_THAT(file_text("README.md"), ::testing::HasSubstr("```cpp\n" + program + "```\n"));
}

}  // namespace
}  // namespace millrace
