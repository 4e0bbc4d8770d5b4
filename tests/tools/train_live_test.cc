// The training on the real CPU devices with the demo's programs: threads, clocks and kernels as
// users have them, because what it shows (overlap in real time, equal bits with real threads) the
// simulation cannot.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/core/base/fault_point.h"
#include "millrace/tools/api/runtime.h"
#include "millrace/tools/train/recovery.h"
#include "millrace/transfer/fake_source.h"
#include "tests/support/paths.h"
#include "tests/support/temp_folder.h"

namespace millrace::train {
namespace {

Runtime open(int devices) {
  RuntimeOptions options;
  options.devices = devices;
  options.threads = 2;
  options.trace = true;
  return Runtime::create(options).value();
}

TrainingOptions options(std::uint64_t steps) {
  TrainingOptions o;
  o.model = millrace::testing::source_folder() + "/tools/models/mnist";
  o.train_data =
      std::make_shared<transfer::FakeSource>(transfer::FakeSourceOptions{.items = 1280, .seed = 5});
  o.batch_size = 128;
  o.epochs = 100;
  o.max_steps = steps;
  o.deterministic = true;
  return o;
}

Result<TrainingReport> run(const Runtime& runtime, TrainingOptions o,
                           TrainingListener* listener = nullptr) {
  TrainingParts parts;
  parts.environment = runtime.environment();
  parts.system = &runtime.actors();
  parts.devices.assign(runtime.devices().begin(), runtime.devices().end());
  parts.compile = [&runtime](devices::Program program, const devices::CompileOptions& compile) {
    return runtime.compile(std::move(program), compile);
  };
  parts.trace = runtime.trace();
  return wait_blocking(spawn(runtime.compute(), train(parts, std::move(o), listener)));
}

TEST(TrainLiveTest, DeterministicRunsHaveEqualBits) {
  std::vector<double> losses[2];
  for (auto& of_run : losses) {
    const Runtime runtime = open(2);
    const auto report = run(runtime, options(20));
    ASSERT_TRUE(report) << report.error().to_string();
    of_run = report->losses;
  }
  ASSERT_EQ(losses[0].size(), 20u);
  EXPECT_EQ(losses[0], losses[1]);
}

TEST(TrainLiveTest, ARunResumedFromACheckpointHasTheBitsOfTheWholeRun) {
  const millrace::testing::TempFolder folder;
  std::vector<double> whole;
  {
    const Runtime runtime = open(2);
    const auto report = run(runtime, options(24));
    ASSERT_TRUE(report) << report.error().to_string();
    whole = report->losses;
  }
  std::vector<double> parts;
  for (const std::uint64_t steps : {7, 16, 24}) {  // an epoch has ten
    const Runtime runtime = open(2);
    TrainingOptions o = options(steps);
    o.checkpoint = CheckpointOptions{.folder = folder.path(), .every = 3, .resume = true};
    const auto report = run(runtime, o);
    ASSERT_TRUE(report) << report.error().to_string();
    parts.insert(parts.end(), report->losses.begin(), report->losses.end());
  }
  EXPECT_EQ(parts, whole);
}

// Lets a test wait for steps.
class StepCount final : public TrainingListener {
 public:
  void on_start(const TrainingStart&) override {}
  void on_epoch(std::uint64_t, double) override {}
  void on_step(const StepReport& step) override {
    {
      const std::lock_guard lock(mutex_);
      steps_ = step.step;
    }
    changed_.notify_all();
  }
  // False if they have not come after five minutes.
  bool wait_blocking(std::uint64_t steps) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(5), [&] { return steps_ >= steps; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t steps_ = 0;
};

// The writing of the first checkpoint stands still until the training is ten steps further.
TEST(TrainLiveTest, StepsContinueWhileACheckpointIsWritten) {
  const millrace::testing::TempFolder folder;
  const Runtime runtime = open(2);
  StepCount count;
  bool went_on = false;
  const ArmedFault fault("checkpoint.arrays", 1, [&] { went_on = count.wait_blocking(14); });
  TrainingOptions o = options(30);
  o.checkpoint = CheckpointOptions{.folder = folder.path(), .every = 4};
  const auto report = run(runtime, o, &count);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_TRUE(went_on);
  EXPECT_TRUE(read_checkpoint(folder.file("step-00000030")));
}

// Stops the training where four steps are reported, until every step that is in flight then has
// launched its update: what the checkpoint of step four saves is two updates old when it begins.
class LateTraining final : public TrainingListener {
 public:
  explicit LateTraining(const Runtime& runtime) : runtime_(runtime) {}
  void on_start(const TrainingStart&) override {}
  void on_epoch(std::uint64_t, double) override {}
  void on_step(const StepReport& step) override {
    if (step.step != 4) return;
    constexpr std::uint64_t kLaunches = 2 * 7;  // grad and update, of four steps and three more
    const TimePoint end = steady_clock().now() + std::chrono::minutes(5);
    for (const devices::Device& device : runtime_.devices()) {
      while (device.stats().launches < kLaunches && steady_clock().now() < end) {
        std::this_thread::yield();
      }
      EXPECT_GE(device.stats().launches, kLaunches);
    }
  }

