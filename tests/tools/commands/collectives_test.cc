// `millrace collectives`, alone and as the ranks of a launched job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using testing::millrace_command;
using testing::Outcome;
using testing::Process;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

// The lines of rank 0.
std::vector<Json> lines(const std::string& out) {
  std::vector<Json> all;
  std::istringstream in(out);
  for (std::string line; std::getline(in, line);) all.push_back(Json::parse(line));
  return all;
}

Outcome run(const Words& words, const std::map<std::string, std::string>& variables) {
  return Process(millrace_command(words), variables).wait();
}

Outcome alone(Words words) {
  words.insert(words.begin(), {"collectives", "--json"});
  return run(words, {{"CPU_NUM_DEVICES", "3"}});
}

Outcome launched(const std::string& ranks, Words words, const Words& launch = {}) {
  const testing::TempFolder folder;
  Words all = {"launch", "-n", ranks};
  all.insert(all.end(), launch.begin(), launch.end());
  all.push_back("--");
  for (const std::string& word : millrace_command({"collectives", "--json"})) all.push_back(word);
  all.insert(all.end(), words.begin(), words.end());
  const Outcome outcome = run(all, {{"XDG_RUNTIME_DIR", folder.path()}, {"CPU_NUM_DEVICES", "2"}});
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "something stayed behind";
  return outcome;
}

