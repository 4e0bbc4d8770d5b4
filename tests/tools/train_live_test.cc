// The training on the real CPU devices with the demo's programs: threads, clocks and kernels as
// users have them, because what it shows (overlap in real time, equal bits with real threads) the
// simulation cannot.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "millrace/core/blocking.h"
#include "millrace/core/coroutine.h"
#include "millrace/tools/api/runtime.h"
#include "millrace/tools/train/training.h"
#include "millrace/transfer/fake_source.h"
#include "tests/support/paths.h"

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
  o.model = testing::source_folder() + "/tools/models/mnist";
  o.train_data =
      std::make_shared<transfer::FakeSource>(transfer::FakeSourceOptions{.items = 1280, .seed = 5});
  o.batch_size = 128;
  o.epochs = 100;
  o.max_steps = steps;
  o.deterministic = true;
  return o;
}

Result<TrainingReport> run(const Runtime& runtime, TrainingOptions o) {
  TrainingParts parts;
  parts.environment = runtime.environment();
  parts.system = &runtime.actors();
  parts.devices.assign(runtime.devices().begin(), runtime.devices().end());
  parts.compile = [&runtime](devices::Program program, const devices::CompileOptions& compile) {
    return runtime.compile(std::move(program), compile);
  };
  parts.trace = runtime.trace();
  return wait_blocking(spawn(runtime.compute(), train(parts, std::move(o), nullptr)));
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
  const Runtime runtime = open(2);
  TrainingOptions o = options(100);
  o.steps_in_flight = 1;
  const auto report = run(runtime, o);
  ASSERT_TRUE(report) << report.error().to_string();

  const auto events = runtime.trace()->events();
  std::size_t early = 0;
  for (const TraceEvent& grad : events) {
    if (!runtime.trace()->name_text(grad.name).contains("grad")) continue;
    early += static_cast<std::size_t>(std::ranges::count_if(events, [&](const TraceEvent& e) {
      return runtime.trace()->name_text(e.name) == "all_reduce" && e.begin > grad.begin &&
             e.begin < grad.end;
    }));
  }
  EXPECT_GT(early, 0u);
}

}  // namespace
}  // namespace millrace::train
