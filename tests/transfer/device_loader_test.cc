// What the loader promises, on virtual time. Letters name the defects of other loaders that a test
// rules out.
#include "millrace/transfer/device_loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "millrace/transfer/formats/byte_source.h"
#include "tests/transfer/loader_rig.h"

namespace millrace::transfer {
namespace {

using millrace::testing::for_each_seed;

constexpr std::uint64_t kSeeds = 20;
constexpr std::size_t kPage = 4096;  // the smallest staging block

std::vector<std::uint64_t> iota(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> items(count);
  std::iota(items.begin(), items.end(), first);
  return items;
}

Duration random_time(const SourceBatch& batch, std::uint64_t salt) {
  return milliseconds((batch.items.front() * 2654435761u + salt) % 7);
}

TEST(DeviceLoaderTest, EveryItemArrivesOnItsDeviceInOrder) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    LoaderRig rig(sim, 2, 24);
    const DeviceLoader loader = rig.make({.batch_size = 8});
    EXPECT_EQ(rig.epoch(loader, 0),
              (std::vector<std::uint64_t>{0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19}));
    EXPECT_EQ(rig.epoch(loader, 1),
              (std::vector<std::uint64_t>{4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23}));
    EXPECT_TRUE(sim.run(loader.close()).has_value());
  });
}

// A: the first batch waits for no other batch.
TEST(DeviceLoaderTest, TheFirstBatchIsNotDelayedByThePrefetchDepth) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    LoaderRig rig(sim, 1, 64, {.transfer_latency = milliseconds(5)});
    rig.source->read_time = [](const SourceBatch&) { return milliseconds(100); };
    rig.source->decode_time = [](const SourceBatch&) { return milliseconds(20); };
    const DeviceLoader loader = rig.make({.batch_size = 4,
                                          .reads_in_flight = 1,
                                          .host_bytes_per_device = 8 * kPage,
                                          .device_bytes_per_device = 8 * 32});
    ASSERT_TRUE(rig.next(loader).value().has_value());
    EXPECT_EQ(sim.now(), TimePoint(milliseconds(125)));
    EXPECT_TRUE(sim.run(loader.close()).has_value());
  });
}

// B: an exception of the source is not the end of the data.
TEST(DeviceLoaderTest, AThrowingStageIsReportedInPlaceAfterTheGoodBatches) {
  for (const LoadStage stage : {LoadStage::kRead, LoadStage::kDecode}) {
    for_each_seed(kSeeds, [stage](Simulation& sim) {
      LoaderRig rig(sim, 1, 40);
      const ScriptedSource::Script script = [](const SourceBatch& batch, std::stop_token) {
        if (batch.step == 5) throw std::runtime_error("no such shard");
        return Future<void>();
      };
      (stage == LoadStage::kRead ? rig.source->on_read : rig.source->on_decode) = script;
      rig.source->read_time = [](const SourceBatch& batch) {
        return milliseconds(10 - batch.step);
      };
      const DeviceLoader loader = rig.make({.batch_size = 2});
      for (std::uint64_t step = 0; step < 5; ++step) {
        EXPECT_EQ(rig.items(*rig.next(loader).value()), iota(2 * step, 2));
      }
      for (int again = 0; again < 2; ++again) {
        const auto failed = rig.next(loader);
        ASSERT_FALSE(failed.has_value());
        EXPECT_EQ(failed.error().code(), ErrorCode::kInternal);
        EXPECT_NE(failed.error().message().find("no such shard"), std::string::npos);
        const LoadFailure* failure = failed.error().detail<LoadFailure>();
        ASSERT_NE(failure, nullptr);
        EXPECT_EQ(failure->stage, stage);
        EXPECT_EQ(failure->step, 5u);
        EXPECT_EQ(failure->item, std::nullopt) << "the source has not said which";
      }
      EXPECT_TRUE(sim.run(loader.close()).has_value());
    });
  }
}

TEST(DeviceLoaderTest, AThrowingSourceIsReportedWithTheItemThatItWasWorkingOn) {
  Simulation sim(1);
  LoaderRig rig(sim, 1, 40);
  rig.source->on_read = [](SourceBatch& batch, std::stop_token) {
    for (const std::uint64_t item : batch.items) {
      batch.working_on = item;
      if (item == 13) throw std::runtime_error("cannot decode");
    }
    return Future<void>();
  };
  const DeviceLoader loader = rig.make({.batch_size = 8});
  EXPECT_EQ(rig.items(*rig.next(loader).value()), iota(0, 8));
  const auto failed = rig.next(loader);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::kInternal);
  EXPECT_EQ(failed.error().detail<LoadFailure>()->item, 13u);
  EXPECT_NE(failed.error().message().find("item 13"), std::string::npos);
  EXPECT_TRUE(sim.run(loader.close()).has_value());
}

