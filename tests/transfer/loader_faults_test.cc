// Random lives of a loader: any sizes and speeds, consumers that run, dawdle or leave, and faults
// anywhere. What must hold whatever happens is checked by each consumer and, at the end, by the
// simulation.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/transfer/loader_rig.h"

namespace millrace::transfer {
namespace {

using millrace::testing::for_each_seed;

enum class End { kNone, kComplete, kError, kStopped };

// Takes the batches of one device, one after the other, and checks each.
class Consumer {
 public:
  Consumer(Simulation& sim, const DeviceLoader& loader, int device, std::uint64_t epochs)
      : sim_(sim), loader_(loader), device_(device), epochs_(epochs) {}

  Duration pause{};
  End end = End::kNone;
  std::uint64_t batches = 0;
  std::optional<Error> error;

  void run() {
    static_cast<void>(loader_.next(device_).then(
        sim_.executor(),
        [this](const Result<std::optional<DeviceBatch>>& next) { on_next(next); }));
  }
  Future<void> done() const { return done_future_; }

 private:
  void on_next(const Result<std::optional<DeviceBatch>>& next) {
    if (!next) {
      const ErrorCode code = next.error().code();
      const bool stopped = code == ErrorCode::kUnavailable || code == ErrorCode::kCancelled;
      error = next.error();
      return finish(stopped && next.error().detail<LoadFailure>() == nullptr ? End::kStopped
                                                                             : End::kError);
    }
    if (!*next) {
      EXPECT_EQ(batches, ++epochs_met_ * loader_.plan().steps_per_epoch());
      return epochs_met_ == epochs_ ? finish(End::kComplete) : run();
    }
    check(**next);
    static_cast<void>(
        sleep_for(sim_.environment(), pause, {}).then(sim_.executor(), [this](Status) { run(); }));
  }
  void check(const DeviceBatch& batch) {
    EXPECT_EQ(batch.sequence, batches++);
    EXPECT_EQ(batch.epoch, epochs_met_);
    const Shard shard = loader_.plan().shard(batch.epoch, batch.step, device_);
    EXPECT_EQ(batch.rows, shard.rows);
    EXPECT_EQ(batch.valid, shard.valid);
    const auto access = batch.arrays[0].host_access();
    ASSERT_TRUE(access.has_value());
    const BatchPlan::Epoch order = loader_.plan().epoch(batch.epoch);
    for (std::int64_t row = 0; row < shard.rows; ++row) {
      std::uint64_t item = 0;
      std::memcpy(&item, access->bytes.data() + row * 8, 8);
      EXPECT_EQ(item, order.item(shard.first + static_cast<std::uint64_t>(row)));
    }
  }
  void finish(End how) {
    end = how;
    done_.set_value();
  }

