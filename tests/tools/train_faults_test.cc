// The training under every kind of fault, on virtual time and in orders of events drawn from seeds.
// Every fault is scripted to hit during the run, so each run's end is known: its report, or
// the error of its fault. A run that ends otherwise fails the test, and so does a fault that the
// seeds never made.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <stop_token>

#include "millrace/collectives/rank.h"
#include "millrace/core/async/coroutine.h"
#include "tests/support/sanitized.h"
#include "tests/tools/train_fixture.h"

namespace millrace::train::testing {
namespace {

using devices::DeviceId;
using millrace::testing::for_each_seed;
using millrace::testing::Simulation;
using std::chrono::hours;
using std::chrono::milliseconds;

constexpr std::int64_t kRows = 4;
constexpr Duration kEndless = hours(1000);
constexpr Duration kPatience = milliseconds(1000);  // from a stop or a deadline to the end

enum class Fault : std::uint8_t {
  kNone,
  kDeviceSlows,
  kDeviceStalls,
  kDeviceFails,  // from here on the run fails
  kRankKilledBetweenMeetings,
  kLaunchFails,
  kPutFails,
  kReadFails,
  kReadThrows,
  kDecodeFails,
  kDecodeThrows,
  kReadHangs,  // from here on only a stop or a deadline ends the run
  kDeviceHangs,
  kCount,
};
constexpr auto kFaults = static_cast<std::size_t>(Fault::kCount);
bool hangs(Fault fault) { return fault >= Fault::kReadHangs; }
bool may_finish(Fault fault) { return fault < Fault::kDeviceFails; }

// What the caller does to the run meanwhile.
enum class End : std::uint8_t { kItself, kStop, kDeadline };

// How the runs of one kind of fault ended.
struct Tally {
  int finished = 0;
  int by_fault = 0;  // alone
  int by_fault_though_ended = 0;
  int by_stop = 0;
  int by_deadline = 0;
};
using Tallies = std::array<Tally, kFaults>;

// Fails a device at the end of an epoch: the ranks have met, and have yet to meet again.
class KillAtEpoch final : public TrainingListener {
 public:
  KillAtEpoch(SimulatedTraining& training, DeviceId device, std::uint64_t epoch)
      : training_(training), device_(device), epoch_(epoch) {}
  void on_start(const TrainingStart&) override {}
  void on_step(const StepReport&) override {}
  void on_epoch(std::uint64_t epoch, double) override {
    if (epoch == epoch_) {
      training_.client_.fail_device(device_, training_.sim_.now(), "scripted: killed");
    }
  }

 private:
  SimulatedTraining& training_;
  const DeviceId device_;
  const std::uint64_t epoch_;
};

// One run: drawn from the seed, then started, then judged.
class FaultyRun {
 public:
  explicit FaultyRun(Simulation& sim)
      : sim_(sim),
        devices_(1 + static_cast<int>(sim.below(4))),
        training_(sim, devices_, kRows, {}, sim.chance(0.5)) {
    draw_training();
    draw_fault();
    draw_end();
  }

  void run(Tally& tally);
  Fault fault() const { return fault_; }

 private:
  void draw_training();
  void draw_fault();
  void draw_end();
  void script(ClockSource::Fault fault) {
    training_.source_->script(fault, 1 + sim_.below(steps_));
  }
  TimePoint within_the_run() { return sim_.now() + milliseconds(sim_.below(shortest_ms_)); }
  void judge(const Result<TrainingReport>& report, Tally& tally) const;
  void judge_losses(const TrainingReport& report) const;
  bool is_of_fault(const Error& error) const;
  bool names_device(const Error& error) const;