TEST(DeviceLoaderTest, WhatIsNoLoaderIsRefused) {
  Simulation sim(1);
  LoaderRig rig(sim, 2, 40);
  const auto refused = [](const auto& result, const std::string& words) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(result.error().message().find(words), std::string::npos) << result.error().message();
  };
  const LoaderOptions options{.batch_size = 8};
  refused(DeviceLoader::create(sim.environment(), nullptr, {rig.devices[0]}, options),
          "source is a null pointer");
  refused(DeviceLoader::create(sim.environment(), rig.source, {rig.devices[0], {}}, options),
          "device 1 is an empty Device");
  DeviceLoader loader = rig.make(options);
  refused(sim.run(loader.next(5)), "next(5) was asked of a loader for 2 devices");
  refused(sim.run(loader.next(-1)), "next(-1)");
  EXPECT_EQ(rig.items(*rig.next(loader).value()), iota(0, 4));
  sim.run_until_idle();
  // Its next batch is there, and a call that comes too late takes none.
  const auto late = sim.run(loader.next(0, {.deadline = sim.now()}));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), ErrorCode::kDeadlineExceeded);
  std::stop_source stopped;
  stopped.request_stop();
  const auto stop = sim.run(loader.next(0, {.stop = stopped.get_token()}));
  ASSERT_FALSE(stop);
  EXPECT_EQ(stop.error().code(), ErrorCode::kCancelled);
  EXPECT_EQ(rig.items(*rig.next(loader).value()), iota(8, 4));
  const DeviceLoader moved = std::move(loader);
  refused(sim.run(loader.next(0)), "moved from");  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(sim.run(loader.close()));
  EXPECT_TRUE(sim.run(moved.close()));
}

TEST(DeviceLoaderTest, AFailureNamesTheItemAndKeepsTheDetailsOfItsCause) {
  Simulation sim(1);
  LoaderRig rig(sim, 2, 40);
  rig.source->on_read = [](const SourceBatch& batch, std::stop_token) {
    if (batch.items.back() < 13) return Future<void>();
    return Future<void>(file_error(ErrorCode::kDataLoss, {"a.idx", 4711, false}, "truncated")
                            .with_detail(FailedItem{13}));
  };
  const DeviceLoader loader = rig.make({.batch_size = 8});
  // Items 12 to 15 are device 1's second batch. Device 0 has its own second one before that, and
  // then the same.
  EXPECT_EQ(rig.items(*rig.next(loader, 1).value()), iota(4, 4));
  EXPECT_EQ(rig.items(*rig.next(loader, 0).value()), iota(0, 4));
  EXPECT_EQ(rig.items(*rig.next(loader, 0).value()), iota(8, 4));
  for (int device : {0, 1}) {
    const auto failed = rig.next(loader, device);
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().code(), ErrorCode::kDataLoss);
    EXPECT_EQ(failed.error().detail<LoadFailure>()->item, 13u);
    EXPECT_EQ(failed.error().detail<LoadFailure>()->device, 1);
    EXPECT_EQ(failed.error().detail<FilePosition>()->file, "a.idx");
    EXPECT_EQ(failed.error().detail<FilePosition>()->offset, 4711u);
    EXPECT_NE(failed.error().message().find("item 13"), std::string::npos);
  }
  EXPECT_TRUE(sim.run(loader.close()).has_value());
}

// C: the order does not depend on how many batches are on the way, nor on how long each takes.
TEST(DeviceLoaderTest, OrderIsKeptWithManyStagesInFlight) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    LoaderRig rig(sim, 3, 120, {.transfer_latency = milliseconds(1)});
    rig.source->read_time = [](const SourceBatch& batch) { return random_time(batch, 1); };
    rig.source->decode_time = [](const SourceBatch& batch) { return random_time(batch, 5); };
    const DeviceLoader loader = rig.make({.batch_size = 6,
                                          .shuffle = true,
                                          .seed = 3,
                                          .reads_in_flight = 1 + static_cast<int>(sim.below(8)),
                                          .decodes_in_flight = 1 + static_cast<int>(sim.below(8)),
                                          .host_bytes_per_device = 8 * kPage,
                                          .device_bytes_per_device = 4 * 16});
    const BatchPlan::Epoch order = loader.plan().epoch(0);
    for (int device = 0; device < 3; ++device) {
      std::vector<std::uint64_t> expected;
      for (std::uint64_t step = 0; step < loader.plan().steps_per_epoch(); ++step) {
        const Shard shard = loader.plan().shard(0, step, device);
        for (std::int64_t row = 0; row < shard.rows; ++row)
          expected.push_back(order.item(shard.first + row));
      }
      EXPECT_EQ(rig.epoch(loader, device), expected);
    }
    EXPECT_TRUE(sim.run(loader.close()).has_value());
  });
}

