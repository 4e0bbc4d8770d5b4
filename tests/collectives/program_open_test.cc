// Processes that open a program, or come, at other times than others, in simulation: PL-1, PL-4 and
// the epochs of a mesh.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "millrace/collectives/program_links.h"
#include "tests/collectives/sim_programs.h"

namespace millrace::collectives {
namespace {

using net::testing::numbered;
using testing::expect_error;
using testing::for_each_seed;
using testing::SimPrograms;
using testing::Simulation;

const net::MeshOptions kFewStashed = {.max_payload = 8192, .most_stashed = 20'000};

// PL-1: the link to a process that has opened nothing yet is free for its other users.
TEST(ProgramOpenTest, WhatWaitsForAnOpenHoldsUpNoOtherUserOfTheMesh) {
  for_each_seed(20, [](Simulation& sim) {
    SimPrograms job(sim, 2, 1, {.stalls = 0}, kFewStashed);
    job.start_mesh();
    job.job.keep(*job.job.processes[1]);
    const auto link = job.open(0);
    const auto first = link->next_launch();
    ASSERT_TRUE(first->begin().value());
    const std::string text(300'000, 'x');
    ASSERT_TRUE(job.give(first, 0, 1, text));
    sim.run_for(std::chrono::seconds(1));
    job.job.mesh(0).send(1, numbered(5)).ignore();
    sim.run_for(std::chrono::seconds(1));
    ASSERT_EQ(job.job.came(1).size(), 1U);
    job.make_links();
    sim.run_for(std::chrono::seconds(1));
    std::byte one[1];
    EXPECT_FALSE(first->take(0, 1, one).value());
    EXPECT_EQ(first->waits_for(), "process 1 (rank 1, host node-1, pid 101)");
    const auto launch = job.open(1)->next_launch();
    ASSERT_TRUE(launch->begin().value());
    EXPECT_EQ(job.take(launch, 0, 0, text.size()).value(), text);
    ASSERT_TRUE(job.give(launch, 0, 0, "y"));
    EXPECT_EQ(job.take(first, 0, 1, 1).value(), "y");
    first->end({});
    launch->end({});
    sim.finish();
  });
}

// PL-4: the patience of a mesh is 30 s.
TEST(ProgramOpenTest, ProcessThatStartsAfterThePatienceOfTheMeshIsNotLost) {
  for (const int seconds : {1, 29, 31, 45, 100, 700}) {
    Simulation sim(static_cast<std::uint64_t>(seconds));
    SimPrograms job(sim, 2, 1, {.stalls = 0}, kFewStashed);
    std::vector<Ref<devices::ProgramLink>> links;  // more than the mesh is given at once
    for (int i = 0; i < 20; ++i) links.push_back(job.open(0, std::to_string(i)));
    const auto first = links[13]->next_launch();
    ASSERT_TRUE(first->begin().value());
    ASSERT_TRUE(job.give(first, 0, 1, "x"));
    links[5] = nullptr;
    std::byte one[1];
    EXPECT_FALSE(first->take(0, 1, one).value());
    EXPECT_EQ(first->waits_for(), "process 1 (rank 1)");
    sim.run_for(std::chrono::seconds(seconds));
    EXPECT_FALSE(first->take(0, 1, one).value());
    job.start_mesh();
    sim.run_for(std::chrono::seconds(40));
    job.make_links();
    const auto launch = job.open(1, "13")->next_launch();
    ASSERT_TRUE(launch->begin().value());
    EXPECT_EQ(job.take(launch, 0, 0, 1).value(), "x");
    ASSERT_TRUE(job.give(launch, 0, 0, "y"));
    EXPECT_EQ(job.take(first, 0, 1, 1).value(), "y");
    const auto released = job.open(1, "5")->next_launch();
    ASSERT_TRUE(released->begin().value());
    expect_error(job.take(released, 0, 0, 1), ErrorCode::kUnavailable, "it has released");
    first->end({});
    launch->end({});
    sim.finish();
  }
}

// PL-1, PL-4
TEST(ProgramOpenTest, WhatWasGivenBeforeAReleaseIsTakenByAProcessThatOpensLater) {
  for_each_seed(20, [](Simulation& sim) {
    SimPrograms job(sim, 2);
    {
      const auto launch = job.open(0)->next_launch();
      ASSERT_TRUE(launch->begin().value());
      ASSERT_TRUE(job.give(launch, 0, 1, "x"));
      launch->end({});
    }
    if (sim.chance(0.5)) sim.run_for(std::chrono::milliseconds(sim.below(20)));
    const auto link = job.open(1);
    const auto first = link->next_launch(), second = link->next_launch();
    ASSERT_TRUE(first->begin().value());
    ASSERT_TRUE(second->begin().value());
    EXPECT_EQ(job.take(first, 0, 0, 1).value(), "x");
    expect_error(job.take(first, 1, 0, 1), ErrorCode::kInternal,
                 "it has ended launch 0 without giving edge 1");
    expect_error(job.take(second, 0, 0, 1), ErrorCode::kUnavailable,
                 "it has released the program after 1 launches");
    first->end({});
    second->end({});
    sim.finish();
  });
}

// The sink of one epoch does not take the place of that of another.
TEST(ProgramOpenTest, EpochsAreSideBySideOnOneMesh) {
  for_each_seed(20, [](Simulation& sim) {
    SimPrograms job(sim, 2);
    const auto old_links = job.open_all();
    const auto old_launches = job.begin_all(old_links);
    sim.run_for(std::chrono::milliseconds(sim.below(20)));
    for (std::size_t p = 0; p < 2; ++p) {
      EXPECT_TRUE(sim.run(job.job.mesh(p).set_epoch(1)));
      sim.run_for(std::chrono::milliseconds(sim.below(20)));
    }
    expect_error(job.take(old_launches[0], 0, 1, 1), ErrorCode::kUnavailable, "process 1 (rank 1");
    std::vector<std::unique_ptr<ProgramLinks>> fresh;
    std::vector<Ref<devices::ProgramLink>> links;
    for (std::size_t p = 0; p < 2; ++p) {
      fresh.push_back(job.new_links(p, 1));
      sim.on_finish("fresh", [one = fresh[p].get()] {
        one->close(Error(ErrorCode::kCancelled, "the test is over"));
        return one->drained();
      });
      links.push_back(fresh[p]->open("'f'", "digest").value());
    }
    const bool before = sim.chance(0.5);
    if (before) {  // which erases a sink
      EXPECT_TRUE(sim.run(job.close(1)));
    }
    const auto launches = job.begin_all(links);
    ASSERT_TRUE(job.give(launches[0], 0, 1, "x"));
    EXPECT_EQ(job.take(launches[1], 0, 0, 1).value(), "x");
    if (!before) {
      EXPECT_TRUE(sim.run(job.close(1)));
    }
    ASSERT_TRUE(job.give(launches[0], 0, 1, "y"));
    EXPECT_EQ(job.take(launches[1], 0, 0, 1).value(), "y");
    for (const auto& launch : launches) launch->end({});
    for (const auto& launch : old_launches) launch->end({});
    sim.finish();
  });
}

TEST(ProgramOpenTest, LinksOfAnEpochThatIsOverAreClosed) {
  Simulation sim(1);
  SimPrograms job(sim, 2);
  EXPECT_TRUE(sim.run(job.job.mesh(0).set_epoch(1)));
  const auto late = job.new_links(0, 0);
  expect_error(late->open("'f'", "digest"), ErrorCode::kAborted, "the job is in another epoch now");
  EXPECT_TRUE(sim.run(late->drained()));
  sim.finish();
}

}  // namespace
}  // namespace millrace::collectives
