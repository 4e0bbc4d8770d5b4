// One checkpoint by itself, on simulated devices: it gets its name when every rank is there, and
// leaves nothing otherwise.
#include "millrace/tools/train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "tests/support/sim_devices.h"
#include "tests/support/simulation.h"
#include "tests/support/temp_folder.h"

namespace millrace::train {
namespace {

using collectives::ProcessGroup;
using collectives::Rank;
using devices::Buffers;
using millrace::testing::SimDevices;
using millrace::testing::Simulation;
using millrace::testing::TempFolder;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr std::uint64_t kStep = 7;

// Two ranks that are about to save what they have.
struct Rig {
  explicit Rig(std::uint64_t seed) : sim(seed), devices(sim, {.devices = 2}) {
    ranks = ProcessGroup::create(sim.actors(), "train", devices.all()).value();
    for (std::size_t d = 0; d < 2; ++d) {
      const auto family = [&](float value) {
        return make_ready(Buffers({devices.put(d, {value, value})}));
      };
      replicas.push_back({family(1), family(2), make_ready(Buffers())});
    }
    CheckpointParts parts;
    parts.environment = sim.environment();
    parts.folder =
        std::make_shared<CheckpointFolder>(CheckpointFolder::open(folder.path()).value());
    parts.ranks = ranks;
    parts.names = {"param/a", "momentum/a"};
    parts.plan = StepPlan({}, 5, 1, 1000, {});
    parts.call.stop = stop.get_token();
    parts.rendezvous_limit = seconds(3);
    checkpointer.emplace(std::move(parts), CheckpointOptions{}, 0, 0);
  }
  std::vector<RankState> states(std::uint64_t steps_of_rank_1 = kStep) const {
    std::vector<RankState> all(2);
    all[0].run_share = {.epoch = 1, .steps = kStep};
    all[1].run_share = {.epoch = 1, .steps = steps_of_rank_1};
    return all;
  }
  Result<std::optional<CheckpointReport>> save(std::vector<RankState> ranks_state) {
    checkpointer->take_last(kStep, replicas);
    checkpointer->begin(std::move(ranks_state));
    replicas.clear();
    EXPECT_TRUE(sim.run(checkpointer->finish()));
    return checkpointer->poll();
  }
  bool is_empty() const { return std::filesystem::is_empty(folder.path()); }
  ~Rig() { EXPECT_TRUE(sim.run(ranks[0].close())); }

  const TempFolder folder;
  Simulation sim;
  SimDevices devices;
  std::vector<ProcessGroup> ranks;
  std::stop_source stop;
  std::vector<Replica> replicas;
  std::optional<Checkpointer> checkpointer;
};

TEST(CheckpointTest, WhatAllRanksAgreeOnIsPublished) {
  Rig rig(1);
  const auto report = rig.save(rig.states());
  ASSERT_TRUE(report && *report) << report.error().to_string();
  EXPECT_EQ((*report)->bytes, 16U);
  const auto saved = read_checkpoint((*report)->path);
  ASSERT_TRUE(saved) << saved.error().to_string();
  EXPECT_EQ(saved->arrays.array("momentum/a").value().as<float>()[1], 2.0F);
  EXPECT_EQ(saved->manifest.epoch, 1U);
  EXPECT_EQ(saved->manifest.epoch_item, 2U);
  EXPECT_EQ(rig.devices.client().live_buffers(), 0);  // the handles are released
}

TEST(CheckpointTest, AFailedRankIsNamedAndNothingIsLeft) {
  Rig rig(2);
  rig.ranks[1].fail_rank(Rank{1}, Error(ErrorCode::kUnavailable, "scripted: it is gone"));
  rig.sim.run_until_idle();
  const auto report = rig.save(rig.states());
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message(), HasSubstr("step-00000007"));
  EXPECT_THAT(report.error().message(), HasSubstr("scripted: it is gone"));
  const auto* culprits = report.error().detail<collectives::Culprits>();
  ASSERT_NE(culprits, nullptr);
  EXPECT_EQ(culprits->ranks, std::vector{Rank{1}});
  EXPECT_TRUE(rig.is_empty());
}

TEST(CheckpointTest, RanksThatAreElsewhereAreReportedAndNothingIsLeft) {
  Rig rig(3);
  const auto report = rig.save(rig.states(kStep - 1));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), ErrorCode::kInternal);
  EXPECT_THAT(report.error().message(), HasSubstr("disagree"));
  EXPECT_TRUE(rig.is_empty());
}

// The bytes of the last rank count as much as those of the first.
TEST(CheckpointTest, NothingIsWrittenBeforeTheArraysOfEveryRankAre) {
  Rig rig(4);
  Promise<Buffers> late;
  const Future<Buffers> params = std::exchange(rig.replicas[1].params, late.future());
  rig.checkpointer->take_last(kStep, rig.replicas);
  rig.checkpointer->begin(rig.states());
  rig.replicas.clear();
  rig.sim.run_for(seconds(10));
  EXPECT_TRUE(rig.is_empty());
  late.set(params.take());
  EXPECT_TRUE(rig.sim.run(rig.checkpointer->finish()));
  const auto report = rig.checkpointer->poll();
  EXPECT_TRUE(report && *report) << report.error().to_string();
}

TEST(CheckpointTest, AStopEndsItAndNothingIsLeft) {
  Rig rig(5);
  rig.stop.request_stop();
  const auto report = rig.save(rig.states());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), ErrorCode::kCancelled);
  EXPECT_TRUE(rig.is_empty());
}

// Due are 5, 10, 15 and 20, but the one of 10 is in flight up to step 16, and that of 17 to the
// end.
TEST(CheckpointTest, DueIsTheNextMultipleAndWhatIsLateComesWhenNoneIsInFlight) {
  Rig rig(6);
  std::vector<std::uint64_t> taken;
  for (std::uint64_t step = 0; step < 23; ++step) {
    if (rig.checkpointer->take_if_due(step, rig.replicas)) taken.push_back(step);
    if (step != 6 && step != 16) continue;
    rig.checkpointer->begin(rig.states());
    EXPECT_TRUE(rig.sim.run(rig.checkpointer->finish()));
    EXPECT_TRUE(rig.checkpointer->poll());
  }
  EXPECT_EQ(taken, (std::vector<std::uint64_t>{5, 10, 17}));
}

}  // namespace
}  // namespace millrace::train