// D: a loader dropped in the middle leaves nothing behind; the rig and the simulation check it.
TEST(DeviceLoaderTest, ALoaderDroppedAnywhereLeavesNothingBehind) {
  for_each_seed(200, [](Simulation& sim) {
    LoaderRig rig(sim, 2, 64, {.transfer_latency = milliseconds(2)});
    rig.source->read_time = [](const SourceBatch& batch) { return random_time(batch, 2); };
    rig.source->decode_time = [](const SourceBatch& batch) { return random_time(batch, 9); };
    Future<std::optional<DeviceBatch>> waiting;
    {
      const DeviceLoader loader = rig.make({.batch_size = 8, .epochs = 0});
      for (std::uint64_t i = sim.below(4); i > 0; --i) EXPECT_TRUE(rig.next(loader).has_value());
      sim.run_for(milliseconds(sim.below(30)));
      waiting = loader.next(1);
    }
    const auto last = sim.run(waiting);
    EXPECT_TRUE(last.has_value() || last.error().code() == ErrorCode::kCancelled);
    // The grace timer is the last to know.
    sim.run_for(milliseconds(1000));
  });
}

// E: a read that never ends does not hold up the end.
TEST(DeviceLoaderTest, CloseAbandonsAStuckReadAndNamesIt) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    LoaderRig rig(sim, 1, 64);
    Promise<void> stuck;
    rig.source->on_read = [&](const SourceBatch& batch, std::stop_token) {
      return batch.step == 2 ? stuck.future() : Future<void>();
    };
    {
      const DeviceLoader loader = rig.make({.batch_size = 4, .close_grace = milliseconds(300)});
      EXPECT_TRUE(rig.next(loader).has_value());
      EXPECT_TRUE(rig.next(loader).has_value());
      const auto pending = loader.next(0);
      sim.run_for(milliseconds(5));
      ASSERT_EQ(loader.in_flight().size(), 1u);
      EXPECT_EQ(loader.in_flight()[0].step, 2u);
      const TimePoint begun = sim.now();
      const Result<void> closed = sim.run(loader.close());
      EXPECT_EQ(sim.now() - begun, milliseconds(300));
      ASSERT_FALSE(closed.has_value());
      EXPECT_EQ(closed.error().code(), ErrorCode::kDeadlineExceeded);
      const StagesGivenUp* given_up = closed.error().detail<StagesGivenUp>();
      ASSERT_NE(given_up, nullptr);
      ASSERT_EQ(given_up->stages.size(), 1u);
      EXPECT_EQ(given_up->stages[0].stage, LoadStage::kRead);
      EXPECT_EQ(given_up->stages[0].first_item, 8u);
      EXPECT_EQ(sim.run(pending).error().code(), ErrorCode::kCancelled);
      EXPECT_EQ(rig.next(loader).error().code(), ErrorCode::kUnavailable);
    }
    stuck.set_value();  // it ends at last, after the loader: nothing is touched that is gone
  });
}

TEST(DeviceLoaderTest, ARuntimeThatClosesLeavesCloseItsGrace) {
  Simulation sim(1);
  LoaderRig rig(sim, 1, 64);
  Promise<void> slow;
  rig.source->on_read = [&](const SourceBatch&, std::stop_token) { return slow.future(); };
  const DeviceLoader loader = rig.make({.batch_size = 4, .close_grace = milliseconds(300)});
  sim.run_for(milliseconds(1));
  const Future<void> closed = loader.close();
  sim.timers().drop_waits();
  sim.run_for(milliseconds(200));
  EXPECT_FALSE(closed.ready());
  slow.set_value();
  EXPECT_TRUE(sim.run(closed).has_value());
}

class ClosedExecutor final : public Executor {
 public:
  void submit(Work* work) noexcept override { work->drop(); }
};

