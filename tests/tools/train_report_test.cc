// The figures and the sentence of the report, from inputs made by hand.
#include "millrace/tools/train/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace millrace::train {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using ::testing::StartsWith;
using transfer::LoadStage;
using namespace std::chrono_literals;

constexpr TimePoint kStart{1000s};

// A training of 100 steps of 10 ms on two devices, whose figures a test changes.
class ReportTest : public ::testing::Test {
 protected:
  static constexpr int kSteps = 100;
  static constexpr Duration kTime = 1s;

  ReportTest() {
    inputs_.trace = &trace_;
    inputs_.grad_program = "grad_64";
    inputs_.update_program = "update";
    inputs_.step_times.assign(kSteps, 10ms);
    inputs_.time = kTime;
    inputs_.steps = kSteps;
    inputs_.items = 128 * kSteps;
    inputs_.before.resize(2);
    inputs_.after.resize(2);
    inputs_.data_waits.resize(2);
    inputs_.cpu = {.cores = 4, .process = 2s, .waiting = 0s, .cores_busy = 2s};
    set_busy(9ms);
  }

  // Every step takes this share of busy time on both devices.
  void set_busy(Duration busy) {
    for (devices::DeviceStats& after : inputs_.after) after.busy = kSteps * busy;
  }
  void set_stage(LoadStage stage, Duration per_batch) {
    transfer::StageStats& s = inputs_.loader.stages[static_cast<std::size_t>(stage)];
    s.batches = 2 * kSteps;
    s.busy = 2 * kSteps * per_batch;
    const TraceLane lane = trace_.lane(std::string("loader ") + to_string(stage));
    std::erase_if(inputs_.events, [&](const TraceEvent& event) { return event.lane == lane; });
    for (int step = 0; step < kSteps; ++step)
      add_event(lane, "batch", step, 0ms, step == 0 ? 100 * per_batch : per_batch);
  }
  void set_data_wait(Duration per_step) { inputs_.data_waits.assign(2, kSteps * per_step); }
  // In every step, from begin to end after its start.
  void add_events(const std::string& name, Duration begin, Duration end) {
    for (int step = 0; step < kSteps; ++step) add_event(lane_, name, step, begin, end);
  }
  void add_event(TraceLane lane, const std::string& name, int step, Duration begin, Duration end) {
    const TimePoint start = kStart + step * 10ms;
    inputs_.events.push_back({lane, trace_.name(name), start + begin, start + end, 0, 0});
  }
  TrainingReport report() const {
    TrainingReport report;
    fill_figures(inputs_, report);
    return report;
  }

  TraceRecorder trace_{steady_clock()};
  const TraceLane lane_ = trace_.lane("device 0");
  ReportInputs inputs_;
};

TEST_F(ReportTest, PercentilesAreTheNearestRank) {
  inputs_.step_times.clear();
  for (int i = 200; i >= 1; --i) inputs_.step_times.push_back(i * 1ms);
  EXPECT_DOUBLE_EQ(report().step_ms_median, 100);
  EXPECT_DOUBLE_EQ(report().step_ms_p99, 198);
  inputs_.step_times = {7ms};
  EXPECT_DOUBLE_EQ(report().step_ms_median, 7);
  EXPECT_DOUBLE_EQ(report().step_ms_p99, 7);
}

TEST_F(ReportTest, NoStepGivesZerosAndNoDivisionByThem) {
  inputs_ = {};
  EXPECT_EQ(report().step_ms_median, 0);
  EXPECT_EQ(report().step_ms_p99, 0);
  EXPECT_EQ(report().images_per_second, 0);
  EXPECT_EQ(report().stage_ms.all_reduce, 0);
  EXPECT_EQ(report().overlap, 1);
  EXPECT_EQ(report().bottleneck, "");
}

TEST_F(ReportTest, ARunWithoutAStepSaysSoAndBlamesNothing) {
  inputs_ = {};
  EXPECT_EQ(report().to_text(),
            "steps                   none: the run was resumed after its last step\n");
  const auto json = nlohmann::json::parse(report().to_json());
  EXPECT_EQ(json["steps"], 0);
  EXPECT_TRUE(json["bottleneck"].is_null());
}

// Rank 0 of a job, started anew: the steps are the run's, the times its own.
TEST_F(ReportTest, StepsBeforeThisProcessCountButTakeNoTime) {
  inputs_.steps_before = 200;
  EXPECT_THAT(report().to_text(), HasSubstr("300, the last 100 of them in 1.0 s, 12800 images/s"));
  EXPECT_EQ(nlohmann::json::parse(report().to_json())["steps"], 300);
  inputs_ = {};
  inputs_.steps_before = 300;
  EXPECT_EQ(report().to_text(),
            "steps                   300, all before this process was started\n");
}

