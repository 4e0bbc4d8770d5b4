// Trainings whose devices fail, on virtual time: they resume from the last step that is committed,
// to the bits of the run that nothing has disturbed. (On the CPU device: train_live_test.cc.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/async/coroutine.h"
#include "millrace/core/observe/log.h"
#include "millrace/devices/device.h"
#include "millrace/devices/device_body.h"
#include "tests/support/sanitized.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/train_fixture.h"

namespace millrace::train::testing {
namespace {

using devices::DeviceId;
using millrace::testing::for_each_seed;
using millrace::testing::Simulation;
using millrace::testing::TempFolder;
using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Listener final : public TrainingListener {
 public:
  void on_start(const TrainingStart&) override { ++starts; }
  void on_step(const StepReport& step) override { losses[step.step].push_back(step.loss); }
  void on_epoch(std::uint64_t epoch, double mean) override { means[epoch].push_back(mean); }
  void on_checkpoint(const CheckpointReport&) override { ++checkpoints; }
  void on_recovery(const RecoveryReport& recovery) override { recoveries.push_back(recovery); }
  int starts = 0;
  int checkpoints = 0;
  std::map<std::uint64_t, std::vector<double>> losses;  // by step; again after a recovery
  std::map<std::uint64_t, std::vector<double>> means;
  std::vector<RecoveryReport> recoveries;
};

struct Failure {
  DeviceId device{};
  Duration at{};
};
struct Plan {
  int devices = 2;
  std::uint64_t items = 40;
  std::uint64_t epochs = 3;
  bool shuffle = true;
  int steps_in_flight = 4;
  std::uint64_t commit_every = 3;
  std::optional<CheckpointOptions> checkpoint;
  actors::RestartLimit restarts{.restarts = 10, .window = hours(1)};
  std::vector<Failure> failures;
  Duration read{};  // of a batch
};
struct Ended {
  Result<TrainingReport> report;
  Listener told;
  Duration took{};
};

constexpr std::int64_t kRows = 4;

Ended run(const Plan& plan, std::uint64_t sim_seed = 3) {
  Simulation sim(sim_seed);
  SimulatedTraining training(sim, plan.devices, kRows);
  training.source_ = std::make_shared<ClockSource>(sim.timers(), plan.items, plan.read, Duration());
  TrainingOptions options = training.options(plan.items, plan.epochs);
  options.test_data = training.source_;
  options.shuffle = plan.shuffle;
  options.steps_in_flight = plan.steps_in_flight;
  options.commit_every = plan.commit_every;
  options.checkpoint = plan.checkpoint;
  options.device_restarts = plan.restarts;
  for (const Failure& failure : plan.failures)
    training.client_.fail_device(failure.device, sim.now() + failure.at, "scripted: power lost");
  Ended ended;
  const TimePoint begin = sim.now();
  ended.report = sim.run(
      spawn(*sim.environment().compute, train(training.parts(), std::move(options), &ended.told)));
  ended.took = sim.now() - begin;
  EXPECT_EQ(training.client_.uses_after_removal(), 0U) << "something lost was used";
  sim.finish();
  EXPECT_EQ(training.client_.live_buffers(), 0);
  return ended;
}

// Failures are what it is about: no line for each.
class TrainRecoveryTest : public ::testing::Test {
 protected:
  void SetUp() override { EXPECT_TRUE(set_log_levels("warn,train=error")); }
  void TearDown() override { EXPECT_TRUE(set_log_levels("warn")); }
};

void expect_same(const Ended& disturbed, const Ended& whole) {
  ASSERT_TRUE(disturbed.report) << disturbed.report.error().to_string();
  EXPECT_EQ(disturbed.report->losses, whole.report->losses);
  EXPECT_EQ(disturbed.report->steps, whole.report->steps);
  EXPECT_EQ(disturbed.report->test_loss, whole.report->test_loss) << "of the last parameters";
  EXPECT_EQ(disturbed.report->test_accuracy, whole.report->test_accuracy);
  EXPECT_EQ(disturbed.told.starts, 1);
  for (const auto& [step, losses] : disturbed.told.losses) {
    for (const double loss : losses) EXPECT_EQ(loss, whole.told.losses.at(step)[0]) << step;
  }
  EXPECT_EQ(disturbed.told.means.size(), whole.told.means.size());
  for (const auto& [epoch, means] : disturbed.told.means) {
    for (const double mean : means) EXPECT_EQ(mean, whole.told.means.at(epoch)[0]) << epoch;
  }
}

// A run that waits for its data, and fails when most of it is over.
TEST_F(TrainRecoveryTest, TheReportHasTheLoadingBeforeAFailureToo) {
  Plan plan;
  plan.items = 80;
  plan.read = milliseconds(200);
  const Ended whole = run(plan);
  ASSERT_TRUE(whole.report) << whole.report.error().to_string();
  EXPECT_THAT(whole.report->bottleneck, HasSubstr("Loading is the bottleneck"));
  plan.failures = {{DeviceId{0}, milliseconds(2800)}};
  const Ended disturbed = run(plan);
  expect_same(disturbed, whole);
  ASSERT_EQ(disturbed.told.recoveries.size(), 1U);
  EXPECT_GT(disturbed.told.recoveries[0].step, 20U) << "of 30";
  EXPECT_THAT(disturbed.report->bottleneck, HasSubstr("Loading is the bottleneck"));
  EXPECT_NEAR(disturbed.report->overlap, whole.report->overlap, 0.1);
}

TEST_F(TrainRecoveryTest, DevicesThatFailAtAnyTimeChangeNoBit) {
  std::uint64_t recoveries = 0;
  std::uint64_t lost = 0;
  std::uint64_t from_the_middle = 0;
  for_each_seed(150, [&](Simulation& sim) {
    const TempFolder folder;
    Plan plan;
    plan.devices = 1 + static_cast<int>(sim.below(3));
    plan.items = static_cast<std::uint64_t>(4 * plan.devices) * (3 + sim.below(5)) + sim.below(4);
    plan.shuffle = sim.chance(0.7);
    plan.steps_in_flight = 1 + static_cast<int>(sim.below(5));
    plan.commit_every = 1 + sim.below(6);
    const Ended whole = run(plan);
    ASSERT_TRUE(whole.report) << whole.report.error().to_string();
    EXPECT_EQ(whole.report->recoveries, 0U);

    if (sim.chance(0.3)) {
      plan.checkpoint = CheckpointOptions{.folder = folder.path(), .every = 1 + sim.below(6)};
    }
    const std::uint64_t failures = 1 + sim.below(3);
    for (std::uint64_t f = 0; f < failures; ++f) {
      const auto device = static_cast<int>(sim.below(static_cast<std::uint64_t>(plan.devices)));
      const auto at = static_cast<std::uint64_t>(whole.took.count()) * 3 / 2;
      plan.failures.push_back({DeviceId{device}, Duration(sim.below(at))});
    }
    const Ended disturbed = run(plan, sim.below(1000));
    expect_same(disturbed, whole);
    EXPECT_EQ(disturbed.report->recoveries, disturbed.told.recoveries.size());
    for (const RecoveryReport& recovery : disturbed.told.recoveries) {
      EXPECT_FALSE(recovery.devices.empty());
      lost += recovery.steps_lost;
      from_the_middle += recovery.step > 0 ? 1 : 0;
    }
    recoveries += disturbed.report->recoveries;
  });
  if (std::getenv("MILLRACE_SEED") == nullptr && !HasFailure()) {
    constexpr unsigned kFewer = millrace::testing::kSanitized ? 10 : 1;  // seeds
    EXPECT_GT(recoveries, 100U / kFewer);
    EXPECT_GT(lost, 100U / kFewer);
    EXPECT_GT(from_the_middle, 50U / kFewer);
  }
}

TEST_F(TrainRecoveryTest, ItResumesFromTheLastCommitAndNotFromTheBeginning) {
  Plan plan;
  plan.items = 400;  // 50 steps of some 11 ms
  plan.epochs = 1;
  plan.commit_every = 5;
  const Ended whole = run(plan);
  plan.failures = {{DeviceId{1}, whole.took / 2}};
  const Ended disturbed = run(plan);
  expect_same(disturbed, whole);
  ASSERT_EQ(disturbed.told.recoveries.size(), 1U);
  const RecoveryReport& recovery = disturbed.told.recoveries[0];
  EXPECT_THAT(recovery.devices, ElementsAre(DeviceId{1}));
  EXPECT_EQ(recovery.step % 5, 0U);
  EXPECT_GE(recovery.step, 15U);
  EXPECT_LE(recovery.steps_lost, 10U);
  EXPECT_THAT(recovery.error->message(), HasSubstr("scripted: power lost"));
  // Each step once, save those that were lost.
  for (const auto& [step, losses] : disturbed.told.losses) {
    const bool again = step > recovery.step && step <= recovery.step + recovery.steps_lost;
    EXPECT_EQ(losses.size(), again ? 2U : 1U) << step;
  }
}

TEST_F(TrainRecoveryTest, BeforeTheFirstCommitItBeginsAnew) {
  Plan plan;
  plan.commit_every = 1000;
  const Ended whole = run(plan);
  plan.failures = {{DeviceId{0}, whole.took / 2}};
  const Ended disturbed = run(plan);
  expect_same(disturbed, whole);
  ASSERT_EQ(disturbed.told.recoveries.size(), 1U);
  EXPECT_EQ(disturbed.told.recoveries[0].step, 0U);
  EXPECT_GE(disturbed.told.recoveries[0].steps_lost, 3U);
}

TEST_F(TrainRecoveryTest, WithCheckpointsItResumesFromTheLastOnePublished) {
  const TempFolder folder;
  Plan plan;
  plan.items = 400;
  plan.epochs = 1;
  const Ended whole = run(plan);
  plan.checkpoint = CheckpointOptions{.folder = folder.path(), .every = 8};
  plan.failures = {{DeviceId{0}, whole.took / 2}, {DeviceId{1}, whole.took}};
  const Ended disturbed = run(plan);
  expect_same(disturbed, whole);
  ASSERT_EQ(disturbed.told.recoveries.size(), 2U);
  EXPECT_EQ(disturbed.told.recoveries[0].step % 8, 0U);
  EXPECT_GT(disturbed.told.recoveries[0].step, 0U);
  EXPECT_GT(disturbed.told.recoveries[1].step, disturbed.told.recoveries[0].step);
  const auto end = read_checkpoint(folder.file("step-00000050"));
  ASSERT_TRUE(end) << end.error().to_string();

  // Another process resumes from the same folder: from a state that the failures have not touched.
  plan.failures = {{DeviceId{1}, milliseconds(1)}};
  plan.checkpoint->resume = true;
  plan.epochs = 2;
  const Ended later = run(plan);
  ASSERT_TRUE(later.report) << later.report.error().to_string();
  EXPECT_EQ(later.report->recoveries, 1U);
  EXPECT_EQ(later.report->steps, 50U);
  EXPECT_EQ(later.told.recoveries[0].step, 50U) << "the checkpoint that the run began with";
  plan.checkpoint.reset();
  plan.failures.clear();
  const Ended both = run(plan);
  EXPECT_EQ(later.report->test_loss, both.report->test_loss);
}

TEST_F(TrainRecoveryTest, MoreFailuresThanTheLimitEndTheRunWithTheDevicesError) {
  Plan plan;
  plan.items = 400;
  plan.epochs = 1;
  const Ended whole = run(plan);
  for (int i = 1; i <= 3; ++i) plan.failures.push_back({DeviceId{1}, whole.took * i / 4});
  plan.restarts.restarts = 2;
  const Ended ended = run(plan);
  ASSERT_FALSE(ended.report);
  EXPECT_EQ(ended.told.recoveries.size(), 2U);
  EXPECT_THAT(ended.report.error().message(),
              HasSubstr("device 1 was not restarted: the limit is 2 restarts within 3600 s"));
  EXPECT_THAT(ended.report.error().message(), HasSubstr("scripted: power lost"));
}

TEST_F(TrainRecoveryTest, WithoutRestartsTheFirstFailureEndsTheRun) {
  Plan plan;
  const Ended whole = run(plan);
  plan.failures = {{DeviceId{1}, whole.took / 2}};
  plan.restarts.restarts = 0;
  const Ended ended = run(plan);
  ASSERT_FALSE(ended.report);
  EXPECT_TRUE(ended.told.recoveries.empty());
  EXPECT_THAT(ended.report.error().message(), HasSubstr("scripted: power lost"));
}

}  // namespace
}  // namespace millrace::train::testing