  Simulation& sim_;
  const int devices_;
  SimulatedTraining training_;
  TrainingOptions options_;
  std::uint64_t items_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t shortest_ms_ = 0;  // no run takes less, so what is set before that hits it
  Fault fault_{};
  DeviceId device_{};  // of the fault
  std::optional<KillAtEpoch> killer_;
  End end_{};
  TimePoint end_at_{};
  std::stop_source stop_;
};

void FaultyRun::draw_training() {
  const std::uint64_t steps_per_epoch = 1 + sim_.below(8);
  const std::uint64_t epochs = 1 + sim_.below(3);
  items_ = static_cast<std::uint64_t>(devices_ * kRows) * steps_per_epoch;
  steps_ = steps_per_epoch * epochs;
  const ProgramTimes times;
  shortest_ms_ = steps_ * static_cast<std::uint64_t>((times.grad + times.update) / milliseconds(1));
  training_.source_ = std::make_shared<ClockSource>(
      sim_.timers(), items_, milliseconds(sim_.below(12)), milliseconds(sim_.below(5)));
  options_ = training_.options(items_, epochs);
  options_.steps_in_flight = 1 + static_cast<int>(sim_.below(5));
  options_.shuffle = sim_.chance(0.5);
  if (sim_.chance(0.4)) {
    // Sometimes too few for every device to have a part in the evaluation.
    options_.test_data = std::make_shared<ClockSource>(
        sim_.timers(), 1 + sim_.below(static_cast<std::uint64_t>(2 * devices_ * kRows)), Duration(),
        milliseconds(sim_.below(3)));
    shortest_ms_ += static_cast<std::uint64_t>(times.eval / milliseconds(1));
  }
}

void FaultyRun::draw_fault() {
  fault_ = static_cast<Fault>(sim_.below(kFaults));
  device_ = DeviceId{static_cast<int>(sim_.below(static_cast<std::uint64_t>(devices_)))};
  devices::sim::SimClient& client = training_.client_;
  switch (fault_) {
    case Fault::kDeviceSlows:
      return client.slow(device_, within_the_run(), 3.5);
    case Fault::kDeviceStalls:
      return client.stall(device_, within_the_run(), milliseconds(300));
    case Fault::kDeviceHangs:
      return client.stall(device_, within_the_run(), kEndless);
    case Fault::kDeviceFails:
      return client.fail_device(device_, within_the_run(), "scripted: power lost");
    case Fault::kRankKilledBetweenMeetings:
      // After the last epoch there is time for it only if there is an evaluation.
      if (options_.test_data == nullptr && options_.epochs == 1) {
        options_.epochs = 2;
        steps_ *= 2;
        shortest_ms_ *= 2;
      }
      killer_.emplace(training_, device_,
                      sim_.below(options_.epochs - (options_.test_data == nullptr ? 1 : 0)));
      return;
    case Fault::kLaunchFails:  // a device launches grad and update in every step
      return client.fail_launch(device_, 1 + sim_.below(2 * steps_),
                                Error(ErrorCode::kInternal, "scripted: the launch failed"));
    case Fault::kPutFails:  // and is given images and labels
      return client.fail_put(device_, 1 + sim_.below(2 * steps_),
                             Error(ErrorCode::kResourceExhausted, "scripted: the put failed"));
    case Fault::kReadFails:
      return script(ClockSource::Fault::kReadFails);
    case Fault::kReadThrows:
      return script(ClockSource::Fault::kReadThrows);
    case Fault::kDecodeFails:
      return script(ClockSource::Fault::kDecodeFails);
    case Fault::kDecodeThrows:
      return script(ClockSource::Fault::kDecodeThrows);
    case Fault::kReadHangs:
      return script(ClockSource::Fault::kReadHangs);
    default:
      return;
  }
}

void FaultyRun::draw_end() {
  if (hangs(fault_) || sim_.chance(0.4)) end_ = sim_.chance(0.5) ? End::kStop : End::kDeadline;
  end_at_ = within_the_run();
  options_.call.stop = stop_.get_token();
  if (end_ == End::kDeadline) options_.call.deadline = end_at_;
}

void FaultyRun::run(Tally& tally) {
  std::optional<TimerQueue::Id> stop_timer;
  if (end_ == End::kStop)
    stop_timer = sim_.timers().schedule(end_at_, [stop = stop_]() mutable { stop.request_stop(); });
  const auto report =
      sim_.run(spawn(*sim_.environment().compute,
                     train(training_.parts(), options_, killer_ ? &*killer_ : nullptr)));
  if (stop_timer) sim_.timers().cancel(*stop_timer);
  judge(report, tally);
  training_.source_->unblock();
  sim_.finish();
}

void FaultyRun::judge(const Result<TrainingReport>& report, Tally& tally) const {
  if (report) {
    EXPECT_TRUE(may_finish(fault_) && end_ == End::kItself) << "the fault has not shown";
    ++tally.finished;
    return judge_losses(*report);
  }
  const Error& error = report.error();
  if (is_of_fault(error)) {
    ++(end_ == End::kItself ? tally.by_fault : tally.by_fault_though_ended);
    return;
  }
  switch (error.code()) {
    case ErrorCode::kCancelled:
      EXPECT_EQ(end_, End::kStop) << error.to_string();
      ++tally.by_stop;
      break;
    case ErrorCode::kDeadlineExceeded:
      EXPECT_EQ(end_, End::kDeadline) << error.to_string();
      ++tally.by_deadline;
      break;
    default:
      ADD_FAILURE() << "not an error of this run: " << error.to_string();
  }
  // The rest of what was begun gets its time, and no more: what hangs is given up.
  EXPECT_GE(sim_.now(), end_at_);
  EXPECT_LE(sim_.now(), end_at_ + kPatience) << "virtual time went on";
}

void FaultyRun::judge_losses(const TrainingReport& report) const {
  EXPECT_EQ(report.steps, steps_);
  if (options_.shuffle) return;
  const std::vector<double> expected = plain_losses(items_, kRows, devices_, steps_);
  ASSERT_EQ(report.losses.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(report.losses[i], expected[i], 1e-5) << "step " << i;
}

bool FaultyRun::is_of_fault(const Error& error) const {
  switch (fault_) {
    case Fault::kDeviceFails:
    case Fault::kRankKilledBetweenMeetings:
      return error.code() == ErrorCode::kUnavailable && names_device(error);
    case Fault::kPutFails:
      return error.code() == ErrorCode::kResourceExhausted;
    case Fault::kReadFails:
    case Fault::kDecodeFails:
      return error.code() == ErrorCode::kDataLoss;
    case Fault::kLaunchFails:
    case Fault::kReadThrows:
    case Fault::kDecodeThrows:
      return error.code() == ErrorCode::kInternal &&
             error.message().find("scripted") != std::string::npos;
    default:
      return false;
  }
}

// As the failed rank, or as the device that failed. Rank i is on device i.
bool FaultyRun::names_device(const Error& error) const {
  if (const auto* culprits = error.detail<collectives::Culprits>()) {
    return culprits->kind == collectives::Culprits::Kind::kFailed &&
           culprits->ranks == std::vector{collectives::Rank{index(device_)}};
  }
  if (const auto* failure = error.detail<devices::DeviceFailure>())
    return failure->device == device_;
  // What was running on it ends with the device's own words.
  return error.message().find("simulated device " + std::to_string(index(device_)) +
                              ": scripted") != std::string::npos;
}

// Each kind must have been met, or the test above is about nothing.
void check_tallies(const Tallies& tallies) {
  if (millrace::testing::kSanitized) return;  // a tenth of the seeds does not meet all
  int stopped_late = 0;
  for (std::size_t i = 0; i < kFaults; ++i) {
    SCOPED_TRACE("fault " + std::to_string(i));
    const auto fault = static_cast<Fault>(i);
    const Tally& tally = tallies[i];
    if (may_finish(fault)) {
      EXPECT_GE(tally.finished, 10);
    } else if (!hangs(fault)) {
      EXPECT_GE(tally.by_fault, 10);
    }
    stopped_late += tally.by_fault_though_ended;
    EXPECT_GE(tally.by_stop + tally.by_deadline, 1);
    if (hangs(fault)) {
      EXPECT_GE(tally.by_stop, 10);
      EXPECT_GE(tally.by_deadline, 10);
    }
  }
  EXPECT_GE(stopped_late, 10);
}

TEST(TrainFaultsTest, AnyFaultAtAnyTimeEndsTheRunWithItsError) {
  Tallies tallies;
  for_each_seed(500, [&](Simulation& sim) {
    FaultyRun run(sim);
    SCOPED_TRACE("fault " + std::to_string(static_cast<int>(run.fault())));
    run.run(tallies[static_cast<std::size_t>(run.fault())]);
  });
  if (std::getenv("MILLRACE_SEED") == nullptr && !HasFailure()) check_tallies(tallies);
}

}  // namespace
}  // namespace millrace::train::testing
