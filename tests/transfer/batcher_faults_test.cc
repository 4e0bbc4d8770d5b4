// Random lives of a batcher: clients that come, go and hurry, several models, new versions, devices
// that fail, stall or run slowly, launches and puts that fail, and a close at any moment. What must
// hold whatever happens: every request ends once, rows are those of its own request, and nothing is
// left over.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/transfer/batch_rig.h"

namespace millrace::transfer {
namespace {

using devices::DeviceId;
using millrace::testing::for_each_seed;

// What a life has seen, over all seeds.
struct Seen {
  int lives = 0;
  int rows = 0;
  int refused = 0;
  int cancelled = 0;
  int late = 0;
  int unavailable = 0;
  int failed = 0;
  int replaced = 0;
};

struct Asked {
  float value;
  std::int64_t rows;
  Future<RowOutputs> answer;
};

void check_end(const Asked& asked, Seen& seen) {
  const Result<RowOutputs>& result = asked.answer.result();
  if (result) {
    ++seen.rows;
    const std::vector<float> column = first_column(*result);
    ASSERT_EQ(column.size(), static_cast<std::size_t>(asked.rows));
    for (std::size_t r = 0; r < column.size(); ++r) {
      const float x = asked.value + static_cast<float>(r);
      EXPECT_TRUE(column[r] == 2 * x || column[r] == 5 * x) << column[r] << " of " << x;
    }
    return;
  }
  switch (result.error().code()) {
    case ErrorCode::kResourceExhausted:
      ++seen.refused;
      break;
    case ErrorCode::kCancelled:
      ++seen.cancelled;
      break;
    case ErrorCode::kDeadlineExceeded:
      ++seen.late;
      break;
    case ErrorCode::kUnavailable:
      ++seen.unavailable;
      break;
    case ErrorCode::kInternal:
      ++seen.failed;
      break;
    default:
      ADD_FAILURE() << result.error().to_string();
  }
}

void script_faults(Simulation& sim, BatchRig& rig, int devices) {
  auto& client = rig.devices->client();
  const auto device = [&] {
    return static_cast<DeviceId>(sim.below(static_cast<std::uint64_t>(devices)));
  };
  const auto soon = [&] { return sim.now() + milliseconds(sim.below(40)); };
  if (sim.chance(0.3)) client.fail_device(device(), soon(), "burnt");
  if (sim.chance(0.2)) client.fail_device(device(), soon(), "drowned");
  if (sim.chance(0.3))
    client.fail_launch(device(), 1 + sim.below(10), Error(ErrorCode::kInternal, "bad launch"));
  if (sim.chance(0.3))
    client.fail_put(device(), 4 + sim.below(10), Error(ErrorCode::kInternal, "bus error"));
  if (sim.chance(0.3)) client.stall(device(), soon(), milliseconds(20));
  if (sim.chance(0.3)) client.slow(device(), soon(), 5);
}

TEST(BatcherFaultsTest, EveryRequestEndsOnceWithItsOwnRowsOrAReason) {  // BA-1, BA-2
  Seen seen;
  for_each_seed(500, [&](Simulation& sim) {
    ++seen.lives;
    const int devices = 1 + static_cast<int>(sim.below(3));
    BatchRig rig(sim, devices, {.transfer_latency = std::chrono::microseconds(sim.below(500))});
    rig.start({.batches_per_device = 1 + static_cast<int>(sim.below(3))});
    const BatchQueueOptions queue{.most_delay = milliseconds(sim.below(4)),
                                  .weight = 1 + static_cast<double>(sim.below(3)),
                                  .most_requests = 1 + sim.below(40),
                                  .most_bytes = 12 * (16 + sim.below(200))};
    ASSERT_TRUE(rig.batcher->add(rig.model("a"), queue));
    ASSERT_TRUE(rig.batcher->add(rig.model("b"), queue));
    const auto next_version = rig.model("a", 5);
    script_faults(sim, rig, devices);
    std::vector<std::stop_source> clients(3);
    std::vector<Asked> asked;
    Future<void> replaced;
    Future<void> closed;
    const std::uint64_t count = 20 + sim.below(60);
    const bool closes = sim.chance(0.3);
    for (std::uint64_t i = 0; i < count; ++i) {
      RequestOptions options;
      options.priority = static_cast<int>(sim.below(3));
      options.call.stop = clients[sim.below(3)].get_token();
      if (sim.chance(0.3)) options.call.deadline = sim.now() + milliseconds(1 + sim.below(12));
      const auto value = static_cast<float>(1 + sim.below(1000));
      const auto rows = static_cast<std::int64_t>(1 + sim.below(6));
      asked.push_back({value, rows, rig.run(value, rows, options, sim.chance(0.5) ? "a" : "b")});
      if (sim.chance(0.4)) sim.run_for(std::chrono::microseconds(sim.below(2000)));
      if (sim.chance(0.02)) clients[sim.below(3)].request_stop();
      if (i == count / 2 && sim.chance(0.5)) replaced = rig.batcher->replace(next_version);
      if (closes && i + 5 == count)
        closed = rig.batcher->close(sim.now() + milliseconds(sim.below(10)));
    }
    for (const Asked& one : asked) {
      ASSERT_TRUE(sim.run_until_complete(*one.answer.cell()));
      check_end(one, seen);
    }
    if (replaced.valid()) {
      const Status ended = sim.run(replaced);
      seen.replaced += ended.has_value();
      EXPECT_TRUE(ended || closed.valid()) << ended.error().to_string();
    }
    asked.clear();
    sim.run_until_idle();
    const auto a = rig.batcher->stats("a").value();
    const auto b = rig.batcher->stats("b").value();
    EXPECT_EQ(a.queued + b.queued, 0U);
    EXPECT_EQ(a.queued_bytes + b.queued_bytes, 0U);
    EXPECT_TRUE(sim.run(rig.batcher->close()));
    if (closed.valid()) {
      EXPECT_TRUE(sim.run(closed));
    }
  });
  // The lives must have been of every kind, or this test would prove little.
  if (seen.lives < 500) return;  // the replay of one
  EXPECT_GT(seen.rows, 5000);
  EXPECT_GT(seen.refused, 100);
  EXPECT_GT(seen.cancelled, 100);
  EXPECT_GT(seen.late, 100);
  EXPECT_GT(seen.unavailable, 100);
  EXPECT_GT(seen.failed, 50);
  EXPECT_GT(seen.replaced, 50);
}

}  // namespace
}  // namespace millrace::transfer