 private:
  const Runtime& runtime_;
};

TEST(TrainLiveTest, UpdatesThatAreAheadOfACheckpointLeaveItsArraysAsTheyWere) {
  const millrace::testing::TempFolder folder;
  std::string texts[2];
  for (int i = 0; i < 2; ++i) {
    const Runtime runtime = open(2);
    LateTraining late(runtime);
    TrainingOptions o = options(i == 0 ? 4 : 9);  // the end of a run; in the middle of one
    o.steps_in_flight = 4;
    o.checkpoint = CheckpointOptions{.folder = folder.file(std::to_string(i)), .every = 4};
    const auto report = run(runtime, o, i == 0 ? nullptr : &late);
    ASSERT_TRUE(report) << report.error().to_string();
    const auto saved = read_checkpoint(folder.file(std::to_string(i)) + "/step-00000004");
    ASSERT_TRUE(saved) << saved.error().to_string();
    texts[i] = saved->manifest.to_text().value();  // checksums and all
  }
  EXPECT_EQ(texts[0], texts[1]);
}

// Kills a device when so many steps have ended; further apart than steps in flight, so that each
// is a failure of its own.
class Killer final : public TrainingListener {
 public:
  Killer(const Runtime& runtime, std::vector<std::uint64_t> steps)
      : runtime_(runtime), steps_(std::move(steps)) {}
  void on_start(const TrainingStart&) override {}
  void on_epoch(std::uint64_t, double) override {}
  void on_step(const StepReport& step) override {
    if (killed_ == steps_.size() || step.step < steps_[killed_]) return;
    const std::size_t device = killed_++ % runtime_.devices().size();
    EXPECT_TRUE(runtime_.device(device).kill(
        Error(ErrorCode::kUnavailable, "scripted: the plug was pulled")));
  }
  void on_recovery(const RecoveryReport& recovery) override { recoveries_.push_back(recovery); }
  const std::vector<RecoveryReport>& recoveries() const { return recoveries_; }

 private:
  const Runtime& runtime_;
  const std::vector<std::uint64_t> steps_;
  std::size_t killed_ = 0;
  std::vector<RecoveryReport> recoveries_;
};

TEST(TrainLiveTest, AKilledDeviceIsRestartedAndTheRunHasTheBitsOfAnUndisturbedOne) {
  const millrace::testing::TempFolder folder;
  std::vector<double> whole;
  {
    const Runtime runtime = open(2);
    const auto report = run(runtime, options(24));
    ASSERT_TRUE(report) << report.error().to_string();
    whole = report->losses;
  }
  for (const bool with_files : {false, true}) {
    const Runtime runtime = open(2);
    Killer killer(runtime, {2, 9, 15, 20});
    TrainingOptions o = options(24);
    o.device_restarts.restarts = 4;
    o.commit_every = 3;
    if (with_files) o.checkpoint = CheckpointOptions{.folder = folder.path(), .every = 3};
    const auto report = run(runtime, o, &killer);
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_EQ(report->losses, whole);
    EXPECT_EQ(killer.recoveries().size(), 4U);
    EXPECT_EQ(report->recoveries, 4U);
    EXPECT_GT(killer.recoveries()[3].step, 0U);
  }
}

TEST(TrainLiveTest, EqualShardsOnTwoDevicesGiveTheLossesOfOne) {
  std::vector<double> losses[2];
  for (int i = 0; i < 2; ++i) {
    const Runtime runtime = open(i + 1);
    TrainingOptions o = options(20);
    o.batch_size = 64 * (i + 1);
    o.same_shard = true;
    const auto report = run(runtime, o);
    ASSERT_TRUE(report) << report.error().to_string();
    losses[i] = report->losses;
  }
  for (std::size_t s = 0; s < 20; ++s) {
    EXPECT_LE(std::fabs(losses[0][s] - losses[1][s]), 1e-4 * std::fabs(losses[0][s]))
        << "step " << s;
  }
}

// One step at a time, so that an all-reduce inside a grad's interval is one of its own step.
TEST(TrainLiveTest, AnAllReduceStartsBeforeItsGradExecutionHasEnded) {
#if defined(MILLRACE_SANITIZED)
  constexpr int kSteps = 30;  // each takes long
#else
  constexpr int kSteps = 100;
#endif
  const Runtime runtime = open(2);
  TrainingOptions o = options(kSteps);
  o.steps_in_flight = 1;
  const auto report = run(runtime, o);
  ASSERT_TRUE(report) << report.error().to_string();

  const auto events = runtime.trace()->events();
  int grads = 0;
  int early = 0;
  for (const TraceEvent& grad : events) {
    if (!runtime.trace()->name_text(grad.name).contains("grad")) continue;
    ++grads;
    early += std::ranges::any_of(events, [&](const TraceEvent& e) {
      return runtime.trace()->name_text(e.name) == "all_reduce" && e.begin > grad.begin &&
             e.begin < grad.end;
    });
  }
  // In how many, the machine decides: of two devices the slower says when both can start, and
  // where others want the cores that is late. The simulated training has it in every one.
  EXPECT_EQ(grads, 2 * kSteps);
  EXPECT_GT(early, 0);
}

}  // namespace
}  // namespace millrace::train