  Simulation& sim_;
  const DeviceLoader& loader_;
  const int device_;
  const std::uint64_t epochs_;
  std::uint64_t epochs_met_ = 0;
  Promise<void> done_;
  const Future<void> done_future_ = done_.future();
};

struct Life {
  LoaderOptions options;
  SimOptions device;
  int devices;
  std::uint64_t items;
  bool stage_fails, put_fails, device_stalls, stops;
  bool clean() const { return !(stage_fails || put_fails || device_stalls || stops); }
};

Life random_life(Simulation& sim) {
  Life life;
  life.devices = 1 + static_cast<int>(sim.below(4));
  life.items = 8 + sim.below(150);
  life.options = {.batch_size = life.devices * (1 + static_cast<std::int64_t>(sim.below(2))),
                  .remainder = static_cast<Remainder>(sim.below(3)),
                  .shuffle = sim.chance(0.5),
                  .seed = sim.seed(),
                  .epochs = 1 + sim.below(3),
                  .prefetch_across_epochs = sim.chance(0.7),
                  .reads_in_flight = 1 + static_cast<int>(sim.below(5)),
                  .decodes_in_flight = 1 + static_cast<int>(sim.below(3)),
                  .host_bytes_per_device = (1 + sim.below(4)) * 4096 + 64,
                  .device_bytes_per_device = 16 * (1 + sim.below(4)),
                  .zero_copy = sim.chance(0.5),
                  .close_grace = milliseconds(sim.below(50))};
  life.device = {.transfer_latency = milliseconds(sim.below(4)),
                 .zero_copy = sim.chance(0.5),
                 .host_access = true};
  life.stage_fails = sim.chance(0.25);
  life.put_fails = sim.chance(0.2);
  life.device_stalls = sim.chance(0.2);
  life.stops = sim.chance(0.3);
  return life;
}

void script(Simulation& sim, LoaderRig& rig, const Life& life) {
  const std::uint64_t salt = sim.seed();
  rig.source->read_time = [salt](const SourceBatch& b) {
    return milliseconds((b.step * 7 + salt) % 5);
  };
  rig.source->decode_time = [salt](const SourceBatch& b) {
    return milliseconds((b.step * 3 + salt) % 4);
  };
  if (life.stage_fails) {
    const std::uint64_t item = sim.below(life.items);
    (sim.chance(0.5) ? rig.source->on_read : rig.source->on_decode) =
        [item](const SourceBatch& batch, std::stop_token) -> Future<void> {
      if (std::find(batch.items.begin(), batch.items.end(), item) == batch.items.end()) return {};
      if (item % 2 == 0) throw std::runtime_error("thrown by the source");
      return Error(ErrorCode::kDataLoss, "item " + std::to_string(item) + " is corrupt")
          .with_detail(FailedItem{item});
    };
  }
  const auto device = static_cast<DeviceId>(sim.below(static_cast<std::uint64_t>(life.devices)));
  if (life.put_fails)
    rig.client->fail_put(device, 1 + sim.below(20), Error(ErrorCode::kInternal, "bus error"));
  if (life.device_stalls)
    rig.client->stall(device, sim.now() + milliseconds(sim.below(60)), milliseconds(200));
}

TEST(LoaderFaultsTest, EveryLifeEndsWithNothingLeftAndNothingOutOfPlace) {
  int lives = 0;
  int complete = 0;
  int failed = 0;
  int stopped = 0;
  for_each_seed(200, [&](Simulation& sim) {
    ++lives;
    const Life life = random_life(sim);
    LoaderRig rig(sim, life.devices, life.items, life.device);
    script(sim, rig, life);
    const DeviceLoader loader = rig.make(life.options);
    std::vector<std::unique_ptr<Consumer>> consumers;
    for (int device = 0; device < life.devices; ++device) {
      consumers.push_back(std::make_unique<Consumer>(sim, loader, device, life.options.epochs));
      consumers.back()->pause = milliseconds(sim.below(5));
      consumers.back()->run();
    }
    if (life.stops) {
      sim.run_for(milliseconds(sim.below(150)));
      const Result<void> closed = sim.run(loader.close());
      EXPECT_TRUE(closed || closed.error().code() == ErrorCode::kDeadlineExceeded);
    }
    for (const auto& consumer : consumers) {
      ASSERT_TRUE(sim.run(consumer->done()).has_value());
      complete += consumer->end == End::kComplete;
      failed += consumer->end == End::kError;
      stopped += consumer->end == End::kStopped;
      EXPECT_TRUE(consumer->end == End::kComplete || !life.clean());
      EXPECT_TRUE(consumer->end != End::kError ||
                  consumer->error->detail<LoadFailure>() != nullptr);
    }
    const LoaderStats stats = loader.stats();
    for (const DeviceQueueStats& queue : stats.devices) {
      EXPECT_LE(queue.use.peak_host_bytes, life.options.host_bytes_per_device);
      EXPECT_LE(queue.use.peak_device_bytes, life.options.device_bytes_per_device);
    }
    const Result<void> closed = sim.run(loader.close());
    EXPECT_TRUE(closed.has_value() || !life.clean());
    sim.run_for(milliseconds(500));  // the stage that was given up ends, too
  });
  // The lives must have been of every kind, or this test would prove little.
  if (lives < 200) return;  // the replay of one
  EXPECT_GT(complete, 100);
  EXPECT_GT(failed, 30);
  EXPECT_GT(stopped, 30);
}

}  // namespace
}  // namespace millrace::transfer
