// Checkpoints of the whole training on virtual time (the files are real, and take no time of it):
// a resumed run gives the same losses, however the run before has ended; steps never wait
// for one; what goes wrong ends the run by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "millrace/core/async/coroutine.h"
#include "millrace/core/base/fault_point.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/train_fixture.h"

namespace millrace::train::testing {
namespace {

using millrace::testing::for_each_seed;
using millrace::testing::Simulation;
using millrace::testing::TempFolder;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One run of a plan, in a simulation of its own.
struct Plan {
  int devices = 2;
  std::int64_t rows = 4;
  std::uint64_t items = 40;
  std::uint64_t epochs = 3;
  std::optional<std::uint64_t> max_steps;
  std::uint64_t seed = 1;
  bool shuffle = true;
  int steps_in_flight = 4;
  std::optional<CheckpointOptions> checkpoint;
};
struct Ended {
  Result<TrainingReport> report;
  testing::Reports told;
  Duration took{};
};

Ended run(const Plan& plan, std::uint64_t sim_seed = 3, Duration transfer_latency = {}) {
  Simulation sim(sim_seed);
  SimulatedTraining training(sim, plan.devices, plan.rows, {}, false, transfer_latency);
  TrainingOptions options = training.options(plan.items, plan.epochs);
  options.seed = plan.seed;
  options.shuffle = plan.shuffle;
  options.max_steps = plan.max_steps;
  options.steps_in_flight = plan.steps_in_flight;
  options.checkpoint = plan.checkpoint;
  Ended ended;
  const TimePoint begin = sim.now();
  ended.report = sim.run(
      spawn(*sim.environment().compute, train(training.parts(), std::move(options), &ended.told)));
  ended.took = sim.now() - begin;
  EXPECT_EQ(training.client_.uses_after_removal(), 0U);
  sim.finish();
  EXPECT_EQ(training.client_.live_buffers(), 0);
  return ended;
}

// The steps that `later` has done must have the bits of `whole`, in losses and means of epochs.
void expect_same(const testing::Reports& later, const testing::Reports& whole) {
  for (const auto& [step, loss] : later.losses) EXPECT_EQ(loss, whole.losses.at(step)) << step;
  for (const auto& [epoch, mean] : later.means) EXPECT_EQ(mean, whole.means.at(epoch)) << epoch;
}

// A run that fails anywhere, and one that resumes from its checkpoint: together they equal the
// undisturbed run.
TEST(TrainCheckpointTest, AResumedRunGivesTheLossesOfTheUninterruptedRun) {
  for_each_seed(30, [](Simulation& sim) {
    const TempFolder folder;
    Plan plan;
    plan.devices = 1 + static_cast<int>(sim.below(3));
    plan.items = 4 * static_cast<std::uint64_t>(plan.devices) * (3 + sim.below(5)) + sim.below(4);
    plan.shuffle = sim.chance(0.7);
    plan.steps_in_flight = 1 + static_cast<int>(sim.below(5));
    const Ended whole = run(plan);
    ASSERT_TRUE(whole.report) << whole.report.error().to_string();

    const std::uint64_t steps = whole.report->steps;
    const std::uint64_t breaks_at = 2 + sim.below(steps - 1);
    plan.checkpoint = CheckpointOptions{.folder = folder.path(), .every = 1 + sim.below(4)};
    Ended broken{.report = TrainingReport()};
    {
      const ArmedFault fault("train.step", breaks_at,
                             Error(ErrorCode::kUnavailable, "scripted: the run breaks"));
      broken = run(plan, sim.below(1000));
    }
    ASSERT_FALSE(broken.report);
    EXPECT_THAT(broken.report.error().message(), HasSubstr("scripted: the run breaks"));
    expect_same(broken.told, whole.told);

    plan.checkpoint->resume = true;
    plan.steps_in_flight = 1 + static_cast<int>(sim.below(5));
    const Ended later = run(plan, sim.below(1000));
    ASSERT_TRUE(later.report) << later.report.error().to_string();
    expect_same(later.told, whole.told);
    const std::uint64_t first = later.told.start.first_step;
    // One may have been published after the last word of the broken run.
    EXPECT_GE(first, broken.told.checkpoints.empty() ? 0 : broken.told.checkpoints.back());
    EXPECT_LT(first, breaks_at);
    EXPECT_EQ(later.told.losses.size(), steps - first);
    EXPECT_EQ(later.told.start.resumed_from.empty(), first == 0);
    EXPECT_EQ(later.told.checkpoints.back(), steps);
  });
}

TEST(TrainCheckpointTest, ARunIsSavedOncePerEpochAndAtItsEnd) {
  const TempFolder folder;
  Plan plan;  // 40 items in batches of 8: five steps per epoch
  plan.max_steps = 13;
  plan.checkpoint = CheckpointOptions{.folder = folder.path()};
  const Ended ended = run(plan);
  ASSERT_TRUE(ended.report) << ended.report.error().to_string();
  EXPECT_THAT(ended.told.checkpoints, ElementsAre(5, 10, 13));
  EXPECT_TRUE(read_checkpoint(folder.file("step-00000010")));
  EXPECT_TRUE(read_checkpoint(folder.file("step-00000013")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("step-00000005")));
}

TEST(TrainCheckpointTest, TheFileHasParametersMomentaAndStateByName) {
  const TempFolder folder;
  Plan plan;
  plan.epochs = 1;
  plan.checkpoint = CheckpointOptions{.folder = folder.path()};
  ASSERT_TRUE(run(plan).report);
  const auto saved = read_checkpoint(folder.file("step-00000005"));
  ASSERT_TRUE(saved) << saved.error().to_string();
  EXPECT_EQ(saved->arrays.header().arrays.size(), 5U);
  for (const char* name : {"param/weight", "param/bias", "momentum/weight", "momentum/bias"}) {
    EXPECT_TRUE(saved->arrays.array(name)) << name;
  }
  EXPECT_EQ(saved->arrays.array("state/count").value().as<float>()[0], 5.0F);
  EXPECT_EQ(saved->manifest.epoch, 1U);
  EXPECT_EQ(saved->manifest.epoch_item, 0U);
  EXPECT_EQ(saved->manifest.ranks.size(), 2U);
}

// Resuming with more epochs, from the very end of a run; and again, with nothing left to do.
TEST(TrainCheckpointTest, AFinishedRunResumesWithMoreEpochsAndEndsAgainWithNone) {
  const TempFolder folder;
  Plan plan;
  const Ended whole = run(plan);
  plan.checkpoint = CheckpointOptions{.folder = folder.path(), .resume = true};
  plan.epochs = 2;
  const Ended first = run(plan);
  ASSERT_TRUE(first.report) << first.report.error().to_string();
  EXPECT_TRUE(first.told.start.resume);
  EXPECT_THAT(first.told.start.resumed_from, IsEmpty());  // there was none
  plan.epochs = 3;
  for (const std::uint64_t steps : {5, 0}) {
    const Ended later = run(plan);
    ASSERT_TRUE(later.report) << later.report.error().to_string();
    EXPECT_EQ(later.report->steps, steps);
    EXPECT_EQ(later.told.losses.size(), steps);
    expect_same(later.told, whole.told);
  }
  plan.epochs = 1;
  const Ended backwards = run(plan);
  ASSERT_FALSE(backwards.report);
  EXPECT_THAT(backwards.report.error().message(), HasSubstr("after step 15"));
  EXPECT_THAT(backwards.report.error().message(), HasSubstr("ends at step 5"));
}

// (That steps continue meanwhile: train_live_test.cc.)
TEST(TrainCheckpointTest, OneIsWrittenAtATimeAndWhatIsDueMeanwhileComesAfterwards) {
  const TempFolder folder;
  Plan plan;
  plan.items = 800;
  plan.epochs = 1;
  const Duration latency = milliseconds(8);  // of each array of a checkpoint, one after the other
  const Ended without = run(plan, 3, latency);
  plan.checkpoint = CheckpointOptions{.folder = folder.path(), .every = 1};
  const Ended with = run(plan, 3, latency);
  ASSERT_TRUE(without.report && with.report);
  EXPECT_EQ(with.report->losses, without.report->losses);
  const std::vector<std::uint64_t>& steps = with.told.checkpoints;
  ASSERT_GE(steps.size(), 10U);
  for (std::size_t i = 1; i + 1 < steps.size(); ++i) {
    // Taken when the steps before are begun, and published after they have ended.
    EXPECT_GE(steps[i], steps[i - 1] + static_cast<std::uint64_t>(plan.steps_in_flight));
  }
  EXPECT_EQ(steps.back(), 100U);
}

TEST(TrainCheckpointTest, AnotherRunsCheckpointIsRefusedAndLeftAlone) {
  const TempFolder folder;
  Plan plan;
  plan.epochs = 1;
  plan.checkpoint = CheckpointOptions{.folder = folder.path()};
  ASSERT_TRUE(run(plan).report);
  const auto refusal = [&](auto change) {
    Plan other = plan;
    other.epochs = 2;
    other.checkpoint->resume = true;
    change(other);
    const Ended ended = run(other);
    EXPECT_FALSE(ended.report);
    if (ended.report) return std::string();
    EXPECT_EQ(ended.report.error().code(), ErrorCode::kFailedPrecondition);
    EXPECT_THAT(ended.report.error().message(), HasSubstr("step-00000005"));
    return ended.report.error().message();
  };
  EXPECT_THAT(refusal([](Plan& p) { p.seed = 9; }), HasSubstr("the seed is 1 there and 9 here"));
  EXPECT_THAT(refusal([](Plan& p) { p.devices = 1; }), HasSubstr("devices is 2 there and 1 here"));
  EXPECT_THAT(refusal([](Plan& p) { p.rows = 2; }), HasSubstr("batch size is 8 there and 4 here"));
  EXPECT_THAT(refusal([](Plan& p) { p.items = 48; }), HasSubstr("images is 40 there and 48 here"));
  EXPECT_THAT(refusal([](Plan& p) { p.shuffle = false; }), HasSubstr("shuffling"));
  EXPECT_THAT(refusal([](Plan& p) { p.checkpoint->resume = false; }), HasSubstr("--resume"));
  EXPECT_TRUE(read_checkpoint(folder.file("step-00000005")));
}

TEST(TrainCheckpointTest, ACheckpointThatCannotBeWrittenEndsTheRunByName) {
  for (const std::string_view point : kCheckpointFaultPoints) {
    if (point == "checkpoint.removing") continue;  // that ends nothing: the next test
    SCOPED_TRACE(point);
    const TempFolder folder;
    Plan plan;
    plan.items = 400;
    plan.checkpoint = CheckpointOptions{.folder = folder.path(), .every = 10};
    const ArmedFault fault(std::string(point), 1,
                           Error(ErrorCode::kResourceExhausted, "scripted: the disk is full"));
    const Ended ended = run(plan);
    ASSERT_FALSE(ended.report);
    EXPECT_EQ(ended.report.error().code(), ErrorCode::kResourceExhausted);
    EXPECT_THAT(ended.report.error().message(), HasSubstr("step-00000010"));
    EXPECT_THAT(ended.report.error().message(), HasSubstr("the disk is full"));
    EXPECT_LT(ended.told.losses.size(), 30U);
  }
}

TEST(TrainCheckpointTest, AnOlderCheckpointThatCannotBeRemovedEndsNothing) {
  const TempFolder folder;
  Plan plan;
  plan.items = 400;
  plan.epochs = 1;
  plan.checkpoint = CheckpointOptions{.folder = folder.path(), .every = 10};
  // Every removal fails.
  const ArmedFault fault("checkpoint.removing", 1,
                         Error(ErrorCode::kPermissionDenied, "scripted: it is not ours"), 100);
  const Ended ended = run(plan);
  ASSERT_TRUE(ended.report) << ended.report.error().to_string();
  EXPECT_GE(fault.arrivals(), 2U);
  ASSERT_GE(ended.told.checkpoints.size(), 4U) << "each was told";
  EXPECT_EQ(ended.told.checkpoints.back(), 50U);
  EXPECT_TRUE(read_checkpoint(folder.file("step-00000050")));
}

}  // namespace
}  // namespace millrace::train::testing
