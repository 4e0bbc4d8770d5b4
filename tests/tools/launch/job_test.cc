// Ranks of a launched job that join it: real processes, which is what a launch has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::millrace_command;
using ::testing::Not;
using testing::Outcome;
using testing::Process;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

std::string rank_program() { return testing::build_folder() + "/bin/job_rank"; }

std::vector<std::string> lines(const std::string& text, const std::string& begin) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(begin)) all.push_back(line);
  return all;
}

// `millrace launch OPTIONS -- sh -c SCRIPT`, where $JOB is the program of a rank; the job's folder
// is in one of the test's.
class LaunchedJobTest : public ::testing::Test {
 protected:
  ~LaunchedJobTest() override {
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "something stayed behind";
  }
  std::unique_ptr<Process> start(Words options, const std::string& script) {
    options.insert(options.begin(), "launch");
    for (const std::string& word :
         {std::string("--"), std::string("/bin/sh"), std::string("-c"), script})
      options.push_back(word);
    return std::make_unique<Process>(
        millrace_command(options),
        std::map<std::string, std::string>{{"XDG_RUNTIME_DIR", folder.path()},
                                           {"JOB", rank_program()}});
  }
  Outcome run(const Words& options, const std::string& script) {
    return start(options, script)->wait();
  }
  const testing::TempFolder folder;
};

TEST_F(LaunchedJobTest, RanksMeetOverBothKindsOfStore) {
  for (const std::string store : {"unix", "tcp"}) {
    const Outcome o = run({"-n", "4", "--json", "--store", store}, "exec $JOB meet");
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(lines(o.out, "met 4").size(), 4u);
    const Json begin = Json::parse(lines(o.out, "{\"event\":\"launch_start\"").at(0));
    EXPECT_THAT(begin["store"],
                ::testing::StartsWith(store == "tcp" ? "tcp:127.0.0.1:" : "unix:" + folder.path()));
  }
}

TEST_F(LaunchedJobTest, RanksAreLinkedByTheTransportThatIsChosen) {
  for (const std::string store : {"unix", "tcp"}) {
    for (const std::string transport : {"shm", "unix", "tcp"}) {
      const Outcome o =
          run({"-n", "4", "--store", store, "--transport", transport}, "exec $JOB link");
      EXPECT_EQ(o.code, 0) << o.err;
      EXPECT_EQ(lines(o.out, "linked 4").size(), 4u) << store << " " << transport;
    }
  }
}

TEST_F(LaunchedJobTest, SocketsOfRanksThatGiveUpDoNotStay) {
  const Outcome o = run({"-n", "2"}, "exec $JOB link exit 5");
  EXPECT_EQ(o.code, 5) << o.err;
  EXPECT_EQ(lines(o.out, "linked 2").size(), 2u) << o.err;
}

TEST_F(LaunchedJobTest, SecretIsInNoVariableAndInAFileOfThisUserAlone) {
  const Outcome o = run({"-n", "1", "--store", "tcp"},
                        "stat -c 'mode %a %s' $MILLRACE_SECRET_FILE $(dirname "
                        "$MILLRACE_SECRET_FILE); echo store $MILLRACE_STORE");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(lines(o.out, "mode").at(0), "mode 600 32");
  EXPECT_THAT(lines(o.out, "mode").at(1), ::testing::StartsWith("mode 700"));
}

TEST_F(LaunchedJobTest, FailureIsHeardAtOnceByWhoHasJoinedAndEndsTheirCalls) {
  const Outcome o = run({"-n", "3", "--grace", "600"},
                        "if [ $RANK = 1 ]; then exec $JOB get 0 get 2 exit 3; fi; "
                        "exec $JOB put $RANK failure get never");
  EXPECT_EQ(o.code, 3) << o.err;
  const auto heard = lines(o.out, "heard 1 ");
  ASSERT_EQ(heard.size(), 2u) << o.out << o.err;
  EXPECT_THAT(heard[0], HasSubstr("the job has failed: rank 1 (host "));
  EXPECT_THAT(heard[0], HasSubstr(") ended with exit code 3"));
  EXPECT_THAT(o.err, HasSubstr("ABORTED: the job has failed: rank 1"));
}

TEST_F(LaunchedJobTest, GoodbyeIsNoFailureAndNoSilence) {
  const Outcome o = run({"-n", "2", "--silent-after", "2"},
                        "$JOB meet; if [ $RANK = 0 ]; then sleep 3; fi; $JOB joined");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.err, IsEmpty());
  EXPECT_EQ(lines(o.out, "joined").size(), 2u);
}