TEST(CollectivesCommandTest, ChecksEveryCollectiveOfOneProcess) {
  const Outcome o = alone({"--check"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto all = lines(o.out);
  EXPECT_EQ(all.back()["event"], "done");
  EXPECT_EQ(all.back()["failed"], 0);
  EXPECT_EQ(all.back()["cases"], all.size() - 1);
  EXPECT_GT(all.size(), 200u);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) EXPECT_EQ(all[i]["ok"], true) << all[i];
}

TEST(CollectivesCommandTest, ChecksEveryAlgorithmBetweenProcesses) {
  for (const std::string transport : {"shm", "unix", "tcp"}) {
    const Outcome o = launched("3", {"--check", "--dtype", "f32,bf16,i8", "--bytes", "4,300000"},
                               {"--transport", transport});
    ASSERT_EQ(o.code, 0) << o.err;
    const auto all = lines(o.out);
    EXPECT_EQ(all.back()["failed"], 0);
    EXPECT_EQ(all.back()["ranks"], 6);
    std::map<std::string, int> algorithms;
    for (const Json& one : all) {
      if (one.contains("algorithm")) ++algorithms[one["algorithm"]];
    }
    EXPECT_EQ(algorithms.size(), 4u);
  }
}

TEST(CollectivesCommandTest, AGroupOfSomeRanksLeavesTheOthersOut) {
  const Outcome o =
      launched("2", {"--check", "--op", "all_gather,split,rendezvous", "--ranks", "3,0,2"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(lines(o.out).back()["ranks"], 3);
  EXPECT_EQ(lines(o.out).back()["failed"], 0);
}

TEST(CollectivesCommandTest, AMistakeOfARankIsNamedWithBothCalls) {
  const std::map<std::string, std::string> words = {{"op@3", "barrier("},
                                                    {"dtype@2", "xi32>"},
                                                    {"shape@1", "all_reduce(sum"},
                                                    {"root@1", "root 0"},
                                                    {"skip@2", "rank 2 did not call it"}};
  for (const auto& [fault, text] : words) {
    const std::string op = fault.starts_with("root") ? "broadcast" : "all_reduce";
    const Outcome o = launched("2", {"--op", op, "--fault", fault});
    EXPECT_EQ(o.code, 0) << fault << o.err << o.out;
    const auto all = lines(o.out);
    EXPECT_EQ(all.back()["cases"], 1);
    EXPECT_THAT(all.front()["error"].get<std::string>(), HasSubstr(text));
  }
}

TEST(CollectivesCommandTest, ARendezvousNamesWhoIsAbsentAtItsDeadline) {
  const Outcome o = launched("2", {"--op", "rendezvous", "--fault", "skip@2"});
  EXPECT_EQ(o.code, 0) << o.err << o.out;
  EXPECT_THAT(lines(o.out).front()["error"].get<std::string>(),
              HasSubstr("rank 2 of 4 did not join"));
}

// A case whose group has ended by its mistake holds up no other one.
TEST(CollectivesCommandTest, AMistakeEndsTheGroupOfItsCaseAlone) {
  const std::map<std::string, int> cases = {{"op@1", 13}, {"dtype@3", 10}, {"root@2", 3}};
  for (const auto& [fault, count] : cases) {
    const Outcome o = launched("2", {"--fault", fault});
    EXPECT_EQ(o.code, 0) << fault << o.err << o.out;
    EXPECT_EQ(lines(o.out).back()["cases"], count) << fault;
    EXPECT_EQ(lines(o.out).back()["failed"], 0) << fault;
  }
}

// The others hear of a rank's failure before its process ends: the job's first failure is that
// rank.
TEST(CollectivesCommandTest, ARankThatFailsIsTheFirstFailureAndNotWhoHearsOfIt) {
  const testing::TempFolder folder;
  Words all = {"launch",
               "-n",
               "3",
               "--",
               "/bin/sh",
               "-c",
               R"(if [ $RANK = 1 ]; then exec "$@" --deadline 0.3; else exec "$@"; fi)",
               "sh"};
  for (const std::string& word : millrace_command({"collectives", "--op", "all_reduce"}))
    all.push_back(word);
  const Outcome o = run(all, {{"XDG_RUNTIME_DIR", folder.path()}, {"CPU_NUM_DEVICES", "1"}});
  EXPECT_EQ(o.code, 124) << o.out;
  EXPECT_THAT(o.err, HasSubstr("millrace launch: error: rank 1 (pid")) << o.err;
}

// A rank that ends well before it has joined is none that others wait for.
TEST(CollectivesCommandTest, ARankThatHasEndedBeforeItJoinedIsNamed) {
  const testing::TempFolder folder;
  Words all = {"launch", "-n", "2", "--", "/bin/sh", "-c", R"([ $RANK = 1 ] || exec "$@")", "sh"};
  for (const std::string& word : millrace_command({"collectives", "--op", "barrier"}))
    all.push_back(word);
  const Outcome o = run(all, {{"XDG_RUNTIME_DIR", folder.path()}, {"CPU_NUM_DEVICES", "1"}});
  EXPECT_EQ(o.code, 1) << o.out;
  EXPECT_THAT(o.err, HasSubstr("rank 1 ("));
  EXPECT_THAT(o.err, HasSubstr("it left the job before it had talked to any rank"));
}

// Rank 0, which another launcher has started, hosts the job: it waits for no rank beyond its
// limits.
TEST(CollectivesCommandTest, AHostWhoseDeadlineComesLeavesNothing) {
  const testing::TempFolder folder;
  const Outcome o = run({"collectives", "--op", "barrier", "--deadline", "0.5"},
                        {{"XDG_RUNTIME_DIR", folder.path()},
                         {"RANK", "0"},
                         {"WORLD_SIZE", "2"},
                         {"LOCAL_RANK", "0"},
                         {"LOCAL_WORLD_SIZE", "2"},
                         {"TORCHELASTIC_RUN_ID", "alone"},
                         {"MASTER_ADDR", "127.0.0.1"},
                         {"MASTER_PORT", "29500"}});
  EXPECT_EQ(o.code, 124) << o.err;
  EXPECT_THAT(o.err, HasSubstr("--deadline 0.5 came"));
  EXPECT_THAT(o.err, HasSubstr("rank 1"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "something stayed behind";
}

TEST(CollectivesCommandTest, WordsThatAreNoneAreNamed) {
  const std::map<Words, std::string> wrong = {
      {{"--op", "all_sum"}, "all_sum"},  {{"--dtype", "f8E5M2"}, "f8E5M2"},
      {{"--bytes=-1"}, "--bytes"},       {{"--algorithm", "star"}, "star"},
      {{"--ranks", "0,7"}, "no rank 7"}, {{"--fault", "late@1"}, "late@1"}};
  for (const auto& [words, text] : wrong) {
    const Outcome o = alone(words);
    EXPECT_EQ(o.code, 2) << o.out;
    EXPECT_THAT(o.err, HasSubstr(text));
  }
}

}  // namespace
}  // namespace millrace
