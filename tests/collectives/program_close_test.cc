// How the links of a process close, in simulation: PL-6 in program_mail.h.
#include <gtest/gtest.h>

#include <chrono>
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

// PL-6
TEST(ProgramCloseTest, CloseEndsEachLaunchHereAndInTheProcessesThatWait) {
  for_each_seed(50, [](Simulation& sim) {
    SimPrograms job(sim, 2);
    const auto links = job.open_all();
    const auto launches = job.begin_all(links);
    const auto second = links[0]->next_launch();
    ASSERT_TRUE(second->begin().value());
    sim.run_for(std::chrono::seconds(1));  // each knows that the other has opened the program
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
TEST(ProgramCloseTest, WhatWasGivenBeforeACloseIsTaken) {
  for_each_seed(20, [](Simulation& sim) {
    SimPrograms job(sim, 2);
    const auto links = job.open_all();
    const auto launches = job.begin_all(links);
    const std::string text(20'000, 'x');
    sim.run_for(std::chrono::seconds(1));  // it knows that the other has opened the program
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

TEST(ProgramCloseTest, CloseIsHeardByAProcessThatTakesLater) {  // PL-4
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
TEST(ProgramCloseTest, FrameThatTheMeshDoesNotTakeEndsBothProcessesForEachOther) {
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

TEST(ProgramCloseTest, CloseWithoutUseIsDrainedAtOnce) {  // PL-6
  Simulation sim(1);
  SimPrograms job(sim, 2);
  const Future<void> drained = job.close(0);
  sim.run_until_idle();
  EXPECT_TRUE(drained.ready());
  sim.finish();
}

TEST(ProgramCloseTest, CloseDoesNotWaitForAProcessThatNeverCame) {  // PL-6
  for (const int seconds : {0, 40}) {
    Simulation sim(1);
    SimPrograms job(sim, 2, 1, {.stalls = 0}, {.max_payload = 8192});
    const auto link = job.open(0);
    const auto launch = link->next_launch();
    ASSERT_TRUE(launch->begin().value());
    ASSERT_TRUE(job.give(launch, 0, 1, "x"));
    sim.run_for(std::chrono::seconds(seconds));
    const TimePoint before = sim.now();
    EXPECT_TRUE(sim.run(job.close(0)));
    EXPECT_LT(sim.now() - before, std::chrono::seconds(1));
    sim.run_for(std::chrono::seconds(100));
    launch->end({});
    job.start_mesh();  // or the store would still wait for its address
    sim.finish();
  }
}

TEST(ProgramCloseTest, CloseIsHeardByAProcessThatOpensLater) {  // PL-4
  Simulation sim(1);
  SimPrograms job(sim, 2, 1, {.stalls = 0}, {.max_payload = 8192});
  job.start_mesh();
  const auto link = job.open(0);
  sim.run_for(std::chrono::seconds(1));
  EXPECT_TRUE(sim.run(job.close(0, "it has nothing more to do")));
  job.make_links();
  const auto late = job.open(1);
  const auto launch = late->next_launch();
  ASSERT_TRUE(launch->begin().value());
  expect_error(job.take(launch, 0, 0, 1), ErrorCode::kUnavailable,
               "it has left: it has nothing more to do");
  launch->end({});
  sim.finish();
}

}  // namespace
}  // namespace millrace::collectives
