// `millrace train` as the ranks of one job: real processes, because their end is what is tested
// too. What they compute, in every spread over parts, is in tests/tools/train_world_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/tools/trace/timeline.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::millrace_command;
using testing::Outcome;
using testing::Process;
using testing::run_millrace;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// `millrace train` with ranks that compute 64 rows a step each, or with another batch.
Words train(int ranks, int devices, const Words& options, int batch = 0) {
  return Words{"train",
               "--model",
               testing::mnist_model(),
               "--fake-data",
               "--deterministic",
               "--threads",
               "1",
               "--devices",
               std::to_string(devices),
               "--batch-size",
               std::to_string(batch > 0 ? batch : 64 * ranks)} +
         options;
}

Words launch(int processes, const Words& options, const Words& program) {
  return Words{"launch", "-n", std::to_string(processes)} + options + Words{"--"} + program;
}
// The same for a shell, whose script has the command as "$@" and its rank as $RANK.
Words in_shell(const std::string& script, const Words& program) {
  return Words{"/bin/sh", "-c", script, "sh"} + program;
}

std::vector<Json> events(const std::string& out, const std::string& kind) {
  std::vector<Json> found;
  std::istringstream in(out);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with('{')) continue;
    Json event = Json::parse(line);
    if (event["event"] == kind) found.push_back(std::move(event));
  }
  return found;
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(TrainProcessesTest, NumbersAndCheckpointsAreThoseOfOneProcessToTheBit) {
  const testing::TempFolder folders[2];
  const auto options = [](const testing::TempFolder& folder) {
    return Words{"--max-steps", "9", "--json", "--checkpoint", folder.path(), "--every", "4"};
  };
  const Outcome whole = run_millrace(train(4, 4, options(folders[0])));
  ASSERT_EQ(whole.code, 0) << whole.err;
  // Two processes of two devices.
  const Outcome parts =
      run_millrace(launch(2, {}, millrace_command(train(4, 2, options(folders[1])))));
  ASSERT_EQ(parts.code, 0) << parts.err;

  // Told once, by rank 0.
  for (const char* const kind : {"start", "done"}) EXPECT_EQ(events(parts.out, kind).size(), 1U);
  EXPECT_EQ(events(parts.out, "start")[0]["devices"], 4);
  const Json done = events(parts.out, "done")[0];
  const Json wanted = events(whole.out, "done")[0];
  for (const char* const field :
       {"final_loss", "test_accuracy", "test_loss", "test_items", "steps"})
    EXPECT_EQ(done[field], wanted[field]) << field;
  EXPECT_THAT(parts.err, IsEmpty());
  // (One process may take the others later than they are due, while it writes one.)
  for (const char* const name : {"arrays.safetensors", "checkpoint.json"}) {
    const std::string file = std::string("step-00000009/") + name;
    EXPECT_TRUE(content(folders[1].file(file)) == content(folders[0].file(file))) << file;
  }

  // Resumed as four processes, of one device each.
  const auto longer = [](const testing::TempFolder& folder) {
    return Words{"--max-steps", "12", "--json", "--checkpoint", folder.path(), "--resume"};
  };
  const Outcome later =
      run_millrace(launch(4, {}, millrace_command(train(4, 1, longer(folders[1])))));
  const Outcome alone = run_millrace(train(4, 4, longer(folders[0])));
  ASSERT_EQ(later.code, 0) << later.err;
  EXPECT_EQ(events(later.out, "start")[0]["first_step"], 9);
  EXPECT_EQ(events(later.out, "done")[0]["test_loss"], events(alone.out, "done")[0]["test_loss"]);
}

TEST(TrainProcessesTest, WhatARankDoesOtherwiseIsNamedByBoth) {
  const Outcome o =
      run_millrace(launch(2, {},
                          in_shell("exec \"$@\" --seed $((RANK + 7))",
                                   millrace_command(train(2, 1, {"--max-steps", "3", "--json"})))));
  EXPECT_EQ(o.code, 1) << o.err;
  for (const char* const rank : {"rank 0", "rank 1"}) {
    EXPECT_THAT(o.err, HasSubstr(std::string("millrace train: error: ") + rank + " (host "));
  }
  EXPECT_THAT(o.err, HasSubstr("the seed is 7 at rank 0 and 8 at rank 1"));
  EXPECT_THAT(events(o.out, "step"), IsEmpty());
  EXPECT_EQ(events(o.out, "error").size(), 1U) << o.out;
}

TEST(TrainProcessesTest, BatchThatDoesNotDivideOverAllRanksIsRefused) {
  const Outcome o =
      run_millrace(launch(2, {}, millrace_command(train(2, 1, {"--max-steps", "3"}, 129))));
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_THAT(o.err, HasSubstr("--batch-size 129 does not divide evenly over 2 devices"));
}

