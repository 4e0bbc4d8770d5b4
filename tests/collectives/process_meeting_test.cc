// How the processes of a group meet, and what they say of one that does not come.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "tests/collectives/sim_processes.h"

namespace millrace::collectives {
namespace {

using std::chrono::milliseconds;
using testing::for_each_seed;
using testing::SimProcesses;
using testing::Simulation;

// As after a loss, in the next world: the program may hold its members of the group before.
TEST(ProcessMeetingTest, AnEpochHasAGroupOfTheSameNameBesideTheOneBefore) {
  for_each_seed(100, [](Simulation& sim) {
    SimProcesses far(sim, {1, 1});
    const ProcessGroup before = far.member(0);
    std::vector<Future<void>> entered;
    for (std::size_t p = 0; p < 2; ++p) entered.push_back(far.mesh(p)->set_epoch(1));
    for (const auto& one : entered) EXPECT_TRUE(sim.run(one).has_value());
    far.join("g");
    EXPECT_FALSE(sim.run(before.barrier()).has_value());
    std::vector<Future<std::int64_t>> sums;
    for (std::size_t r = 0; r < 2; ++r) sums.push_back(far.member(r).agree(AgreeOp::kSum, 1));
    for (const auto& sum : sums) EXPECT_EQ(sim.run(sum).value(), 2);
    sim.finish();
  });
}

// As after a loss: the ranks of the group are those of the processes that meet.
TEST(ProcessMeetingTest, SomeOfTheProcessesMakeAGroup) {
  for_each_seed(30, [](Simulation& sim) {
    SimProcesses far(sim, {1, 2, 1, 1});
    std::vector<Future<std::vector<ProcessGroup>>> meeting;
    for (const std::size_t p : {0U, 1U, 3U}) {
      meeting.push_back(ProcessGroup::meet(*far.processes[p].actors, far.mesh(p), {"some", 0},
                                           far.processes[p].devices, {.processes = {0, 1, 3}}));
    }
    std::vector<ProcessGroup> ranks;
    for (const auto& one : meeting) {
      const std::vector<ProcessGroup> members = sim.run(one).value();
      ranks.insert(ranks.end(), members.begin(), members.end());
    }
    ASSERT_EQ(ranks.size(), 4U);
    std::vector<Future<std::int64_t>> sums;
    for (std::size_t r = 0; r < 4; ++r) {
      EXPECT_EQ(index(ranks[r].rank()), static_cast<int>(r));
      sums.push_back(ranks[r].agree(AgreeOp::kSum, 1 << r));
    }
    for (const auto& sum : sums) EXPECT_EQ(sim.run(sum).value(), 15);
    const auto waits = ranks[0].barrier();
    EXPECT_TRUE(sim.run(ranks[3].close()).has_value());
    const auto ended = sim.run(waits);
    ASSERT_FALSE(ended);
    const auto* const culprits = ended.error().detail<Culprits>();
    ASSERT_NE(culprits, nullptr) << "who has closed it";
    EXPECT_EQ(culprits->ranks, std::vector{Rank{3}});
    for (const std::size_t r : {0U, 1U}) EXPECT_TRUE(sim.run(ranks[r].close()).has_value());
    sim.finish();
  });
}

// Whether they hear of it by their own links or from another process.
TEST(ProcessMeetingTest, AMeetingThatLosesAProcessSaysWhich) {
  for_each_seed(60, [](Simulation& sim) {
    SimProcesses far(sim, {1, 1, 1, 1});
    std::vector<Future<std::vector<ProcessGroup>>> meeting;
    for (const std::size_t p : {0U, 1U, 2U}) meeting.push_back(far.meet(p, "later", 0));
    sim.run_for(milliseconds(sim.below(5)));
    far.mesh(sim.below(3))->declare_lost(3, Error(ErrorCode::kUnavailable, "power cut"));
    for (int rank = 0; rank < 3; ++rank) {
      const auto met = sim.run(meeting[static_cast<std::size_t>(rank)]);
      ASSERT_FALSE(met);
      const auto* const culprits = met.error().detail<Culprits>();
      ASSERT_NE(culprits, nullptr) << met.error().to_string();
      EXPECT_EQ(culprits->ranks, std::vector{Rank{3}}) << met.error().to_string();
    }
    sim.finish();
  });
}

// One that hears of the end by another's deadline closes before the others have heard of it.
TEST(ProcessMeetingTest, AllWhoWaitedNameTheProcessThatHasNotCome) {
  for_each_seed(100, [](Simulation& sim) {
    SimProcesses far(sim, {1, 1, 1, 1}, {.stalls = 0.1});
    std::vector<Future<std::vector<ProcessGroup>>> meeting;
    for (const std::size_t p : {0U, 1U, 2U}) {
      CallOptions call;
      call.deadline = sim.now() + milliseconds(1500 + sim.below(300));
      meeting.push_back(far.meet(p, "late", 0, call));
    }
    for (const auto& one : meeting) {
      const auto met = sim.run(one);
      ASSERT_FALSE(met);
      EXPECT_EQ(met.error().code(), ErrorCode::kDeadlineExceeded) << met.error().to_string();
      const auto* const culprits = met.error().detail<Culprits>();
      ASSERT_NE(culprits, nullptr) << met.error().to_string();
      EXPECT_EQ(std::ranges::count(culprits->ranks, Rank{3}), 1) << met.error().to_string();
    }
    sim.finish();
  });
}

TEST(ProcessMeetingTest, AMeetingNamesTheProcessesThatHaveNotCome) {
  Simulation sim(5);
  SimProcesses far(sim, {1, 1, 1});
  CallOptions call;
  call.deadline = sim.now() + milliseconds(500);
  const auto first = far.meet(0, "late", 0, call), second = far.meet(1, "late", 0, call);
  for (const auto& one : {first, second}) {
    const auto met = sim.run(one);
    ASSERT_FALSE(met);
    EXPECT_EQ(met.error().code(), ErrorCode::kDeadlineExceeded);
    EXPECT_NE(met.error().message().find("rank 2"), std::string::npos) << met.error().to_string();
  }
  // The one that comes after all hears why the others have gone.
  const auto last = sim.run(far.meet(2, "late", 0));
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code(), ErrorCode::kDeadlineExceeded) << last.error().to_string();
  sim.finish();
}

}  // namespace
}  // namespace millrace::collectives