TEST(DeviceLoaderTest, WhereAnExecutorHasClosedNextFails) {
  for (const bool blocking : {false, true}) {
    Simulation sim(1);
    LoaderRig rig(sim, 1, 64);
    ClosedExecutor closed;
    Environment environment = sim.environment();
    (blocking ? environment.blocking : environment.compute) = &closed;
    const DeviceLoader loader =
        DeviceLoader::create(environment, rig.source, rig.devices, {.batch_size = 4}).value();
    const Future<std::optional<DeviceBatch>> next = loader.next(0);
    sim.run_for(milliseconds(100));
    ASSERT_TRUE(next.ready()) << blocking;
    EXPECT_EQ(next.result().error().code(), ErrorCode::kAborted);
    EXPECT_TRUE(sim.run(loader.close()).has_value());
  }
}

TEST(DeviceLoaderTest, CloseWaitsNoLongerThanTheRunningStagesNeed) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    LoaderRig rig(sim, 1, 64);
    rig.source->on_read = [&](const SourceBatch&, std::stop_token) {  // deaf to stop
      return sleep_for(sim.environment(), milliseconds(40), {});
    };
    const DeviceLoader loader = rig.make({.batch_size = 4});
    sim.run_for(milliseconds(10));
    EXPECT_TRUE(sim.run(loader.close()).has_value());
    EXPECT_EQ(sim.now(), TimePoint(milliseconds(40)));
  });
}

// F: the tail goes where the policy says, and nowhere else.
TEST(DeviceLoaderTest, TheTailOfTheDataFollowsTheRemainderPolicy) {
  for (const Remainder remainder : {Remainder::kDrop, Remainder::kPad, Remainder::kUneven}) {
    for_each_seed(5, [remainder](Simulation& sim) {
      LoaderRig rig(sim, 3, 10);
      const DeviceLoader loader = rig.make({.batch_size = 3, .remainder = remainder});
      std::multiset<std::uint64_t> seen;
      for (int device = 0; device < 3; ++device) {
        for (const std::uint64_t item : rig.epoch(loader, device)) seen.insert(item);
      }
      const std::vector<std::uint64_t> expected = iota(0, remainder == Remainder::kDrop ? 9 : 10);
      EXPECT_EQ(std::vector(seen.begin(), seen.end()), expected);
      EXPECT_TRUE(sim.run(loader.close()).has_value());
    });
  }
}

// G: only the end is the end; a batch without rows is a batch.
TEST(DeviceLoaderTest, ABatchWithoutRowsIsNotTheEnd) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    LoaderRig rig(sim, 2, 5);
    const DeviceLoader loader = rig.make({.batch_size = 4, .remainder = Remainder::kUneven});
    EXPECT_EQ(rig.next(loader, 1).value()->rows, 2);
    const auto empty = rig.next(loader, 1).value();
    ASSERT_TRUE(empty.has_value());
    EXPECT_EQ(empty->rows, 0);
    EXPECT_EQ(empty->arrays[0].shape(), devices::Shape(devices::DType::kU64, {0}));
    EXPECT_FALSE(rig.next(loader, 1).value().has_value());
    EXPECT_TRUE(sim.run(loader.close()).has_value());
  });
}

// H: an error of the device keeps its code, comes in its place, and leaves no consumer waiting.
TEST(DeviceLoaderTest, AFailedTransferKeepsItsCodeAndItsPlace) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    LoaderRig rig(sim, 2, 64, {.transfer_latency = milliseconds(1)});
    rig.client->fail_put(DeviceId{0}, 3,
                         Error(ErrorCode::kResourceExhausted, "no memory on the device"));
    const DeviceLoader loader = rig.make({.batch_size = 4});
    EXPECT_EQ(rig.items(*rig.next(loader).value()), iota(0, 2));
    EXPECT_EQ(rig.items(*rig.next(loader).value()), iota(4, 2));
    const auto failed = rig.next(loader);
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().code(), ErrorCode::kResourceExhausted);
    EXPECT_EQ(failed.error().detail<LoadFailure>()->stage, LoadStage::kTransfer);
    EXPECT_EQ(failed.error().detail<LoadFailure>()->step, 2u);
    EXPECT_TRUE(sim.run(loader.close()).has_value());
  });
}