TEST(TrainProcessesTest, KilledRankIsNamedByTheOthers) {
  Process launched(
      millrace_command(launch(2, {"--json", "--grace", "60"},
                              millrace_command(train(2, 1, {"--epochs", "100000", "--json"})))));
  ASSERT_TRUE(launched.wait_for(
      [](const Outcome& o) { return o.out.find("\"event\":\"step\"") != std::string::npos; }));
  Outcome so_far;
  ASSERT_TRUE(launched.wait_for([&so_far](const Outcome& o) {
    so_far = o;
    return true;
  }));
  const int pid = events(so_far.out, "launch_start")[0]["ranks"][1]["pid"];
  ::kill(pid, SIGKILL);
  const Outcome& o = launched.wait();
  EXPECT_EQ(o.code, 128 + SIGKILL) << o.err;
  EXPECT_THAT(o.err, HasSubstr("millrace train: error: rank 0 (host "));
  EXPECT_THAT(o.err, HasSubstr("pid " + std::to_string(pid)));
  const auto ends = events(o.out, "rank_end");
  ASSERT_EQ(ends.size(), 2U) << o.out;
}

// Kills a rank once a step has ended; the end of the launch.
Outcome run_and_kill(int ranks, int killed, const Words& options, int steps) {
  Process launched(millrace_command(
      launch(ranks, Words{"--json"} + options,
             millrace_command(train(ranks, 1,
                                    {"--max-steps", std::to_string(steps), "--commit-every", "10",
                                     "--epochs", "1000", "--json"})))));
  Outcome so_far;
  EXPECT_TRUE(launched.wait_for([&so_far](const Outcome& o) {
    so_far = o;
    return o.out.find("\"event\":\"step\"") != std::string::npos;
  }));
  ::kill(events(so_far.out, "launch_start")[0]["ranks"][killed]["pid"].get<int>(), SIGKILL);
  return launched.wait();
}

TEST(TrainProcessesTest, RankThatIsStartedAnewLeadsToTheSameLosses) {
  const Words steps = {"--max-steps", "200", "--epochs", "1000", "--json"};
  const Json wanted = events(run_millrace(train(3, 3, steps)).out, "done")[0];
  for (const int killed : {0, 1}) {
    SCOPED_TRACE(killed);
    const Outcome o = run_and_kill(3, killed, {"--restarts", "1"}, 200);
    ASSERT_EQ(o.code, 0) << o.err;
    const auto recoveries = events(o.out, "recovery");
    ASSERT_EQ(recoveries.size(), 1U) << o.out;
    EXPECT_EQ(recoveries[0]["world_size"], 3);
    EXPECT_THAT(recoveries[0]["error"].get<std::string>(),
                HasSubstr("rank " + std::to_string(killed)));
    const Json done = events(o.out, "done")[0];
    for (const char* const field : {"steps", "final_loss", "test_accuracy", "test_loss"})
      EXPECT_EQ(done[field], wanted[field]) << field;
    EXPECT_EQ(events(o.out, "start").size(), 1U);
    EXPECT_EQ(events(o.out, "launch_done")[0]["restarts"], 1);
  }
}

TEST(TrainProcessesTest, FewerRanksGoOnUntilAnotherJoinsThem) {
  const Outcome fewer = run_and_kill(3, 0, {"--min", "2"}, 100);
  ASSERT_EQ(fewer.code, 0) << fewer.err;
  ASSERT_EQ(events(fewer.out, "recovery").size(), 1U);
  EXPECT_EQ(events(fewer.out, "recovery")[0]["world_size"], 2);
  EXPECT_EQ(events(fewer.out, "done").size(), 1U);
  EXPECT_THAT(fewer.err, HasSubstr("the job goes on without it"));

  const Outcome again = run_and_kill(3, 2, {"--min", "2", "--restarts", "1"}, 500);
  ASSERT_EQ(again.code, 0) << again.err;
  const auto recoveries = events(again.out, "recovery");
  ASSERT_EQ(recoveries.size(), 2U) << again.out;
  EXPECT_EQ(recoveries[0]["world_size"], 2);
  EXPECT_EQ(recoveries[1]["world_size"], 3);
  EXPECT_TRUE(recoveries[1]["error"].is_null());
  EXPECT_EQ(recoveries[1]["step"].get<int>() % 10, 0);
}

TEST(TrainProcessesTest, OneTraceHasTheLanesOfAllRanks) {
  const testing::TempFolder folder;
  const std::string trace = folder.file("run.pftrace");
  const Outcome o = run_millrace(
      launch(3, {}, millrace_command(train(3, 1, {"--max-steps", "6", "--trace", trace}))));
  ASSERT_EQ(o.code, 0) << o.err;
  const auto timeline = trace::read_timeline(trace);
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  for (const char* const rank : {"rank 0: ", "rank 1: ", "rank 2: "}) {
    EXPECT_THAT(timeline->lanes, Contains(std::string(rank) + "steps"));
    EXPECT_THAT(timeline->lanes, Contains(HasSubstr(std::string(rank) + "loader")));
  }
  const auto files = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "no part is left";
}

}  // namespace
}  // namespace millrace
