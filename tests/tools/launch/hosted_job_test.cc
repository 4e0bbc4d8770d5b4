// Ranks that another launcher than ours has started: real processes with the variables that it
// sets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Outcome;
using testing::Process;
using Set = std::map<std::string, std::string>;

Set variables_of(const std::string& launcher, int rank, int ranks) {
  const std::string r = std::to_string(rank), n = std::to_string(ranks);
  if (launcher == "torchrun") {
    return {{"RANK", r},          {"WORLD_SIZE", n},
            {"LOCAL_RANK", r},    {"LOCAL_WORLD_SIZE", n},
            {"MASTER_PORT", "1"}, {"TORCHELASTIC_RUN_ID", "none"}};
  }
  if (launcher == "mpirun") {
    return {{"OMPI_COMM_WORLD_RANK", r},
            {"OMPI_COMM_WORLD_SIZE", n},
            {"OMPI_COMM_WORLD_LOCAL_RANK", r},
            {"OMPI_COMM_WORLD_LOCAL_SIZE", n},
            {"PMIX_NAMESPACE", "1234"}};
  }
  return {{"SLURM_JOB_ID", "77"}, {"SLURM_STEP_ID", "5"}, {"SLURM_PROCID", r},
          {"SLURM_NTASKS", n},    {"SLURM_LOCALID", r},   {"SLURM_STEP_NUM_NODES", "1"}};
}

class HostedJobTest : public ::testing::Test {
 protected:
  ~HostedJobTest() override {
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "something stayed behind";
  }
  Process& start(int rank, const std::vector<std::string>& words, int ranks = 3,
                 const std::string& launcher = "torchrun") {
    Set variables = variables_of(launcher, rank, ranks);
    variables["XDG_RUNTIME_DIR"] = folder.path();
    std::vector<std::string> program = {testing::build_folder() + "/bin/job_rank"};
    program.insert(program.end(), words.begin(), words.end());
    processes.push_back(std::make_unique<Process>(program, variables));
    return *processes.back();
  }
  // The number behind "joined ".
  static int wait_until_joined(Process& process) {
    int pid = 0;
    EXPECT_TRUE(process.wait_for([&pid](const Outcome& o) {
      const std::size_t at = o.out.find("joined ");
      if (at != std::string::npos && o.out.find('\n', at) != std::string::npos)
        pid = std::stoi(o.out.substr(at + 7));
      return pid != 0;
    }));
    return pid;
  }

  const testing::TempFolder folder;
  std::vector<std::unique_ptr<Process>> processes;
};

TEST_F(HostedJobTest, RanksOfEachLauncherMeetAndAreLinked) {
  for (const std::string launcher : {"torchrun", "mpirun", "srun"}) {
    processes.clear();
    for (const int rank : {2, 1, 0}) start(rank, {"meet", "link"}, 3, launcher);
    for (const auto& process : processes) {
      const Outcome o = process->wait();
      EXPECT_EQ(o.code, 0) << launcher << o.err;
      EXPECT_EQ(o.out, "met 3\nlinked 3\n");
      EXPECT_THAT(o.err, IsEmpty());
    }
  }
}

TEST_F(HostedJobTest, KilledRankIsNamedToTheOthers) {  // RH-2
  Process& zero = start(0, {"joined", "failure"});
  Process& one = start(1, {"joined", "failure", "get", "never"});
  Process& two = start(2, {"joined", "sleep", "600"});
  wait_until_joined(zero);
  wait_until_joined(one);
  const int pid = wait_until_joined(two);
  two.send(SIGKILL);
  const std::string name = ", pid " + std::to_string(pid) + ") left without a goodbye";
  const Outcome heard = zero.wait();
  EXPECT_EQ(heard.code, 0) << heard.err;
  EXPECT_THAT(heard.out, HasSubstr("heard 2 the job has failed: rank 2 (host "));
  EXPECT_THAT(heard.out, HasSubstr(name));
  const Outcome failed = one.wait();
  EXPECT_THAT(failed.out, HasSubstr(name));
  EXPECT_EQ(failed.code, 1) << "its call fails";
  EXPECT_THAT(failed.err, HasSubstr(name));
}

TEST_F(HostedJobTest, KilledHostIsNamedToTheOthers) {  // RH-2
  Process& zero = start(0, {"joined", "sleep", "600"});
  Process& one = start(1, {"joined", "failure"});
  const int pid = wait_until_joined(zero);
  wait_until_joined(one);
  zero.send(SIGKILL);
  const Outcome heard = one.wait();
  EXPECT_THAT(heard.out, HasSubstr("heard 0 the job has failed: rank 0 (host "));
  EXPECT_THAT(heard.out, HasSubstr(", pid " + std::to_string(pid) + ") left without a goodbye"));
}

TEST_F(HostedJobTest, WhatAKilledJobLeftIsInNoOnesWay) {  // RH-1
  Process& zero = start(0, {"joined", "sleep", "600"}, 2);
  wait_until_joined(zero);
  zero.send(SIGKILL);
  zero.wait();
  EXPECT_FALSE(std::filesystem::is_empty(folder.path()));
  for (const int rank : {1, 0}) start(rank, {"meet"}, 2);
  for (std::size_t i = 1; i < processes.size(); ++i) {
    const Outcome o = processes[i]->wait();
    EXPECT_EQ(o.code, 0) << o.err;
  }
}

TEST_F(HostedJobTest, SecondProcessOfARankIsRefusedAndHearsOfTheFirst) {
  for (const int rank : {0, 1}) {
    processes.clear();
    Process& zero = start(0, {"joined", "get", "end"}, 2);
    Process& one = start(1, {"joined", "get", "end"}, 2);
    const int pids[] = {wait_until_joined(zero), wait_until_joined(one)};
    const Outcome second = start(rank, {"joined"}, 2).wait();
    EXPECT_EQ(second.code, 1);
    EXPECT_THAT(second.err,
                HasSubstr("ALREADY_EXISTS: joining the job as rank " + std::to_string(rank)));
    EXPECT_THAT(second.err, HasSubstr("pid " + std::to_string(pids[rank]) + ") has that rank"));
    zero.send(SIGKILL);
    one.send(SIGKILL);
    zero.wait();
    one.wait();
    start(0, {"meet"}, 1);  // another job, which clears up
    EXPECT_EQ(processes.back()->wait().code, 0);
  }
}

TEST_F(HostedJobTest, FolderThatOthersMayEnterIsRefused) {
  wait_until_joined(start(0, {"joined", "sleep", "600"}, 1));
  std::string path;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) path = entry.path();
  processes[0]->send(SIGKILL);
  processes[0]->wait();
  ::chmod(path.c_str(), 0777);
  const Outcome o = start(0, {"joined"}, 1).wait();
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, HasSubstr("PERMISSION_DENIED: entering " + path));
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace millrace
