// How launches of programs that span processes end before their time, in simulation: PL-3 and
// PL-4 in program_mail.h.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/collectives/program_links.h"
#include "tests/collectives/sim_programs.h"

namespace millrace::collectives {
namespace {

using testing::expect_error;
using testing::failed;
using testing::for_each_seed;
using testing::kProcess1;
using testing::SimPrograms;
using testing::Simulation;

// PL-3
TEST(ProgramEndsTest, ErrorEndsALaunchThatIsUnderWayElsewhereAndNamesItsProcess) {
  for_each_seed(50, [](Simulation& sim) {
    SimPrograms job(sim, 3);
    const auto links = job.open_all();
    const auto launches = job.begin_all(links);
    ASSERT_TRUE(job.give(launches[1], 0, 0, "x"));
    launches[1]->end(failed(ErrorCode::kDataLoss));
    // Process 2 waits for 0, which waits for 1.
    const auto result = job.take(launches[0], 4, 1, 1);
    expect_error(result, ErrorCode::kDataLoss, kProcess1 + "a scripted failure");
    launches[0]->end(std::unexpected(result.error()));
    expect_error(job.take(launches[2], 4, 0, 1), ErrorCode::kDataLoss, kProcess1);
    expect_error(job.give(launches[2], 4, 0, "x"), ErrorCode::kDataLoss, kProcess1);
    launches[2]->end(failed(ErrorCode::kCancelled));
    // The next one goes well.
    const auto next = job.begin_all(links);
    ASSERT_TRUE(job.give(next[0], 0, 2, "x"));
    EXPECT_EQ(job.take(next[2], 0, 0, 1).value(), "x");
    for (const auto& launch : next) launch->end({});
    sim.finish();
  });
}

TEST(ProgramEndsTest, ErrorWaitsForALaunchThatBeginsLater) {  // PL-3
  Simulation sim(1);
  SimPrograms job(sim, 2);
  const auto far = job.open(1);
  far->next_launch()->end(failed(ErrorCode::kOutOfRange));
  {
    const auto dropped = far->next_launch();
  }  // without an end
  sim.run_for(std::chrono::seconds(1));
  const auto link = job.open(0);
  const auto first = link->next_launch(), second = link->next_launch();
  sim.run_for(std::chrono::seconds(1));
  expect_error(first->begin(), ErrorCode::kOutOfRange, kProcess1 + "a scripted failure");
  expect_error(second->begin(), ErrorCode::kCancelled, kProcess1 + "the launch was given up");
  sim.finish();
}

// PL-3: the next launches of both belong together.
TEST(ProgramEndsTest, LaunchThatEndsBeforeItBeginsIsCountedAndEndsInTheOthers) {
  for_each_seed(20, [](Simulation& sim) {
    SimPrograms job(sim, 2);
    const auto links = job.open_all();
    std::vector<SimPrograms::Launch> mine, theirs;
    for (int i = 0; i < 2; ++i) {
      mine.push_back(links[0]->next_launch());
      theirs.push_back(links[1]->next_launch());
    }
    const bool late = sim.chance(0.5);  // the second is under way by then
    if (!late) mine[0]->end(failed(ErrorCode::kDataLoss));
    ASSERT_TRUE(mine[1]->begin().value());
    ASSERT_TRUE(job.give(mine[1], 0, 1, "second"));
    if (late) mine[0]->end(failed(ErrorCode::kDataLoss));
    if (job.begin(theirs[0])) {
      expect_error(job.take(theirs[0], 0, 0, 6), ErrorCode::kDataLoss, "process 0 (rank 0");
    }
    theirs[0]->end(failed(ErrorCode::kCancelled));
    ASSERT_TRUE(job.begin(theirs[1]));
    EXPECT_EQ(job.take(theirs[1], 0, 0, 6).value(), "second");
    mine[1]->end({});
    theirs[1]->end({});
    sim.finish();
  });
}

// PL-3: by another process, where nothing comes from the one in which it arose.
TEST(ProgramEndsTest, ErrorIsPassedOnAndNamesTheProcessInWhichItArose) {
  for_each_seed(20, [](Simulation& sim) {
    SimPrograms job(sim, 3);
    const auto links = job.open_all();
    const auto launches = job.begin_all(links);
    sim.run_for(std::chrono::seconds(1));
    job.job.network.hold(101, 100);
    launches[1]->end(failed(ErrorCode::kDataLoss));
    const auto seen = job.take(launches[2], 0, 1, 1);
    expect_error(seen, ErrorCode::kDataLoss, kProcess1 + "a scripted failure");
    launches[2]->end(std::unexpected(seen.error()));
    // It is not said that process 2 has ended the launch without giving.
    const auto passed_on = job.take(launches[0], 0, 2, 1);
    expect_error(passed_on, ErrorCode::kDataLoss, kProcess1 + "a scripted failure");
    EXPECT_EQ(passed_on.error().message().find("process 2"), std::string::npos);
    launches[0]->end(std::unexpected(passed_on.error()));
    job.job.network.release();
    const auto next = job.begin_all(links);
    ASSERT_TRUE(job.give(next[1], 0, 0, "x"));
    EXPECT_EQ(job.take(next[0], 0, 1, 1).value(), "x");
    for (const auto& launch : next) launch->end({});
    sim.finish();
  });
}

// PL-4
TEST(ProgramEndsTest, LaunchThatIsOverElsewhereGivesNothingMore) {
  for_each_seed(50, [](Simulation& sim) {
    SimPrograms job(sim, 2);
    const auto links = job.open_all();
    for (int i = 0; i < 2; ++i) job.begin_all(links);  // both of each are given up
    sim.run_for(std::chrono::seconds(1));
    const auto launches = job.begin_all(links);
    ASSERT_TRUE(job.give(launches[1], 4, 0, "x"));
    if (sim.chance(0.5)) {
      ASSERT_TRUE(job.give(launches[0], 4, 1, "x"));
    }
    const bool late = sim.chance(0.5);
    if (!late) launches[1]->end({});
    std::byte one[1];
    EXPECT_FALSE(launches[0]->take(5, 1, one).value());
    if (late) launches[1]->end({});
    EXPECT_EQ(job.take(launches[0], 4, 1, 1).value(), "x");
    expect_error(
        job.take(launches[0], 5, 1, 1), ErrorCode::kInternal,
        kProcess1 + "it has ended launch 2 without giving edge 5, as if it ran another program");
    launches[0]->end({});
    sim.finish();
  });
}

TEST(ProgramEndsTest, ErrorOfALaunchThatIsOverHereIsIgnored) {  // PL-3
  Simulation sim(1);
  SimPrograms job(sim, 2);
  const auto links = job.open_all();
  auto launches = job.begin_all(links);
  launches[0]->end({});
  launches[1]->end(failed(ErrorCode::kDataLoss));
  sim.run_for(std::chrono::seconds(1));
  launches = job.begin_all(links);
  ASSERT_TRUE(job.give(launches[1], 0, 0, "x"));
  EXPECT_EQ(job.take(launches[0], 0, 1, 1).value(), "x");
  for (const auto& launch : launches) launch->end({});
  sim.finish();
}

// PL-4
TEST(ProgramEndsTest, WhatCameFromALostProcessIsTakenAndWhatDidNotFailsByItsName) {
  for_each_seed(50, [](Simulation& sim) {
    SimPrograms job(sim, 2);
    const auto links = job.open_all();
    const auto launches = job.begin_all(links);
    ASSERT_TRUE(job.give(launches[1], 0, 0, "first"));
    ASSERT_TRUE(job.give(launches[1], 0, 0, "second"));
    EXPECT_EQ(job.take(launches[0], 0, 1, 5).value(), "first");
    sim.run_for(std::chrono::seconds(1));
    ASSERT_TRUE(job.give(launches[1], 0, 0, std::string(100'000, 'x')));
    sim.run_for(std::chrono::milliseconds(sim.below(20)));
    job.kill(1);
    sim.run_for(std::chrono::milliseconds(sim.below(20)));
    EXPECT_EQ(job.take(launches[0], 0, 1, 6).value(), "second");
    const auto lost = job.take(launches[0], 0, 1, 100'000);
    expect_error(lost, ErrorCode::kUnavailable,
                 kProcess1 + "rank 1 (host node-1, pid 101) is lost: ");
    EXPECT_NE(lost.error().detail<net::PeerLoss>(), nullptr);
    expect_error(job.give(launches[0], 0, 1, "x"), ErrorCode::kUnavailable, kProcess1);
    for (const auto& launch : launches) launch->end({});
    sim.finish();
  });
}

// PL-4: each process says what it opens, so that there is a link whose end it sees.
TEST(ProgramEndsTest, LossOfAProcessThatHasGivenNothingYetIsSeen) {
  for (const bool before : {true, false}) {
    Simulation sim(1);
    SimPrograms job(sim, 2);
    const auto links = job.open_all();
    const auto launches = job.begin_all(links);
    std::byte one[1];
    if (before) job.kill(1);
    EXPECT_FALSE(launches[0]->take(0, 1, one).value());
    sim.run_for(std::chrono::seconds(1));
    if (!before) job.kill(1);
    expect_error(job.take(launches[0], 0, 1, 1), ErrorCode::kUnavailable, "process 1 (rank 1");
    for (const auto& launch : launches) launch->end({});
    sim.finish();
  }
}

TEST(ProgramEndsTest, LaunchesOfAProgramThatWasReleasedFailByName) {  // PL-4
  for (const bool met : {true, false}) {
    Simulation sim(1);
    SimPrograms job(sim, 2);
    auto links = job.open_all();
    auto launches = job.begin_all(links);
    if (met) {
      ASSERT_TRUE(job.give(launches[1], 0, 0, "x"));
    }
    launches[1]->end({});
    launches[1] = nullptr;
    links[1] = nullptr;
    if (met) {
      EXPECT_EQ(job.take(launches[0], 0, 1, 1).value(), "x");
    }
    launches[0]->end({});
    const auto next = links[0]->next_launch();
    ASSERT_TRUE(next->begin().value());
    expect_error(job.take(next, 0, 1, 1), ErrorCode::kUnavailable,
                 kProcess1 + "it has released the program after 1 launches");
    expect_error(job.give(next, 0, 1, "x"), ErrorCode::kUnavailable, kProcess1);
    sim.finish();
  }
}

}  // namespace
}  // namespace millrace::collectives
