// How launches of programs that span processes end before their time, in simulation: PL-3, PL-4 and
// PL-6 in program_mail.h.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/collectives/program_links.h"
#include "tests/collectives/sim_programs.h"

namespace millrace::collectives {
namespace {

using testing::expect_error;
using testing::for_each_seed;
using testing::SimPrograms;
using testing::Simulation;

const std::string kProcess1 = "process 1 (rank 1, host node-1, pid 101) of 'f': ";

Status failed(ErrorCode code) { return fail(code, "a scripted failure"); }

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
  expect_error(first->begin(), ErrorCode::kOutOfRange, kProcess1 + "a scripted failure");
  expect_error(second->begin(), ErrorCode::kCancelled, kProcess1 + "the launch was given up");
  sim.finish();
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

// PL-4: the process that waits asks, so that there is a link whose end it sees.
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

// PL-6
TEST(ProgramEndsTest, CloseEndsEachLaunchHereAndInTheProcessesThatWait) {
  for_each_seed(50, [](Simulation& sim) {
    SimPrograms job(sim, 2);
    const auto links = job.open_all();
    const auto launches = job.begin_all(links);
    const auto second = links[0]->next_launch();
    ASSERT_TRUE(second->begin().value());
    std::byte one[1];
    EXPECT_FALSE(launches[1]->take(0, 0, one).value());
    int woken = 0;
    launches[1]->await([&woken] { ++woken; });
    const Future<void> drained = job.close(1, "the runtime of the test is closed");
    EXPECT_EQ(woken, 1);
    expect_error(launches[1]->take(0, 0, one), ErrorCode::kCancelled, "the runtime of the test");
    expect_error(launches[1]->give(0, 0, one), ErrorCode::kCancelled, "the runtime of the test");
    expect_error(job.links[1]->open("g", "g"), ErrorCode::kCancelled, "the runtime of the test");
    launches[1]->end(failed(ErrorCode::kCancelled));
    const auto later = links[1]->next_launch();
    expect_error(later->begin(), ErrorCode::kCancelled, "the runtime of the test");
    // The other process has the launch that was under way, and one that was not.
    expect_error(job.take(launches[0], 0, 1, 1), ErrorCode::kCancelled,
                 kProcess1 + "the runtime of the test is closed");
    expect_error(job.take(second, 0, 1, 1), ErrorCode::kUnavailable,
                 kProcess1 + "it has left: the runtime of the test is closed");
    expect_error(job.give(second, 0, 1, "x"), ErrorCode::kUnavailable, kProcess1);
    EXPECT_TRUE(sim.run(drained));
    sim.finish();
  });
}

// PL-4, PL-6
TEST(ProgramEndsTest, WhatWasGivenBeforeACloseIsTaken) {
  for_each_seed(20, [](Simulation& sim) {
    SimPrograms job(sim, 2);
    const auto links = job.open_all();
    const auto launches = job.begin_all(links);
    const std::string text(20'000, 'x');
    ASSERT_TRUE(job.give(launches[1], 0, 0, text));
    launches[1]->end({});
    EXPECT_TRUE(sim.run(job.close(1)));
    job.links[1] = nullptr;
    EXPECT_TRUE(sim.run(job.job.mesh(1).close()));
    EXPECT_EQ(job.take(launches[0], 0, 1, text.size()).value(), text);
    expect_error(job.take(launches[0], 0, 1, 1), ErrorCode::kUnavailable, kProcess1);
    sim.finish();
  });
}

TEST(ProgramEndsTest, CloseIsHeardByAProcessThatAsksLater) {  // PL-4
  Simulation sim(1);
  SimPrograms job(sim, 3);
  const auto links = job.open_all();
  const auto launches = job.begin_all(links);
  launches[1]->end({});
  job.kill(2);  // so that process 1, which gives it something, is drained late
  ASSERT_TRUE(links[1]->next_launch()->begin().value());
  const Future<void> drained = job.close(1);
  EXPECT_FALSE(drained.ready());
  expect_error(job.take(launches[0], 0, 1, 1), ErrorCode::kUnavailable, kProcess1 + "it has left");
  EXPECT_TRUE(sim.run(drained));
  sim.finish();
}

// The other users of a mesh may leave too little of what it lets wait.
TEST(ProgramEndsTest, FrameThatTheMeshDoesNotTakeEndsBothProcessesForEachOther) {
  Simulation sim(1);
  SimPrograms job(sim, 2, {.stalls = 0}, {.max_payload = 8192, .most_queued = 20'000});
  const auto links = job.open_all();
  const auto launches = job.begin_all(links);
  ASSERT_TRUE(job.give(launches[1], 0, 0, std::string(100'000, 'x')));
  expect_error(job.take(launches[0], 0, 1, 100'000), ErrorCode::kUnavailable, kProcess1);
  expect_error(job.take(launches[1], 0, 0, 1), ErrorCode::kUnavailable, "await earlier sends");
  for (const auto& launch : launches) launch->end({});
  sim.finish();
}

TEST(ProgramEndsTest, CloseWithoutUseIsDrainedAtOnce) {  // PL-6
  Simulation sim(1);
  SimPrograms job(sim, 2);
  const Future<void> drained = job.close(0);
  sim.run_until_idle();
  EXPECT_TRUE(drained.ready());
  sim.finish();
}

}  // namespace
}  // namespace millrace::collectives