TEST_F(LaunchedJobTest, BusyMainThreadIsNotSilent) {
  const Outcome o = run({"-n", "1", "--silent-after", "2"}, "exec $JOB sleep 5");
  EXPECT_EQ(o.code, 0) << o.err;
}

// The number behind "joined ", of the first process that told it.
int wait_until_joined(Process& launch) {
  int pid = 0;
  EXPECT_TRUE(launch.wait_for([&pid](const Outcome& o) {
    const auto joined = lines(o.out, "joined ");
    if (!joined.empty()) pid = std::stoi(joined[0].substr(7));
    return pid != 0;
  }));
  return pid;
}

TEST_F(LaunchedJobTest, StoppedRankIsSuspectAndThenKilledAsSilent) {
  const auto launch =
      start({"-n", "2", "--silent-after", "3", "--grace", "600"},
            "if [ $RANK = 1 ]; then exec $JOB joined sleep 600; fi; exec $JOB failure");
  ::kill(wait_until_joined(*launch), SIGSTOP);
  const Outcome o = launch->wait();
  EXPECT_EQ(o.code, 128 + SIGKILL);
  EXPECT_THAT(o.err, HasSubstr(") has given no sign of life for 1.5 s"));
  EXPECT_THAT(o.err, HasSubstr("was silent, and killed"));
  EXPECT_THAT(lines(o.out, "heard 1 ").at(0), HasSubstr("was silent, and killed"));
}

TEST_F(LaunchedJobTest, ShortStopIsNoSilence) {
  const auto launch = start({"-n", "1", "--silent-after", "20"}, "exec $JOB joined sleep 1");
  const int pid = wait_until_joined(*launch);
  ::kill(pid, SIGSTOP);
  ::poll(nullptr, 0, 500);
  ::kill(pid, SIGCONT);
  const Outcome o = launch->wait();
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.err, IsEmpty());
}

// The first one is named with its pid; it leaves once the second one is refused.
TEST_F(LaunchedJobTest, SecondProcessOfARankIsRefusedAndHearsOfTheFirst) {
  const Outcome o = run({"-n", "1"},
                        "mkfifo $XDG_RUNTIME_DIR/in; $JOB joined sleep 1 > $XDG_RUNTIME_DIR/in & "
                        "read line < $XDG_RUNTIME_DIR/in; echo $line; $JOB meet; echo code $?; "
                        "wait; rm $XDG_RUNTIME_DIR/in");
  EXPECT_THAT(o.out, HasSubstr("code 1"));
  const std::string pid = lines(o.out, "joined ").at(0).substr(7);
  EXPECT_THAT(o.err, HasSubstr("ALREADY_EXISTS: joining the job as rank 0"));
  EXPECT_THAT(o.err, HasSubstr("pid " + pid + ") has that rank"));
}

// What makes a runtime joins: while another process has its rank, it is refused.
TEST_F(LaunchedJobTest, CommandsThatMakeARuntimeJoin) {
  const std::string run_it =
      "'" + testing::build_folder() + "/bin/millrace' run $XDG_RUNTIME_DIR/p.mlir";
  const Outcome o =
      run({"-n", "1"},
          "cd $XDG_RUNTIME_DIR; mkfifo in; echo 'func.func @main() -> tensor<f32> "
          "{ %0 = stablehlo.constant dense<1.0> : tensor<f32> return %0 : "
          "tensor<f32> }' > p.mlir; " +
              run_it + "; echo first $?; $JOB joined sleep 1 > in & read line < in; " + run_it +
              "; echo second $?; wait; rm in p.mlir");
  EXPECT_THAT(o.out, HasSubstr("first 0")) << o.err;
  EXPECT_THAT(o.out, HasSubstr("second "));
  EXPECT_THAT(o.out, ::testing::Not(HasSubstr("second 0")));
  EXPECT_THAT(o.err, HasSubstr("has that rank"));
}

// (A training ends by the error of its group: train_processes_test.cc.)
TEST_F(LaunchedJobTest, CommandEndsAtOnceWithTheFailureOfAnotherRank) {
  const std::string run_it = "'" + testing::build_folder() + "/bin/millrace' run p.mlir";
  const Outcome o = run({"-n", "2", "--grace", "600", "--json"},
                        "cd $XDG_RUNTIME_DIR; if [ $RANK = 0 ]; then echo 'func.func @main() -> "
                        "tensor<f32> { %0 = stablehlo.constant dense<1.0> : tensor<f32> return %0 "
                        ": tensor<f32> }' > p.mlir; MILLRACE_LOG=info exec " +
                            run_it +
                            " --repeat 1000000000 2> log; fi; until grep -q compiled log; do "
                            "sleep 0.01; done 2> /dev/null; exec $JOB joined exit 3");
  std::filesystem::remove(folder.path() + "/log");
  std::filesystem::remove(folder.path() + "/p.mlir");
  EXPECT_EQ(o.code, 3) << o.err;
  const auto ends = lines(o.out, "{\"event\":\"rank_end\"");
  ASSERT_EQ(ends.size(), 2u) << o.out;
  EXPECT_EQ(Json::parse(ends[1])["exit"], 143) << o.err;
}

