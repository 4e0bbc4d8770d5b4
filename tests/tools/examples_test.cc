// The examples run, and what the README shows of them is in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

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

std::string output_of(const std::string& example) {
  const testing::Outcome o = testing::Process({testing::build_folder() + "/bin/" + example}).wait();
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  return o.out;
}

TEST(ExamplesTest, FirstProgramPrintsTheProduct) {
  EXPECT_EQ(output_of("first_program"), "4 5 10 11 \n");
}

TEST(ExamplesTest, CoroutineOnUvPrintsTheSquares) {
  EXPECT_EQ(output_of("coroutine_on_uv"), "1 4 9 16 \n");
}

TEST(ExamplesTest, CallbackOnLibeventPrintsTheSumBesideItsOwnTimer) {
  EXPECT_THAT(output_of("callback_on_libevent"),
              ::testing::AnyOf("tick\n2 4 6 \n", "2 4 6 \ntick\n"));
}

TEST(ExamplesTest, PrefetchingLoaderPrintsTheSumOfEachBatch) {
  EXPECT_EQ(output_of("prefetching_loader"), "36\n100\n164\n228\n292\n");
}

TEST(ExamplesTest, ManyProcessesAloneAreOne) {
  EXPECT_EQ(output_of("many_processes"), "rank 0 of 1: 1 0\n");
}

std::string elastic_output(const std::vector<std::string>& options) {
  const std::string bin = testing::build_folder() + "/bin/";
  std::vector<std::string> words = {bin + "millrace", "launch", "-n", "3"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", bin + "elastic_processes"});
  const testing::Outcome o = testing::Process(words).wait();
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.err, ::testing::HasSubstr("rank 1 "));
  return o.out;
}

TEST(ExamplesTest, ElasticProcessesGoOnWithTheRankThatIsStartedAnew) {
  EXPECT_EQ(elastic_output({"--restarts", "1"}),
            "3 ranks begin with round 0\n3 ranks begin with round 50\n100 rounds, total 300\n");
}

TEST(ExamplesTest, ElasticProcessesGoOnAsFewer) {
  EXPECT_EQ(elastic_output({"--min", "2"}),
            "3 ranks begin with round 0\n2 ranks begin with round 50\n100 rounds, total 250\n");
}

TEST(ExamplesTest, DataParallelLearnsTheSameOnFourDevices) {
  EXPECT_EQ(output_of("data_parallel"),
            "y = 2.00 x + 1.00\ny = 2.00 x + 1.00\ny = 2.00 x + 1.00\ny = 2.00 x + 1.00\n");
}

TEST(ExamplesTest, ActorWithAModelAnswersAndCounts) {
  EXPECT_EQ(output_of("actor_with_a_model"), "2 20\n4 40\n2 questions\n");
}

TEST(ExamplesTest, COnPollPrintsTheSum) { EXPECT_EQ(output_of("c_on_poll"), "11 22 33\n"); }

TEST(ExamplesTest, ReadmeShowsTheFirstProgramAsItIs) {
  const std::string program = file_text("tools/examples/first_program.cc");
  ASSERT_FALSE(program.empty());
  EXPECT_THAT(file_text("README.md"), ::testing::HasSubstr("```cpp\n" + program + "```\n"));
}

// The text between ```language and ```, one entry for each such block of README.md after heading.
std::vector<std::string> code_blocks(const std::string& language, const std::string& heading) {
  const std::string text = file_text("README.md");
  std::vector<std::string> blocks;
  const std::string begin = "```" + language + "\n", end = "```\n";
  const std::size_t stop = text.find("\n## ", text.find(heading) + 1);
  std::size_t at = text.find(begin, text.find(heading));
  while (at != std::string::npos && at < stop) {
    at += begin.size();
    const std::size_t close = text.find(end, at);
    blocks.push_back(text.substr(at, close - at));
    at = text.find(begin, close);
  }
  return blocks;
}

TEST(ExamplesTest, ReadmeShowsPartsOfTheOthersAsTheyAre) {
  const auto loop = code_blocks("cpp", "## Inside your own event loop");
  ASSERT_EQ(loop.size(), 1U);
  EXPECT_THAT(file_text("tools/examples/coroutine_on_uv.cc"), ::testing::HasSubstr(loop[0]));
  const auto many = code_blocks("cpp", "## Many processes");
  ASSERT_EQ(many.size(), 1U);
  EXPECT_THAT(file_text("tools/examples/many_processes.cc"), ::testing::HasSubstr(many[0]));
  const auto c = code_blocks("c", "## From C");
  ASSERT_EQ(c.size(), 1U);
  EXPECT_THAT(file_text("tools/examples/c_on_poll.c"), ::testing::HasSubstr(c[0]));
}

}  // namespace
}  // namespace millrace