TEST_F(ReportTest, ImagesPerSecondCountTheGlobalBatch) {
  EXPECT_DOUBLE_EQ(report().images_per_second, 12'800);
}

TEST_F(ReportTest, IdleShareIsTheTimeWithoutAProgramOfEachDeviceSinceTheFirstStep) {
  inputs_.before[1].busy = 100s;
  inputs_.after[0].busy = 900ms;
  inputs_.after[1].busy = 100s + 250ms;
  EXPECT_THAT(report().device_idle, Pointwise(DoubleNear(1e-9), {0.1, 0.75}));
}

TEST_F(ReportTest, BusyTimeBeyondTheStepsIsNoIdleTime) {
  inputs_.after[0].busy = kTime + 1ms;
  EXPECT_EQ(report().device_idle[0], 0);
}

TEST_F(ReportTest, OverlapIsTheShareOfTheLoadingThatNoDeviceWaitedFor) {
  set_stage(LoadStage::kRead, 2ms);
  set_stage(LoadStage::kDecode, 1ms);
  set_stage(LoadStage::kTransfer, 1ms);
  EXPECT_DOUBLE_EQ(report().overlap, 1);
  set_data_wait(1ms);
  EXPECT_DOUBLE_EQ(report().overlap, 0.75);
  set_data_wait(8ms);  // waiting for more than the loading is not less than nothing hidden
  EXPECT_DOUBLE_EQ(report().overlap, 0);
}

TEST_F(ReportTest, StagesAreMediansSoThatOneSlowBatchChangesNothing) {
  set_stage(LoadStage::kRead, 2ms);
  set_stage(LoadStage::kDecode, 3ms);
  set_stage(LoadStage::kTransfer, 4ms);
  add_events("grad_64", 0ms, 5ms);
  add_events("grad_64", 0ms, 5ms);  // the other device
  add_event(lane_, "grad_64", 0, 0ms, 500ms);
  add_events("update", 8ms, 9ms);
  add_events("all_reduce", 3ms, 5ms);  // two buckets
  add_events("all_reduce", 4ms, 6ms);
  add_events("grad_128", 0ms, 10ms);  // not of this training
  const StageTimes s = report().stage_ms;
  EXPECT_DOUBLE_EQ(s.read, 2);
  EXPECT_DOUBLE_EQ(s.decode, 3);
  EXPECT_DOUBLE_EQ(s.host_to_device, 4);
  EXPECT_DOUBLE_EQ(s.execute, 5);
  EXPECT_DOUBLE_EQ(s.update, 1);
  EXPECT_DOUBLE_EQ(s.all_reduce, 4);

  // Only the end of a long run is kept: what counts are the steps whose events are there.
  inputs_.events_time = inputs_.time / 2;
  EXPECT_DOUBLE_EQ(report().stage_ms.all_reduce, 8);
}

TEST_F(ReportTest, WaitingForDataIsLoadingAndNamesTheSlowestStage) {
  struct Case {
    LoadStage slowest;
    std::string name;
  };
  for (const Case& c : {Case{LoadStage::kRead, "read"}, Case{LoadStage::kDecode, "decode"},
                        Case{LoadStage::kTransfer, "host-to-device"}}) {
    for (const LoadStage stage : {LoadStage::kRead, LoadStage::kDecode, LoadStage::kTransfer}) {
      set_stage(stage, stage == c.slowest ? 9ms : 2ms);
    }
    set_busy(4ms);
    set_data_wait(5ms);
    EXPECT_THAT(report().bottleneck, StartsWith("Loading is the bottleneck: the devices waited "
                                                "for data 50.0 % of the time; its slowest stage "
                                                "is " +
                                                c.name + " with 9.00 ms per batch"));
  }
}

TEST_F(ReportTest, BusyDevicesAreExecution) {
  add_events("grad_64", 0ms, 8ms);
  EXPECT_THAT(report().bottleneck,
              StartsWith("Execution is the bottleneck: the devices ran programs 90.0 % of the "
                         "time (grad 8.00 ms"));
  EXPECT_THAT(report().bottleneck, HasSubstr("; the process used 2.00 of 4 cores."));
}

TEST_F(ReportTest, UsingAllCoresIsReportedWhetherTheDevicesAreBusyOrNot) {
  inputs_.cpu = {.cores = 2, .process = 1930ms, .waiting = 3s, .cores_busy = 2s};
  for (const Duration busy : {9900us, 5000us}) {
    set_busy(busy);
    EXPECT_THAT(report().bottleneck,
                StartsWith("The cores are the bottleneck: the process used 1.93 of 2 cores"));
  }
  inputs_.cpu.process = inputs_.cpu.cores_busy = 1600ms;  // 80 % is not all
  EXPECT_THAT(report().bottleneck, StartsWith("Coordination is the bottleneck"));
}

TEST_F(ReportTest, OtherProcessesAreBlamedOnlyWhenTheyHadCoresThatThisOneWaitedFor) {
  struct Case {
    Duration waiting, cores_busy;
    std::string verdict;
  };
  // This process has 1 of 2 cores.
  for (const Case& c : {
           Case{1s, 2s,
                "Other processes are the bottleneck: they used 1.00 of 2 cores and this "
                "one 1.00, whose threads were without a core for 50.0 % of the time"},
           Case{1s, 1s, "Execution"},    // a burst of its own threads
           Case{50ms, 2s, "Execution"},  // they have the other core and it does not want it
           Case{0s, 0s, "Execution"},    // the system does not tell
       }) {
    inputs_.cpu = {.cores = 2, .process = 1s, .waiting = c.waiting, .cores_busy = c.cores_busy};
    EXPECT_THAT(report().bottleneck, StartsWith(c.verdict));
  }
}

TEST_F(ReportTest, AllReduceIsBlamedForWhatNoProgramHides) {
  set_busy(4ms);
  add_events("grad_64", 0ms, 3ms);
  add_events("update", 9ms, 10ms);
  add_events("all_reduce", 1ms, 8ms);  // 2 ms of it hidden
  add_events("all_reduce", 2ms, 6ms);  // within the other
  EXPECT_THAT(report().bottleneck,
              StartsWith("All-reduce is the bottleneck: for 50.0 % of the time gradients were "
                         "being reduced while no device ran a program (11.00 ms of all-reduce in "
                         "a step of 10.00 ms)"));
}

TEST_F(ReportTest, WhatIsLeftIsCoordinationWithItsFigures) {
  set_busy(4ms);
  add_events("grad_64", 0ms, 3ms);
  add_events("update", 9ms, 10ms);
  add_events("all_reduce", 1ms, 4ms);
  EXPECT_THAT(report().bottleneck,
              StartsWith("Coordination is the bottleneck: the devices were idle 60.0 % of the time "
                         "but waited for data only 0.0 % of it, and 10.0 % went to all-reduce "
                         "alone; a step of 10.00 ms has 4.00 ms of execution"));
}

TEST_F(ReportTest, NothingKnownOfTheCoresSaysNothingAboutThem) {
  inputs_.cpu = {};
  EXPECT_THAT(report().bottleneck, StartsWith("Execution is the bottleneck"));
  EXPECT_THAT(report().bottleneck, Not(HasSubstr("core")));
}

TEST_F(ReportTest, JsonIsOneLineWithAllFields) {
  set_stage(LoadStage::kRead, 2ms);
  inputs_.loader.peak_host_bytes = 5;
  inputs_.loader.peak_device_bytes = 6;
  inputs_.after[0].peak_bytes_in_flight = 7;
  inputs_.after[1].peak_bytes_in_flight = 8;
  TrainingReport made = report();
  made.test_accuracy = 0.875;
  made.losses = {2.5, 0.5};
  const std::string text = made.to_json();
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["event"], "done");
  EXPECT_EQ(json["test_accuracy"], 0.875);
  EXPECT_EQ(json["steps"], kSteps);
  EXPECT_EQ(json["final_loss"], 0.5);
  EXPECT_EQ(json["step_ms_median"], 10.0);
  EXPECT_EQ(json["step_ms_p99"], 10.0);
  EXPECT_EQ(json["images_per_second"], 12'800.0);
  EXPECT_EQ(json["stage_ms"]["read"], 2.0);
  std::vector<std::string> stages;
  for (const auto& [name, value] : json["stage_ms"].items()) stages.push_back(name);
  EXPECT_THAT(stages, ::testing::UnorderedElementsAre("read", "decode", "host_to_device", "execute",
                                                      "all_reduce", "update"));
  EXPECT_EQ(json["overlap"], 1.0);
  EXPECT_EQ(json["device_idle"].size(), 2U);
  EXPECT_EQ(json["peak_bytes"]["staging"], 5);
  EXPECT_EQ(json["peak_bytes"]["prefetched"], 6);
  EXPECT_THAT(json["peak_bytes"]["in_flight"], ElementsAre(7, 8));
  EXPECT_EQ(json["bottleneck"], made.bottleneck);
}

TEST_F(ReportTest, AccuracyWithoutATestIsNullInJsonAndAbsentInWords) {
  EXPECT_TRUE(nlohmann::json::parse(report().to_json())["test_accuracy"].is_null());
  EXPECT_THAT(report().to_text(), Not(HasSubstr("accuracy")));
}

TEST_F(ReportTest, WordsEndWithTheBottleneck) {
  const TrainingReport made = report();
  EXPECT_THAT(made.to_text(), ::testing::EndsWith(made.bottleneck + "\n"));
  EXPECT_THAT(made.to_text(), HasSubstr("10.00 ms median, 10.00 ms p99"));
}

}  // namespace
}  // namespace millrace::train