TEST_F(LaunchedJobTest, KilledLaunchLeavesNothingBehind) {
  for (const std::string store : {"unix", "tcp"}) {
    const auto launch = start({"-n", "2", "--store", store}, "exec $JOB joined get never");
    wait_until_joined(*launch);
    EXPECT_FALSE(std::filesystem::is_empty(folder.path()));
    launch->send(SIGKILL);
    launch->wait();
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    while (!std::filesystem::is_empty(folder.path()) && std::chrono::steady_clock::now() < end)
      ::poll(nullptr, 0, 1);
  }
}

TEST_F(LaunchedJobTest, RestartedRankJoinsAgain) {
  const Outcome o = run({"-n", "2", "--restarts", "1"},
                        "if [ $RANK = 1 ] && mkdir $XDG_RUNTIME_DIR/again; then exec $JOB exit 5; "
                        "fi; exec $JOB meet");
  std::filesystem::remove(folder.path() + "/again");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(lines(o.out, "met 2").size(), 2u) << o.out << o.err;
}

TEST_F(LaunchedJobTest, StatusShowsTheRanksAndWhoIsBehind) {
  const auto status = [this](const Words& words) {
    return Process(millrace_command(words), {{"XDG_RUNTIME_DIR", folder.path()}}).wait();
  };
  for (const std::string store : {"unix", "tcp"}) {
    const auto launch = start({"-n", "3", "--store", store},
                              "[ $RANK = 2 ] && exec sleep 600; exec $JOB progress $((RANK + 5)) "
                              "joined get never");
    ASSERT_TRUE(
        launch->wait_for([](const Outcome& o) { return lines(o.out, "joined ").size() == 2; }));
    // Other tests may have jobs in /tmp, which this user's status shows too.
    Json job;
    do {
      const Outcome o = status({"status", "--json"});
      ASSERT_EQ(o.code, 0) << o.err;
      for (const std::string& line : lines(o.out, "{\"job\":")) {
        const Json one = Json::parse(line);
        if (one["pid"] == launch->pid()) job = one;
      }
      ASSERT_TRUE(job.is_object()) << o.out;
    } while (job["ranks"][0]["groups"].empty() || job["ranks"][1]["groups"].empty());
    EXPECT_EQ(job["ranks"].size(), 3u);
    EXPECT_EQ(job["ranks"][0]["state"], "joined");
    const Json group = {{"name", "world"}, {"begun", 5}, {"done", 4}, {"behind", true}};
    EXPECT_EQ(job["ranks"][0]["groups"][0], group);
    EXPECT_EQ(job["ranks"][1]["groups"][0]["behind"], false);
    EXPECT_EQ(job["ranks"][2]["state"], "starting");
    EXPECT_GT(job["ranks"][2]["pid"], 1);
    EXPECT_THAT(status({"status"}).out, HasSubstr("joined    world 4/5 behind\n"));
    launch->send(SIGTERM);
    launch->wait();
    const Outcome none = status({"status"});
    EXPECT_EQ(none.code, 0);
    EXPECT_THAT(none.out, Not(HasSubstr("job " + job["job"].get<std::string>() + " ")));
  }
}

TEST_F(LaunchedJobTest, ManyRanksMeet) {
  const Outcome o = run({"-n", "64"}, "exec $JOB meet");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(lines(o.out, "met 64").size(), 64u);
}

// A kill at some moment of a job: it ends, and nothing is left.
TEST_F(LaunchedJobTest, KillAtAnyMomentEndsTheJob) {
  for (int delay = 0; delay < 40; delay += 2) {
    const auto launch =
        start({"-n", "3", "--grace", "600"}, "echo pid $$; exec $JOB meet put $RANK failure");
    int pid = 0;
    launch->wait_for([&pid](const Outcome& o) {
      const auto pids = lines(o.out, "pid ");
      if (!pids.empty()) pid = std::stoi(pids[0].substr(4));
      return pid != 0;
    });
    ::poll(nullptr, 0, delay);
    ::kill(pid, SIGKILL);
    const Outcome o = launch->wait();
    EXPECT_EQ(o.code, 128 + SIGKILL) << o.err;
  }
}

}  // namespace
}  // namespace millrace
