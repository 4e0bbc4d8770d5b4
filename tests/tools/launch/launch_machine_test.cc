#include "millrace/tools/launch/launch_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

namespace millrace::launch {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string text(const Command& command) {
  const std::string rank = std::to_string(command.rank);
  const std::string end = std::string(name_of(command.end.reason)) + " of " + rank + "." +
                          std::to_string(command.end.incarnation);
  switch (command.kind) {
    case Command::Kind::kStart:
      return "start " + rank;
    case Command::Kind::kSignal:
      return std::string(::sigabbrev_np(command.signal)) + " to " + rank;
    case Command::Kind::kEnded:
      return "ended: " + end;
    case Command::Kind::kFailed:
      return "failed: " + end;
    case Command::Kind::kRestart:
      return "restart: " + end;
    case Command::Kind::kLost:
      return "lost: " + end;
    case Command::Kind::kNotDue:
      return "not due: " + std::to_string(command.rank);
    case Command::Kind::kFinish:
      return "finish " + std::to_string(command.exit_code);
  }
  return "";
}

std::vector<std::string> texts(const Commands& commands) {
  std::vector<std::string> all;
  for (const Command& command : commands) all.push_back(text(command));
  return all;
}

using Texts = std::vector<std::string>;

// A job by the clock of the test, which begins at 0.
class LaunchMachineTest : public ::testing::Test {
 protected:
  // All ranks run; those of `joined` have joined.
  void start(const LaunchRules& rules, const std::vector<int>& joined = {}) {
    machine.emplace(rules);
    static_cast<void>(machine->begin(now()));
    for (int rank = 0; rank < rules.ranks; ++rank)
      static_cast<void>(machine->started(rank, 100 + rank, now()));
    for (const int rank : joined) static_cast<void>(machine->joined(rank, now()));
  }
  Texts exit(int rank, int code) { return texts(machine->ended(rank, {.exit = code}, now())); }
  Texts killed(int rank, int signal) {
    return texts(machine->ended(rank, {.signal = signal}, now()));
  }
  Texts signal(int number) { return texts(machine->signalled(number, now())); }
  // At the next time that the machine waits for.
  Texts next(Duration expected) {
    EXPECT_EQ(machine->next_timer(), TimePoint(expected));
    now_ = TimePoint(expected);
    return texts(machine->timer(now()));
  }
  TimePoint now() const { return now_; }

  std::optional<LaunchMachine> machine;