// I: a batch that is delivered has arrived, and every stage and queue can be seen.
TEST(DeviceLoaderTest, ADeliveredBatchHasArrivedAndIsCounted) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    LoaderRig rig(sim, 1, 16, {.transfer_latency = milliseconds(1)});
    rig.source->read_time = [](const SourceBatch&) { return milliseconds(3); };
    rig.source->decode_time = [](const SourceBatch&) { return milliseconds(2); };
    const DeviceLoader loader = rig.make({.batch_size = 4, .reads_in_flight = 1});
    for (int step = 0; step < 4; ++step) {
      const auto batch = rig.next(loader).value();
      ASSERT_TRUE(batch.has_value());
      EXPECT_TRUE(batch->arrays[0].ready().ready());
    }
    EXPECT_EQ(sim.now(), TimePoint(milliseconds(4 * 3 + 2 + 1)));
    const LoaderStats stats = loader.stats();
    EXPECT_EQ(stats.stage(LoadStage::kRead).busy, milliseconds(4 * 3));
    EXPECT_EQ(stats.stage(LoadStage::kDecode).busy, milliseconds(4 * 2));
    EXPECT_EQ(stats.stage(LoadStage::kTransfer).busy, milliseconds(4 * 1));
    EXPECT_EQ(stats.stage(LoadStage::kTransfer).bytes, 16u * 8);
    EXPECT_EQ(stats.devices[0].delivered, 4u);
    EXPECT_EQ(stats.devices[0].consumer_waited, sim.now() - TimePoint());
    EXPECT_TRUE(sim.run(loader.close()).has_value());
  });
}

TEST(DeviceLoaderTest, AnIdleConsumerNeverCostsMoreThanTheBudgets) {
  for (const bool zero_copy : {false, true}) {
    for_each_seed(kSeeds, [zero_copy](Simulation& sim) {
      LoaderRig rig(sim, 2, 4000, {.transfer_latency = milliseconds(1), .zero_copy = zero_copy});
      rig.source->read_time = [](const SourceBatch& batch) { return random_time(batch, 3); };
      rig.source->raw_bytes = 8;
      const std::size_t host = (2 + sim.below(4)) * (kPage + 32);
      const std::size_t device = (1 + sim.below(4)) * 32;
      const DeviceLoader loader = rig.make({.batch_size = 8,
                                            .reads_in_flight = 8,
                                            .host_bytes_per_device = host,
                                            .device_bytes_per_device = device,
                                            .zero_copy = zero_copy});
      sim.run_for(milliseconds(500));
      EXPECT_TRUE(loader.in_flight().empty());
      const LoaderStats stats = loader.stats();
      for (const DeviceQueueStats& queue : stats.devices) {
        EXPECT_LE(queue.use.peak_host_bytes, host);
        EXPECT_LE(queue.use.peak_device_bytes, device);
        EXPECT_EQ(queue.use.ready, std::min(device / 32, zero_copy ? host / (kPage + 32) : device));
      }
      EXPECT_LE(stats.peak_host_bytes, 2 * host);
      EXPECT_TRUE(sim.run(loader.close()).has_value());
    });
  }
}

TEST(DeviceLoaderTest, AStalledDeviceDoesNotHoldUpTheOthers) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    LoaderRig rig(sim, 2, 400, {.transfer_latency = milliseconds(1)});
    rig.client->stall(DeviceId{0}, TimePoint(milliseconds(2)), std::chrono::hours(1));
    rig.source->read_time = [](const SourceBatch&) { return milliseconds(1); };
    const DeviceLoader loader = rig.make({.batch_size = 4, .reads_in_flight = 1});
    EXPECT_EQ(rig.epoch(loader, 1).size(), 200u);
    EXPECT_LT(sim.now(), TimePoint(milliseconds(150)));
    EXPECT_LE(loader.stats().devices[0].use.peak_device_bytes, 2u * 16);
    const Result<void> closed = sim.run(loader.close());
    ASSERT_FALSE(closed.has_value());
    EXPECT_EQ(closed.error().detail<StagesGivenUp>()->stages[0].stage, LoadStage::kTransfer);
    EXPECT_EQ(closed.error().detail<StagesGivenUp>()->stages[0].device, 0);
  });
}

TEST(DeviceLoaderTest, TheNextEpochFollowsWithoutAGap) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    LoaderRig rig(sim, 1, 16, {.transfer_latency = milliseconds(1)});
    rig.source->read_time = [](const SourceBatch&) { return milliseconds(4); };
    const DeviceLoader loader =
        rig.make({.batch_size = 4, .shuffle = true, .epochs = 3, .reads_in_flight = 1});
    std::set<std::vector<std::uint64_t>> orders;
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      const std::vector<std::uint64_t> items = rig.epoch(loader);
      EXPECT_EQ(items.size(), 16u);
      EXPECT_EQ(sim.now() - TimePoint(),
                milliseconds((epoch + 1) * 16 + 1 + 1));  // the fetch costs one, too
      orders.insert(items);
    }
    EXPECT_EQ(orders.size(), 3u);
    EXPECT_FALSE(rig.next(loader).value().has_value());
    EXPECT_TRUE(sim.run(loader.close()).has_value());
  });
}

