// A training step takes the slower of loading and execution, not their sum: exactly, on virtual
// time.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "millrace/core/async/combinators.h"
#include "tests/transfer/loader_rig.h"

namespace millrace::transfer {
namespace {

using devices::DType;
using devices::Executable;
using devices::Shape;
using millrace::testing::for_each_seed;

struct Times {
  int read, decode, transfer, execute;  // milliseconds per batch and device
};

Executable compile_step(LoaderRig& rig, const Times& times, std::int64_t rows) {
  rig.client->add_program({.name = "step",
                           .inputs = {Shape(DType::kU64, {rows})},
                           .outputs = {Shape(DType::kF32, {})},
                           .duration = milliseconds(times.execute)});
  const auto compiled = rig.client->compile(devices::Program::from_text("sim:step"), {});
  EXPECT_TRUE(compiled.has_value()) << (compiled ? "" : compiled.error().to_string());
  return compiled.value();
}

// Runs an epoch, each step waiting for the one before on every device; returns when each step had
// ended.
std::vector<TimePoint> run_epoch(Simulation& sim, const LoaderRig& rig, const DeviceLoader& loader,
                                 const Executable& step) {
  std::vector<TimePoint> ends;
  for (;;) {
    std::vector<Future<void>> written;
    for (int d = 0; d < static_cast<int>(rig.devices.size()); ++d) {
      const auto batch = rig.next(loader, d);
      if (!batch.has_value() || !batch->has_value()) return ends;
      const auto outputs =
          sim.run(rig.devices[static_cast<std::size_t>(d)].execute(step, (*batch)->arrays));
      written.push_back(outputs.value()[0].ready());
    }
    EXPECT_TRUE(sim.run(when_all(written)).has_value());
    ends.push_back(sim.now());
  }
}

void expect_overlap(Simulation& sim, int devices, const Times& times, int concurrency) {
  constexpr std::int64_t kRows = 4;
  constexpr std::size_t kSteps = 30;
  const double batch_bytes = kRows * 8;
  LoaderRig rig(
      sim, devices, kSteps * kRows * devices,
      {.transfer_bytes_per_second = times.transfer > 0 ? batch_bytes * 1000 / times.transfer : 0});
  rig.source->read_time = [&](const SourceBatch&) { return milliseconds(times.read); };
  rig.source->decode_time = [&](const SourceBatch&) { return milliseconds(times.decode); };
  const Executable step = compile_step(rig, times, kRows);
  const DeviceLoader loader = rig.make({.batch_size = kRows * devices,
                                        .reads_in_flight = devices * concurrency,
                                        .decodes_in_flight = devices,
                                        .host_bytes_per_device = 12 * 4096,
                                        .device_bytes_per_device = 3 * 32});
  const std::vector<TimePoint> ends = run_epoch(sim, rig, loader, step);
  ASSERT_EQ(ends.size(), kSteps);
  const int first = times.read + times.decode + times.transfer + times.execute;
  const int slowest =
      std::max({times.read / concurrency, times.decode, times.transfer, times.execute});
  constexpr std::size_t kFrom = 15;
  constexpr std::size_t kWindow = 12;
  if (concurrency == 1) {
    EXPECT_EQ(ends.front(), TimePoint(milliseconds(first)));
    for (std::size_t i = kFrom; i < kFrom + kWindow; ++i) {
      EXPECT_EQ(ends[i + 1] - ends[i], milliseconds(slowest)) << "step " << i;
    }
  } else {
    // Batches that were read at the same time come together and then queue: steps are even only on
    // average.
    const Duration taken = ends[kFrom + kWindow] - ends[kFrom];
    EXPECT_LE(std::chrono::abs(taken - milliseconds(slowest * static_cast<int>(kWindow))),
              milliseconds(2));
  }
  EXPECT_TRUE(sim.run(loader.close()).has_value());
}

TEST(OverlapTest, AStepTakesItsSlowestStage) {
  const Times cases[] = {{7, 2, 1, 3},  {3, 8, 1, 4}, {2, 1, 9, 4},
                         {4, 3, 2, 11}, {5, 5, 5, 5}, {1, 1, 0, 6}};
  for (const Times& times : cases) {
    for (const int devices : {1, 2, 4}) {
      SCOPED_TRACE("read " + std::to_string(times.read) + " decode " +
                   std::to_string(times.decode) + " transfer " + std::to_string(times.transfer) +
                   " execute " + std::to_string(times.execute) + " devices " +
                   std::to_string(devices));
      for_each_seed(5, [&](Simulation& sim) { expect_overlap(sim, devices, times, 1); });
    }
  }
}

TEST(OverlapTest, ReadsAtTheSameTimeHideASlowRead) {
  for (const int concurrency : {2, 3, 4}) {
    for_each_seed(5, [&](Simulation& sim) { expect_overlap(sim, 1, {12, 1, 1, 2}, concurrency); });
  }
}

}  // namespace
}  // namespace millrace::transfer