 private:
  TimePoint now_{Duration(0)};
};

TEST_F(LaunchMachineTest, RanksStartOneAtATime) {
  machine.emplace(LaunchRules{.ranks = 3});
  EXPECT_THAT(texts(machine->begin(now())), ElementsAre("start 0"));
  EXPECT_EQ(machine->state(0), RankState::kStarting);
  EXPECT_EQ(machine->state(1), RankState::kQueued);
  EXPECT_THAT(texts(machine->started(0, 100, now())), ElementsAre("start 1"));
  EXPECT_THAT(exit(0, 0), ElementsAre("ended: exit of 0.0"));
  EXPECT_THAT(texts(machine->started(1, 101, now())), ElementsAre("start 2"));
  EXPECT_THAT(texts(machine->started(2, 102, now())), IsEmpty());
  EXPECT_EQ(machine->state(2), RankState::kRunning);
  EXPECT_EQ(machine->next_timer(), std::nullopt);
}

TEST_F(LaunchMachineTest, EndsWith0WhenAllRanksHave) {
  start({.ranks = 2});
  EXPECT_THAT(exit(1, 0), ElementsAre("ended: exit of 1.0"));
  EXPECT_EQ(machine->job(), JobState::kRunning);
  EXPECT_THAT(exit(0, 0), ElementsAre("ended: exit of 0.0", "finish 0"));
  EXPECT_EQ(machine->job(), JobState::kDone);
  EXPECT_FALSE(machine->first_failure());
}

TEST_F(LaunchMachineTest, FirstFailureEndsTheJobAndIsNamed) {
  start({.ranks = 3, .grace = 5s});
  EXPECT_THAT(exit(1, 3),
              ElementsAre("ended: exit of 1.0", "failed: exit of 1.0", "TERM to 0", "TERM to 2"));
  EXPECT_EQ(machine->first_failure()->rank, 1);
  EXPECT_EQ(machine->first_failure()->pid, 101);
  EXPECT_EQ(machine->state(0), RankState::kEnding);
  EXPECT_THAT(killed(0, SIGTERM), ElementsAre("ended: signal of 0.0")) << "no failure of its own";
  EXPECT_THAT(next(5s), ElementsAre("KILL to 2"));
  EXPECT_EQ(machine->next_timer(), std::nullopt);
  EXPECT_THAT(killed(2, SIGKILL), ElementsAre("ended: signal of 2.0", "finish 3"));
  EXPECT_EQ(machine->first_failure()->rank, 1);
}

TEST_F(LaunchMachineTest, SignalThatEndsTheFirstRankMakesTheExitCode) {
  start({.ranks = 1});
  EXPECT_THAT(killed(0, SIGSEGV),
              ElementsAre("ended: signal of 0.0", "failed: signal of 0.0", "finish 139"));
}

TEST_F(LaunchMachineTest, RanksThatHaveJoinedGetAGraceBeforeTheSignal) {
  start({.ranks = 3, .grace = 5s}, {1});
  EXPECT_THAT(exit(0, 1), ElementsAre("ended: exit of 0.0", "failed: exit of 0.0", "TERM to 2"));
  EXPECT_EQ(machine->state(1), RankState::kEnding);
  EXPECT_THAT(next(5s), ElementsAre("TERM to 1", "KILL to 2"));
  EXPECT_THAT(killed(2, SIGKILL), ElementsAre("ended: signal of 2.0"));
  EXPECT_THAT(next(10s), ElementsAre("KILL to 1"));
  EXPECT_THAT(killed(1, SIGKILL), ElementsAre("ended: signal of 1.0", "finish 1"));
}

TEST_F(LaunchMachineTest, GraceOf0GoesOnAtOnce) {
  start({.ranks = 2}, {1});
  EXPECT_THAT(exit(0, 1), ElementsAre("ended: exit of 0.0", "failed: exit of 0.0", "TERM to 1"));
  EXPECT_THAT(next(0s), ElementsAre("KILL to 1"));
}

TEST_F(LaunchMachineTest, SignalReachesEachRankOnceAndASecondKills) {
  for (const auto& [number, name, code] : {std::tuple(SIGINT, "INT to ", "finish 130"),
                                           std::tuple(SIGTERM, "TERM to ", "finish 143")}) {
    start({.ranks = 2, .grace = 5s}, {1});
    EXPECT_THAT(signal(number), ElementsAre(name + std::string("0"), name + std::string("1")));
    EXPECT_THAT(exit(0, 130), ElementsAre("ended: exit of 0.0"));
    EXPECT_THAT(signal(number), ElementsAre("KILL to 1"));
    EXPECT_THAT(signal(number), IsEmpty());
    EXPECT_THAT(killed(1, SIGKILL), ElementsAre("ended: signal of 1.0", code));
    EXPECT_FALSE(machine->first_failure());
  }
}

TEST_F(LaunchMachineTest, RankThatIgnoresASignalIsKilledAfterTwoGraces) {
  start({.ranks = 2, .grace = 5s});
  EXPECT_THAT(signal(SIGINT), ElementsAre("INT to 0", "INT to 1"));
  EXPECT_THAT(exit(1, 0), ElementsAre("ended: exit of 1.0"));
  EXPECT_THAT(next(10s), ElementsAre("KILL to 0"));
  EXPECT_THAT(killed(0, SIGKILL), ElementsAre("ended: signal of 0.0", "finish 130"));
}

TEST_F(LaunchMachineTest, SignalWhileTheJobEndsGoesToThoseThatHadNone) {
  start({.ranks = 3, .grace = 5s}, {1});
  EXPECT_THAT(exit(0, 4), ElementsAre("ended: exit of 0.0", "failed: exit of 0.0", "TERM to 2"));
  EXPECT_THAT(signal(SIGINT), ElementsAre("INT to 1"));
  EXPECT_THAT(next(5s), ElementsAre("KILL to 2"));
  EXPECT_THAT(next(10s), ElementsAre("KILL to 1"));
  EXPECT_THAT(killed(1, SIGKILL), ElementsAre("ended: signal of 1.0"));
  EXPECT_THAT(killed(2, SIGKILL), ElementsAre("ended: signal of 2.0", "finish 4"));
}

TEST_F(LaunchMachineTest, StartsThatHaveNotBegunAreLeftOutWhereTheJobEnds) {
  machine.emplace(LaunchRules{.ranks = 3, .grace = 5s});
  static_cast<void>(machine->begin(now()));
  static_cast<void>(machine->started(0, 100, now()));
  EXPECT_THAT(exit(0, 1), ElementsAre("ended: exit of 0.0", "failed: exit of 0.0"));
  EXPECT_EQ(machine->state(1), RankState::kStarting);
  EXPECT_EQ(machine->state(2), RankState::kEnded);
  EXPECT_THAT(texts(machine->started(1, 101, now())), ElementsAre("TERM to 1"));
  EXPECT_THAT(killed(1, SIGTERM), ElementsAre("ended: signal of 1.0", "finish 1"));
}

TEST_F(LaunchMachineTest, RankThatStartsAfterASecondSignalIsKilled) {
  machine.emplace(LaunchRules{.ranks = 1, .grace = 5s});
  static_cast<void>(machine->begin(now()));
  EXPECT_THAT(signal(SIGINT), IsEmpty());
  EXPECT_THAT(signal(SIGINT), IsEmpty());
  EXPECT_THAT(texts(machine->started(0, 100, now())), ElementsAre("KILL to 0"));
}

TEST_F(LaunchMachineTest, ProcessThatTheSystemRefusesIsAFailure) {
  start({.ranks = 1, .restarts = 0});
  machine.emplace(LaunchRules{.ranks = 2});
  static_cast<void>(machine->begin(now()));
  EXPECT_THAT(texts(machine->not_started(0, now())),
              ElementsAre("ended: start of 0.0", "failed: start of 0.0", "finish 1"));
}

TEST_F(LaunchMachineTest, FailuresCostRestartsWhileThereAreSome) {
  start({.ranks = 2, .grace = 5s, .restarts = 2, .restart_delay = 3s});
  EXPECT_THAT(exit(1, 7), ElementsAre("ended: exit of 1.0", "restart: exit of 1.0"));
  EXPECT_EQ(machine->state(1), RankState::kRestarting);
  EXPECT_THAT(next(3s), ElementsAre("start 1"));
  EXPECT_THAT(texts(machine->started(1, 201, now())), IsEmpty());
  EXPECT_THAT(killed(0, SIGKILL), ElementsAre("ended: signal of 0.0", "restart: signal of 0.0"));
  EXPECT_THAT(next(6s), ElementsAre("start 0"));
  EXPECT_THAT(texts(machine->not_started(0, now())),
              ElementsAre("ended: start of 0.1", "failed: start of 0.1", "TERM to 1"));
  EXPECT_EQ(machine->restarts(), 2);
  EXPECT_THAT(exit(1, 0), ElementsAre("ended: exit of 1.1", "finish 1"));
}

TEST_F(LaunchMachineTest, RestartWithoutADelayComesAtOnce) {
  start({.ranks = 1, .restarts = 1});
  EXPECT_THAT(exit(0, 7), ElementsAre("ended: exit of 0.0", "restart: exit of 0.0", "start 0"));
  EXPECT_THAT(texts(machine->started(0, 200, now())), IsEmpty());
  EXPECT_THAT(exit(0, 0), ElementsAre("ended: exit of 0.1", "finish 0"));
  EXPECT_FALSE(machine->first_failure()) << "the job has come to its end";
}

TEST_F(LaunchMachineTest, JobGoesOnWhileEnoughRanksAreLeft) {
  start({.ranks = 4, .restarts = 1, .least = 3});
  EXPECT_THAT(killed(1, SIGKILL),
              ElementsAre("ended: signal of 1.0", "restart: signal of 1.0", "start 1"));
  static_cast<void>(machine->started(1, 201, now()));
  EXPECT_THAT(exit(1, 3), ElementsAre("ended: exit of 1.1", "lost: exit of 1.1"));
  EXPECT_FALSE(machine->first_failure());
  EXPECT_THAT(exit(0, 0), ElementsAre("ended: exit of 0.0"));
  EXPECT_THAT(exit(2, 0), ElementsAre("ended: exit of 2.0"));
  EXPECT_THAT(exit(3, 0), ElementsAre("ended: exit of 3.0", "finish 0"));
}

TEST_F(LaunchMachineTest, FailureThatLeavesTooFewEndsTheJob) {
  start({.ranks = 3, .grace = 5s, .least = 2}, {0, 1, 2});
  EXPECT_THAT(exit(0, 4), ElementsAre("ended: exit of 0.0", "lost: exit of 0.0"));
  EXPECT_THAT(exit(1, 5), ElementsAre("ended: exit of 1.0", "failed: exit of 1.0"));
  EXPECT_EQ(machine->first_failure()->rank, 1);
  EXPECT_THAT(exit(2, 0), ElementsAre("ended: exit of 2.0", "finish 5"));
}

TEST_F(LaunchMachineTest, FailureAfterTheWorkIsDoneCostsNothing) {
  start({.ranks = 3, .restarts = 5, .least = 2});
  static_cast<void>(exit(0, 0));
  static_cast<void>(exit(1, 0));
  EXPECT_THAT(exit(2, 1), ElementsAre("ended: exit of 2.0", "lost: exit of 2.0", "finish 0"));
  EXPECT_EQ(machine->restarts(), 0);
}

TEST_F(LaunchMachineTest, NoRankIsStartedForWorkThatIsDone) {
  start({.ranks = 3, .restarts = 1, .restart_delay = 60s, .least = 2});
  static_cast<void>(killed(2, SIGKILL));
  static_cast<void>(exit(0, 0));
  EXPECT_THAT(exit(1, 0), ElementsAre("ended: exit of 1.0", "not due: 2", "finish 0"));
}

TEST_F(LaunchMachineTest, JobThatEndsWaitsForNoRestart) {
  start({.ranks = 2, .grace = 5s, .restarts = 1, .restart_delay = 60s});
  EXPECT_THAT(exit(1, 7), ElementsAre("ended: exit of 1.0", "restart: exit of 1.0"));
  EXPECT_THAT(exit(0, 8), ElementsAre("ended: exit of 0.0", "failed: exit of 0.0", "finish 8"));
  EXPECT_EQ(machine->next_timer(), std::nullopt);
}

TEST_F(LaunchMachineTest, ASecondSignalWaitsForNoDeadline) {
  start({.ranks = 1, .grace = 5s, .deadline = 60s});
  static_cast<void>(signal(SIGINT));
  static_cast<void>(signal(SIGINT));
  EXPECT_EQ(machine->next_timer(), std::nullopt);
}

TEST_F(LaunchMachineTest, SilentRankIsKilledAndThenAFailure) {
  start({.ranks = 2, .grace = 5s}, {1});
  EXPECT_THAT(texts(machine->silent(0, now())), ElementsAre("KILL to 0"));
  EXPECT_THAT(texts(machine->silent(0, now())), IsEmpty());
  EXPECT_EQ(machine->job(), JobState::kRunning);
  EXPECT_THAT(killed(0, SIGKILL), ElementsAre("ended: silent of 0.0", "failed: silent of 0.0"));
  EXPECT_THAT(exit(1, 1), ElementsAre("ended: exit of 1.0", "finish 137"));
}

TEST_F(LaunchMachineTest, SilentRankMayBeRestarted) {
  start({.ranks = 1, .restarts = 1});
  EXPECT_THAT(texts(machine->silent(0, now())), ElementsAre("KILL to 0"));
  EXPECT_THAT(killed(0, SIGKILL),
              ElementsAre("ended: silent of 0.0", "restart: silent of 0.0", "start 0"));
  EXPECT_THAT(texts(machine->started(0, 200, now())), IsEmpty());
  EXPECT_THAT(killed(0, SIGABRT),
              ElementsAre("ended: signal of 0.1", "failed: signal of 0.1", "finish 134"));
}

TEST_F(LaunchMachineTest, DeadlineEndsTheJobAsAFailureDoes) {
  start({.ranks = 2, .grace = 5s, .restarts = 9, .deadline = 60s}, {1});
  EXPECT_THAT(next(60s), ElementsAre("TERM to 0"));
  EXPECT_TRUE(machine->asked_to_end());
  EXPECT_THAT(killed(0, SIGTERM), ElementsAre("ended: signal of 0.0")) << "and no restart";
  EXPECT_THAT(next(65s), ElementsAre("TERM to 1"));
  EXPECT_THAT(next(70s), ElementsAre("KILL to 1"));
  EXPECT_THAT(killed(1, SIGKILL), ElementsAre("ended: signal of 1.0", "finish 124"));
  EXPECT_FALSE(machine->first_failure());
}

TEST_F(LaunchMachineTest, DeadlineOfAJobThatEndsChangesNothingButThatItWasAsked) {
  start({.ranks = 2, .grace = 50s, .deadline = 60s}, {1});
  EXPECT_THAT(exit(0, 9), ElementsAre("ended: exit of 0.0", "failed: exit of 0.0"));
  EXPECT_THAT(next(50s), ElementsAre("TERM to 1"));
  EXPECT_FALSE(machine->asked_to_end());
  EXPECT_THAT(next(60s), IsEmpty());
  EXPECT_TRUE(machine->asked_to_end());
  EXPECT_THAT(next(100s), ElementsAre("KILL to 1"));
  EXPECT_THAT(killed(1, SIGKILL), ElementsAre("ended: signal of 1.0", "finish 9"));
}

TEST(LaunchMachineStepsTest, AreThoseThatTheStatesName) {
  using enum RankState;
  const RankState all[] = {kQueued, kStarting, kRunning, kEnding, kRestarting, kEnded};
  // A row per state: the states that may follow.
  const bool expected[6][6] = {
      {false, true, false, false, false, true}, {false, false, true, true, true, true},
      {false, false, false, true, true, true},  {false, false, false, true, true, true},
      {true, false, false, false, false, true}, {false, false, false, false, false, false}};
  for (std::size_t from = 0; from < 6; ++from) {
    for (std::size_t to = 0; to < 6; ++to)
      EXPECT_EQ(LaunchMachine::may_move(all[from], all[to]), expected[from][to]) << from << to;
  }
}

}  // namespace
}  // namespace millrace::launch
