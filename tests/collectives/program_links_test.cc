// Programs that span processes give each other bytes, in simulation: the rules of program_mail.h.
#include "millrace/collectives/program_links.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/collectives/program_mail.h"
#include "tests/collectives/sim_programs.h"

namespace millrace::collectives {
namespace {

using testing::expect_error;
using testing::for_each_seed;
using testing::SimPrograms;
using testing::Simulation;

TEST(ProgramLinksTest, TwoProcessesGiveAndTakeInBothDirections) {
  for_each_seed(50, [](Simulation& sim) {
    SimPrograms job(sim, 2);
    EXPECT_EQ(job.links[1]->processes(), 2);
    EXPECT_EQ(job.links[1]->process(), 1);
    const auto links = job.open_all();
    for (int i = 0; i < 10; ++i) {
      const auto launches = job.begin_all(links);
      ASSERT_TRUE(job.give(launches[0], 3, 1, "from 0"));
      ASSERT_TRUE(job.give(launches[1], 3, 0, "of 1"));
      EXPECT_EQ(job.take(launches[0], 3, 1, 4).value(), "of 1");
      EXPECT_EQ(job.take(launches[1], 3, 0, 6).value(), "from 0");
      for (const auto& launch : launches) launch->end({});
    }
    sim.finish();
  });
}

// PL-1: one of many frames, more than the mesh is given at once, and one of none.
TEST(ProgramLinksTest, MessageOfAnyLengthComesWhole) {
  for_each_seed(20, [](Simulation& sim) {
    SimPrograms job(sim, 2);
    const auto links = job.open_all();
    const auto launches = job.begin_all(links);
    std::string text(300'001, 'x');
    for (char& letter : text) letter = static_cast<char>('a' + sim.below(26));
    ASSERT_TRUE(job.give(launches[0], 0, 1, text));
    ASSERT_TRUE(job.give(launches[0], 1, 1, ""));
    EXPECT_EQ(job.take(launches[1], 1, 0, 0).value(), "");
    EXPECT_EQ(job.take(launches[1], 0, 0, text.size()).value(), text);
    for (const auto& launch : launches) launch->end({});
    sim.finish();
  });
}

TEST(ProgramLinksTest, MessagesAtAnEdgeAreTakenInTheirOrder) {  // PL-1
  for_each_seed(20, [](Simulation& sim) {
    SimPrograms job(sim, 2);
    const auto links = job.open_all();
    const auto launches = job.begin_all(links);
    for (const char* text : {"a", "b", "c"}) ASSERT_TRUE(job.give(launches[0], 1, 1, text));
    ASSERT_TRUE(job.give(launches[0], 2, 1, "other"));
    EXPECT_EQ(job.take(launches[1], 2, 0, 5).value(), "other");
    for (const char* text : {"a", "b", "c"})
      EXPECT_EQ(job.take(launches[1], 1, 0, 1).value(), text);
    for (const auto& launch : launches) launch->end({});
    sim.finish();
  });
}

TEST(ProgramLinksTest, MessageWaitsForALinkAndALaunchThatAreNotThereYet) {  // PL-1
  Simulation sim(1);
  SimPrograms job(sim, 2);
  std::vector<Ref<devices::ProgramLink>> first;
  std::vector<SimPrograms::Launch> launches;
  for (int i = 0; i < 4; ++i) {  // two of one digest, two of another
    first.push_back(job.open(0, i < 2 ? "d" : "e"));
    launches.push_back(first.back()->next_launch());
    ASSERT_TRUE(launches.back()->begin().value());
    ASSERT_TRUE(job.give(launches.back(), 0, 1, std::to_string(i)));
  }
  sim.run_for(std::chrono::seconds(1));
  for (const int i : {2, 0, 3, 1}) {
    const auto launch = job.open(1, i < 2 ? "d" : "e")->next_launch();
    ASSERT_TRUE(launch->begin().value());
    EXPECT_EQ(job.take(launch, 0, 0, 1).value(), std::to_string(i));
    launch->end({});
    launches[static_cast<std::size_t>(i)]->end({});
  }
  sim.finish();
}

TEST(ProgramLinksTest, ThirdLaunchBeginsOnceTheFirstHasEnded) {  // PL-2
  Simulation sim(1);
  SimPrograms job(sim, 2);
  const auto link = job.open(0);
  std::vector<SimPrograms::Launch> launches;
  for (int i = 0; i < 4; ++i) launches.push_back(link->next_launch());
  EXPECT_TRUE(launches[0]->begin().value());
  EXPECT_TRUE(launches[1]->begin().value());
  EXPECT_FALSE(launches[2]->begin().value());
  EXPECT_EQ(launches[1]->waits_for(), "");
  EXPECT_EQ(launches[2]->waits_for(), "its own earlier launches");
  int woken = 0;
  launches[2]->await([&woken] { ++woken; });
  launches[1]->end({});
  EXPECT_EQ(woken, 0);
  launches[0]->end({});
  EXPECT_EQ(woken, 1);  // PL-5
  EXPECT_TRUE(launches[2]->begin().value());
  EXPECT_EQ(launches[2]->waits_for(), "");
  EXPECT_TRUE(launches[3]->begin().value());
  for (std::size_t i = 2; i < 4; ++i) launches[i]->end({});
  EXPECT_EQ(woken, 1);
  sim.finish();
}

// PL-2: what one process gives, and the other does not take yet, is of few launches.
TEST(ProgramLinksTest, NoLaunchBeginsFarAheadOfAProcessThatTakes) {
  for_each_seed(20, [](Simulation& sim) {
    SimPrograms job(sim, 2);
    const auto links = job.open_all();
    for (std::uint64_t i = 0; i < ProgramMail::kMostAhead; ++i) {
      const auto launch = links[0]->next_launch();
      ASSERT_TRUE(launch->begin().value());
      ASSERT_TRUE(job.give(launch, 0, 1, "x"));
      launch->end({});
    }
    std::vector<SimPrograms::Launch> ahead;
    ahead.push_back(links[0]->next_launch());
    EXPECT_FALSE(ahead[0]->begin().value());
    sim.run_for(std::chrono::seconds(1));
    EXPECT_FALSE(ahead[0]->begin().value());
    EXPECT_EQ(ahead[0]->waits_for(), "process 1 (rank 1, host node-1, pid 101)");
    for (std::uint64_t i = 0; i < ProgramMail::kReportEvery; ++i) {
      const auto launch = links[1]->next_launch();
      ASSERT_TRUE(launch->begin().value());
      EXPECT_EQ(job.take(launch, 0, 0, 1).value(), "x");
      launch->end({});
    }
    EXPECT_TRUE(job.begin(ahead[0]));
    ahead[0]->end({});
    sim.finish();
  });
}

// PL-2: a process that ends its launches without taking holds up no other.
TEST(ProgramLinksTest, LaunchesThatTakeNothingLetTheGiverGoOn) {
  for_each_seed(20, [](Simulation& sim) {
    SimPrograms job(sim, 2);
    const auto links = job.open_all();
    const bool late = sim.chance(0.5);
    const auto pass = [&] {
      for (int i = 0; i < 15; ++i) links[1]->next_launch()->end({});
    };
    if (!late) pass();
    for (int i = 0; i < 15; ++i) {
      const auto launch = links[0]->next_launch();
      if (late && i == 4) pass();
      ASSERT_TRUE(job.begin(launch));
      ASSERT_TRUE(job.give(launch, 0, 1, "x"));
      launch->end({});
    }
    sim.finish();
  });
}

TEST(ProgramLinksTest, MessageOfAnotherLengthIsAnErrorThatSaysBoth) {
  Simulation sim(1);
  SimPrograms job(sim, 2);
  const auto links = job.open_all();
  const auto launches = job.begin_all(links);
  ASSERT_TRUE(job.give(launches[1], 6, 0, "12345678"));
  expect_error(
      job.take(launches[0], 6, 1, 16), ErrorCode::kInternal,
      "process 1 (rank 1, host node-1, pid 101) of 'f' gave 8 bytes at edge 6 of launch 0, "
      "where 16 are taken");
  for (const auto& launch : launches) launch->end({});
  sim.finish();
}

// PL-5
TEST(ProgramLinksTest, AwaitIsWokenOnceByWhatItAskedFor) {
  Simulation sim(1);
  SimPrograms job(sim, 2);
  const auto links = job.open_all();
  const auto launches = job.begin_all(links);
  std::byte one[1];
  int woken = 0;
  EXPECT_FALSE(launches[0]->take(1, 1, one).value());
  EXPECT_EQ(launches[0]->waits_for(), "process 1 (rank 1)");  // it has said nothing yet
  launches[0]->await([&] {
    ++woken;
    EXPECT_TRUE(launches[0]->take(1, 1, one).value());  // no lock is held
  });
  ASSERT_TRUE(job.give(launches[1], 2, 0, "y"));
  sim.run_for(std::chrono::seconds(1));
  EXPECT_EQ(woken, 0);  // by another edge
  ASSERT_TRUE(job.give(launches[1], 1, 0, "x"));
  ASSERT_TRUE(job.give(launches[1], 1, 0, "x"));
  sim.run_for(std::chrono::seconds(1));
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(launches[0]->take(1, 1, one).value());
  EXPECT_EQ(launches[0]->waits_for(), "");
  // What came between false and await() wakes at once.
  EXPECT_FALSE(launches[0]->take(1, 1, one).value());
  ASSERT_TRUE(job.give(launches[1], 1, 0, "x"));
  sim.run_for(std::chrono::seconds(1));
  launches[0]->await([&woken] { ++woken; });
  EXPECT_EQ(woken, 2);
  EXPECT_TRUE(launches[0]->take(1, 1, one).value());
  // So does interrupt(), without reason.
  EXPECT_FALSE(launches[0]->take(1, 1, one).value());
  launches[0]->await([&woken] { ++woken; });
  launches[0]->interrupt();
  EXPECT_EQ(woken, 3);
  EXPECT_FALSE(launches[0]->take(1, 1, one).value());
  for (const auto& launch : launches) launch->end({});
  EXPECT_EQ(woken, 3);
  launches[0]->interrupt();  // late
  sim.finish();
}

}  // namespace
}  // namespace millrace::collectives
