// The whole training on virtual time: its numbers and its overlap. Its end under every kind of
// fault: train_faults_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <vector>

#include "millrace/core/async/coroutine.h"
#include "millrace/core/base/philox.h"
#include "tests/tools/train_fixture.h"

namespace millrace::train::testing {
namespace {

using millrace::testing::for_each_seed;
using millrace::testing::Simulation;
using std::chrono::milliseconds;

Future<TrainingReport> start(SimulatedTraining& training, TrainingOptions options) {
  return spawn(*training.sim_.environment().compute,
               train(training.parts(), std::move(options), nullptr));
}

TEST(TrainSimulationTest, LossesAreThoseOfThePlainTraining) {
  for_each_seed(20, [](Simulation& sim) {
    const int devices = 1 + static_cast<int>(sim.below(3));
    SimulatedTraining training(sim, devices, 8);
    const auto report = sim.run(start(training, training.options(100, 2)));

    ASSERT_TRUE(report) << report.error().to_string();
    const std::vector<double> expected = plain_losses(100, 8, devices, report->steps);
    ASSERT_EQ(report->losses.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(report->losses[i], expected[i], 1e-5) << i;
    EXPECT_LT(report->losses.back(), report->losses.front());
    sim.finish();
  });
}

TEST(TrainSimulationTest, EqualShardsOnTwoDevicesGiveTheLossesOfOne) {
  std::vector<double> losses[2];
  for (int i = 0; i < 2; ++i) {
    Simulation sim(7);
    SimulatedTraining training(sim, i + 1, 8);
    TrainingOptions options = training.options(64, 2);
    options.same_shard = true;
    auto report = sim.run(start(training, options));
    ASSERT_TRUE(report) << report.error().to_string();
    losses[i] = report->losses;
    sim.finish();
  }
  ASSERT_EQ(losses[0].size(), losses[1].size());
  for (std::size_t i = 0; i < losses[0].size(); ++i) EXPECT_NEAR(losses[0][i], losses[1][i], 1e-6);
}

TEST(TrainSimulationTest, EvaluationCountsEveryItemOnce) {
  for_each_seed(10, [](Simulation& sim) {
    SimulatedTraining training(sim, 2, 8);
    TrainingOptions options = training.options(64, 1);
    const std::uint64_t items = 20 + sim.below(40);
    options.test_data = std::make_shared<ClockSource>(sim.timers(), items, Duration(), Duration());
    const auto report = sim.run(start(training, options));
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_EQ(report->test_items, items);
    EXPECT_LE(*report->test_accuracy, 1.0);
    sim.finish();
  });
}

// With reads r and decoding d that wait on the clock, execution e = grad and update: the step takes
// the slowest of them exactly, not their sum. (Each stage one batch at a time, so that it has a
// rate.)
TEST(TrainSimulationTest, StepTakesTheSlowerOfLoadingAndExecutionExactly) {
  struct Case {
    milliseconds read, decode, grad;
  };
  for (const Case& c : {Case{milliseconds(4), milliseconds(3), milliseconds(20)},
                        Case{milliseconds(30), milliseconds(3), milliseconds(10)},
                        Case{milliseconds(5), milliseconds(40), milliseconds(10)}}) {
    Simulation sim(3);
    ProgramTimes times;
    times.grad = c.grad;
    times.update = milliseconds(1);
    SimulatedTraining training(sim, 1, 8, times);
    training.source_ = std::make_shared<ClockSource>(sim.timers(), 800, c.read, c.decode);
    TrainingOptions options = training.options(800, 1);
    options.reads_in_flight = 1;
    options.decodes_in_flight = 1;
    const auto report = sim.run(start(training, options));
    ASSERT_TRUE(report) << report.error().to_string();
    const Duration slower = std::max<Duration>({c.read, c.decode, c.grad + times.update});
    const double slower_ms = std::chrono::duration<double, std::milli>(slower).count();
    EXPECT_DOUBLE_EQ(report->step_ms_median, slower_ms);
    EXPECT_DOUBLE_EQ(report->step_ms_p99, slower_ms);
    sim.finish();
  }
}

// Whatever runs when: a device's words are those of its own stream of that step, and no two streams
// begin alike.
TEST(TrainSimulationTest, RandomWordsBelongToSeedDeviceAndStep) {
  for_each_seed(10, [](Simulation& sim) {
    constexpr int kDevices = 3;
    SimulatedTraining training(sim, kDevices, 8);
    using Words = std::array<std::uint32_t, kRandomWords>;
    std::vector<Words> seen[kDevices];
    devices::sim::SimProgram grad = grad_program(8);
    grad.compute = [&seen, compute = grad.compute](std::span<const devices::sim::SimCall> calls) {
      for (const auto& call : calls) {
        Words words{};
        std::memcpy(words.data(), call.inputs[5].data(), sizeof(words));
        seen[index(call.device)].push_back(words);
      }
      return compute(calls);
    };
    training.client_.add_program(std::move(grad));
    TrainingOptions options = training.options(72, 2);
    options.seed = sim.below(1000);
    const auto report = sim.run(start(training, options));
    ASSERT_TRUE(report) << report.error().to_string();

    std::set<Words> different;
    for (int d = 0; d < kDevices; ++d) {
      ASSERT_EQ(seen[d].size(), 6u);  // three steps an epoch
      for (std::size_t step = 0; step < seen[d].size(); ++step) {
        RandomStream stream(options.seed, static_cast<std::uint32_t>(d), step);
        Words expected{};
        for (std::uint32_t& word : expected) word = stream.next();
        EXPECT_EQ(seen[d][step], expected) << "device " << d << ", step " << step;
        different.insert(seen[d][step]);
      }
    }
    EXPECT_EQ(different.size(), 18u);
    sim.finish();
  });
}

TEST(TrainSimulationTest, AllReduceStartsBeforeItsGradEnds) {
  Simulation sim(5);
  SimulatedTraining training(sim, 2, 8);
  TrainingOptions options = training.options(160, 1);
  options.bucket_bytes = 1;  // each array is a bucket
  const auto report = sim.run(start(training, options));
  ASSERT_TRUE(report) << report.error().to_string();

  TimePoint grad_end{};
  TimePoint first_reduce = TimePoint::max();
  for (const auto& event : training.client_.events()) {
    if (event.kind == devices::sim::SimEvent::Kind::kLaunchEnd && event.name == "grad") {
      grad_end = event.at;
      break;
    }
  }
  for (const TraceEvent& event : training.trace_.events()) {
    if (training.trace_.name_text(event.name) == "all_reduce")
      first_reduce = std::min(first_reduce, event.begin);
  }
  EXPECT_LT(first_reduce, grad_end);
  sim.finish();
}

TEST(TrainSimulationTest, SameSeedGivesTheSameBits) {
  std::vector<double> losses[2];
  for (auto& run : losses) {
    Simulation sim(11);
    SimulatedTraining training(sim, 3, 8);
    TrainingOptions options = training.options(200, 2);
    options.shuffle = true;
    const auto report = sim.run(start(training, options));
    ASSERT_TRUE(report);
    run = report->losses;
    sim.finish();
  }
  EXPECT_EQ(losses[0], losses[1]);
}

}  // namespace
}  // namespace millrace::train::testing
