// The whole training on real threads, CPU devices and the real model, shortened and repeated: it
// ends with its report every time, whatever the number of devices and of steps in flight.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <string>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/tools/api/runtime.h"
#include "millrace/tools/train/recovery.h"
#include "millrace/transfer/fake_source.h"
#include "tests/support/paths.h"

namespace millrace::train {
namespace {

constexpr std::int64_t kRows = 64;  // of each device's shard, as the committed program has them

int count_of_runs() {
#if defined(MILLRACE_SANITIZED)
  return 4;
#else
  return 100;
#endif
}

struct Shortened {
  int devices = 1;
  int threads = 2;
  std::uint64_t steps = 2;
  int steps_in_flight = 1;
  bool several_epochs = false;

  // Every combination of the first few comes up within a dozen runs.
  explicit Shortened(int run)
      : devices(1 + run % 3),
        threads(1 + run % 4),
        steps(2 + static_cast<std::uint64_t>(run / 2 % 2)),
        steps_in_flight(1 + run / 3 % 4),
        several_epochs(run % 5 == 0) {}
  std::string to_string() const {
    return std::to_string(devices) + " devices, " + std::to_string(threads) + " threads, " +
           std::to_string(steps) + " steps, " + std::to_string(steps_in_flight) + " in flight" +
           (several_epochs ? ", an epoch per step" : "");
  }
};

TrainingOptions options_of(const Shortened& run) {
  const auto batch = static_cast<std::uint64_t>(kRows * run.devices);
  TrainingOptions options;
  options.model = millrace::testing::source_folder() + "/tools/models/mnist";
  options.batch_size = static_cast<std::int64_t>(batch);
  options.train_data = std::make_shared<transfer::FakeSource>(
      transfer::FakeSourceOptions{.items = run.several_epochs ? batch : 4 * batch});
  options.epochs = run.several_epochs ? run.steps : 1;
  options.max_steps = run.steps;
  options.steps_in_flight = run.steps_in_flight;
  options.call.deadline = steady_clock().now() + std::chrono::minutes(10);
  return options;
}

// Everything is made for the run and closed after it.
Result<TrainingReport> train_once(const Shortened& run) {
  RuntimeOptions options;
  options.device = "CPU";
  options.devices = run.devices;
  options.threads = run.threads;
  options.trace = true;
  auto runtime = Runtime::create(options);
  if (!runtime) return std::unexpected(runtime.error());
  TrainingParts parts;
  parts.environment = runtime->environment();
  parts.system = &runtime->actors();
  parts.devices.assign(runtime->devices().begin(), runtime->devices().end());
  parts.compile = [&runtime](devices::Program program, devices::CompileOptions compile) {
    return runtime->compile(std::move(program), std::move(compile));
  };
  parts.trace = runtime->trace();
  Result<TrainingReport> report =
      wait_blocking(spawn(runtime->compute(), train(std::move(parts), options_of(run), nullptr)));
  EXPECT_TRUE(wait_blocking(runtime->close()));
  return report;
}

TEST(TrainStressTest, ShortenedTrainingEndsWithItsReportEveryTime) {
  const int runs = count_of_runs();
  for (int i = 0; i < runs; ++i) {
    const Shortened run(i);
    SCOPED_TRACE("run " + std::to_string(i) + ": " + run.to_string());
    const Result<TrainingReport> report = train_once(run);
    ASSERT_TRUE(report) << report.error().to_string();
    ASSERT_EQ(report->steps, run.steps);
    ASSERT_EQ(report->losses.size(), run.steps);
    for (const double loss : report->losses) ASSERT_TRUE(std::isfinite(loss) && loss > 0) << loss;
  }
}

}  // namespace
}  // namespace millrace::train