TEST(DeviceLoaderTest, AResumedLoaderGivesTheSameBatches) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    LoaderRig rig(sim, 1, 40);
    const LoaderOptions options = {.batch_size = 4, .shuffle = true, .seed = 8, .epochs = 3};
    const DeviceLoader whole = rig.make(options);
    LoaderOptions later = options;
    later.start_epoch = 1;
    later.start_item = 28;
    const DeviceLoader rest = rig.make(later);
    rig.epoch(whole);
    for (int step = 0; step < 7; ++step) EXPECT_TRUE(rig.next(whole).has_value());
    EXPECT_EQ(rig.epoch(rest), rig.epoch(whole));
    EXPECT_EQ(rig.epoch(rest), rig.epoch(whole));
    EXPECT_TRUE(sim.run(rest.close()).has_value());
    EXPECT_TRUE(sim.run(whole.close()).has_value());
  });
}

TEST(DeviceLoaderTest, ACallThatGivesUpTakesNoBatch) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    LoaderRig rig(sim, 1, 16);
    rig.source->read_time = [](const SourceBatch&) { return milliseconds(10); };
    const DeviceLoader loader = rig.make({.batch_size = 4});
    std::stop_source stop;
    const auto stopped = loader.next(0, {.stop = stop.get_token()});
    const auto late = loader.next(0, {.deadline = TimePoint(milliseconds(5))});
    const auto patient = loader.next(0);
    stop.request_stop();
    EXPECT_EQ(sim.run(stopped).error().code(), ErrorCode::kCancelled);
    EXPECT_EQ(sim.run(late).error().code(), ErrorCode::kDeadlineExceeded);
    EXPECT_EQ(sim.now(), TimePoint(milliseconds(5)));
    EXPECT_EQ(sim.run(patient).value()->first_item, 0u);
    EXPECT_TRUE(sim.run(loader.close()).has_value());
  });
}

TEST(DeviceLoaderTest, BatchesThatAreKeptInPlaceReturnTheirMemoryWhenReleased) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    LoaderRig rig(sim, 1, 64, {.zero_copy = true});
    const auto pool =
        std::make_shared<StagingPool>(StagingPoolOptions{.max_bytes = 5 * kPage}, sim.timers());
    const DeviceLoader loader =
        rig.make({.batch_size = 4, .host_bytes_per_device = 2 * kPage, .pool = pool});
    std::vector<DeviceBatch> kept;
    for (int step = 0; step < 3; ++step) kept.push_back(*rig.next(loader).value());
    sim.run_until_idle();
    EXPECT_EQ(pool->metrics().in_use_bytes, 5 * kPage);  // three with us, two ready
    kept.clear();
    for (int step = 0; step < 13; ++step) EXPECT_TRUE(rig.next(loader).value().has_value());
    EXPECT_FALSE(rig.next(loader).value().has_value());
    EXPECT_TRUE(sim.run(loader.close()).has_value());
    EXPECT_LE(pool->metrics().peak_in_use_bytes, 5 * kPage);
    EXPECT_TRUE(sim.run(pool->close()).has_value());
  });
}

TEST(DeviceLoaderTest, WhatDoesNotFitIsRefused) {
  Simulation sim(1);
  LoaderRig rig(sim, 2, 16);
  const LoaderOptions cases[] = {
      {.batch_size = 3},  // not over two devices
      {.batch_size = 32},
      {.batch_size = 4, .shards = 2, .shard_of_device = {0}},
      {.batch_size = 4, .shards = 2, .shard_of_device = {0, 2}},
      {.batch_size = 4, .start_item = 17},
      {.batch_size = 4, .reads_in_flight = 0},
      {.batch_size = 4, .host_bytes_per_device = kPage - 1},
      {.batch_size = 4, .device_bytes_per_device = 15},
  };
  for (const LoaderOptions& options : cases) {
    const auto loader = DeviceLoader::create(sim.environment(), rig.source, rig.devices, options);
    ASSERT_FALSE(loader.has_value());
    EXPECT_EQ(loader.error().code(), ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace millrace::transfer
