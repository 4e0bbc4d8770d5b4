#include "millrace/transfer/loader_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace millrace::transfer {
namespace {

using Next = LoaderSchedule::Next;
using Place = LoaderSchedule::Place;

// Batches of one unit of every kind of memory.
LoaderSchedule::Options unit_options() {
  return {.devices = 1,
          .steps_per_epoch = 4,
          .end_epoch = 1,
          .reads = 8,
          .decodes = 8,
          .staging_bytes = 1,
          .raw_bytes = 1,
          .device_batch_bytes = 1,
          .host_budget = 8,
          .device_budget = 4};
}

// Everything that may begin now.
std::vector<Place> start_all(LoaderSchedule& schedule) {
  std::vector<Place> started;
  const auto make = [](const BatchId& id) { return make_ref<LoadPlace>(id); };
  while (Place batch = schedule.start(make)) started.push_back(std::move(batch));
  return started;
}

Next take(LoaderSchedule& schedule, int device, BatchId* id) {
  Place batch;
  const Next next = schedule.take(device, &batch);
  if (batch) *id = batch->id;
  return next;
}

// Runs every stage to its end, in order, until nothing is left to do.
void run_all(LoaderSchedule& schedule) {
  for (auto started = start_all(schedule); !started.empty(); started = start_all(schedule)) {
    for (const Place& batch : started) {
      if (schedule.finish(*batch) && batch->stage() == LoadStage::kTransfer)
        schedule.release_staging(*batch);
    }
  }
}

TEST(LoaderScheduleTest, ABatchPassesItsStagesInOrderAndIsTaken) {
  LoaderSchedule::Options options = unit_options();
  options.host_budget = 2;  // one batch at a time
  LoaderSchedule schedule(options);
  for (const LoadStage stage :
       {LoadStage::kStaging, LoadStage::kRead, LoadStage::kDecode, LoadStage::kTransfer}) {
    EXPECT_EQ(schedule.peek(0), Next::kPending);
    const std::vector<Place> started = start_all(schedule);
    ASSERT_EQ(started.size(), 1u);
    EXPECT_TRUE(started[0]->running());
    EXPECT_EQ(started[0]->stage(), stage);
    EXPECT_TRUE(schedule.finish(*started[0]));
    EXPECT_FALSE(started[0]->running());
    EXPECT_EQ(started[0]->stage(), stage);
  }
  BatchId batch;
  EXPECT_EQ(take(schedule, 0, &batch), Next::kBatch);
  EXPECT_EQ(batch, (BatchId{0, 0}));
}

TEST(LoaderScheduleTest, BatchesThatFinishInReverseAreTakenInOrder) {
  LoaderSchedule schedule(unit_options());
  for (int round = 0; round < kLoadStages; ++round) {
    std::vector<Place> started = start_all(schedule);
    std::reverse(started.begin(), started.end());
    for (const Place& batch : started) schedule.finish(*batch);
  }
  run_all(schedule);
  for (std::uint64_t sequence = 0; sequence < 4; ++sequence) {
    BatchId batch;
    ASSERT_EQ(take(schedule, 0, &batch), Next::kBatch);
    EXPECT_EQ(batch.sequence, sequence);
  }
  BatchId none;
  EXPECT_EQ(take(schedule, 0, &none), Next::kEndOfEpoch);
  EXPECT_EQ(take(schedule, 0, &none), Next::kEndOfEpoch);
}

TEST(LoaderScheduleTest, AnIdleConsumerLeavesTheBudgetsFullAndNotMore) {
  LoaderSchedule::Options options = unit_options();
  options.steps_per_epoch = 100;
  options.host_budget = 7;  // three batches on the way, with what was read of them
  options.device_budget = 2;
  LoaderSchedule schedule(options);
  run_all(schedule);
  EXPECT_EQ(schedule.use(0).ready, 2u);
  EXPECT_EQ(schedule.use(0).peak_device_bytes, 2u);
  EXPECT_LE(schedule.use(0).peak_host_bytes, 7u);
  EXPECT_GT(schedule.use(0).peak_host_bytes, 5u);
}

TEST(LoaderScheduleTest, ADeviceThatTakesNothingLeavesTheOthersAlone) {
  LoaderSchedule::Options options = unit_options();
  options.devices = 2;
  options.steps_per_epoch = 50;
  options.reads = 1;
  LoaderSchedule schedule(options);
  for (std::uint64_t step = 0; step < 50; ++step) {
    run_all(schedule);
    BatchId batch;
    ASSERT_EQ(take(schedule, 1, &batch), Next::kBatch) << step;
    EXPECT_EQ(batch, (BatchId{step, 1}));
  }
  EXPECT_LE(schedule.use(0).peak_device_bytes, options.device_budget);
}

TEST(LoaderScheduleTest, AFailureComesAfterTheBatchesBeforeItOnEveryDevice) {
  LoaderSchedule::Options options = unit_options();
  options.devices = 2;
  LoaderSchedule schedule(options);
  for (auto started = start_all(schedule); !started.empty(); started = start_all(schedule)) {
    for (const Place& batch : started) {
      if (batch->id == BatchId{2, 0} && batch->stage() == LoadStage::kDecode) {
        schedule.fail(*batch);
        EXPECT_EQ(schedule.failure(), batch->id);
      } else {
        schedule.finish(*batch);
      }
    }
  }
  for (int device : {0, 1}) {
    BatchId batch;
    EXPECT_EQ(take(schedule, device, &batch), Next::kBatch);
    EXPECT_EQ(take(schedule, device, &batch), Next::kBatch);
    EXPECT_EQ(take(schedule, device, &batch), Next::kFailed);
    EXPECT_EQ(take(schedule, device, &batch), Next::kFailed);
  }
}

TEST(LoaderScheduleTest, TheFirstFailureInOrderCountsNotTheFirstInTime) {
  LoaderSchedule schedule(unit_options());
  for (const Place& batch : start_all(schedule)) schedule.finish(*batch);
  std::vector<Place> reads = start_all(schedule);
  ASSERT_EQ(reads.size(), 4u);
  for (const std::size_t failed : {3u, 1u, 2u}) {
    EXPECT_EQ(schedule.fail(*reads[failed]).size(), 1u) << "the others run";
    EXPECT_EQ(schedule.failure()->sequence, failed == 3 ? 3u : 1u);
  }
  schedule.finish(*reads[0]);
  run_all(schedule);
  BatchId batch;
  EXPECT_EQ(take(schedule, 0, &batch), Next::kBatch);
  EXPECT_EQ(take(schedule, 0, &batch), Next::kFailed);
  EXPECT_EQ(schedule.failure(), (BatchId{1, 0}));
}

TEST(LoaderScheduleTest, TheNextEpochBeginsBeforeTheEndOfThisOneIsMetOnlyIfAsked) {
  for (bool across : {true, false}) {
    LoaderSchedule::Options options = unit_options();
    options.steps_per_epoch = 1;
    options.end_epoch = 3;
    options.across_epochs = across;
    LoaderSchedule schedule(options);
    run_all(schedule);
    EXPECT_EQ(schedule.use(0).ready, across ? 3u : 1u);
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      BatchId batch;
      run_all(schedule);
      ASSERT_EQ(take(schedule, 0, &batch), Next::kBatch);
      EXPECT_EQ(batch.sequence, epoch);
      EXPECT_EQ(take(schedule, 0, &batch), Next::kEndOfEpoch);
    }
  }
}

TEST(LoaderScheduleTest, AResumedRunStartsAtTheGivenStep) {
  LoaderSchedule::Options options = unit_options();
  options.end_epoch = 3;
  options.first_epoch = 1;
  for (std::uint64_t step : {0, 3, 4}) {
    options.first_step = step;
    LoaderSchedule schedule(options);
    run_all(schedule);
    BatchId batch;
    for (; step < 4; ++step) {
      ASSERT_EQ(take(schedule, 0, &batch), Next::kBatch);
      EXPECT_EQ(batch.sequence, 4 + step);
      run_all(schedule);
    }
    EXPECT_EQ(take(schedule, 0, &batch), Next::kEndOfEpoch);
    run_all(schedule);
    EXPECT_EQ(take(schedule, 0, &batch), Next::kBatch);
    EXPECT_EQ(batch.sequence, 8u);
  }
}

TEST(LoaderScheduleDeathTest, ABatchOfWhichNoStageRunsCannotFinishOne) {
  LoaderSchedule schedule(unit_options());
  const Place batch = start_all(schedule).front();
  EXPECT_TRUE(schedule.finish(*batch));
  EXPECT_DEATH(schedule.finish(*batch), "a stage ends that runs");
  schedule.stop();
  EXPECT_DEATH(schedule.fail(*batch), "takes its states in their order");
}

// Random walks: stages end in any order, consumers come at any time, some stages fail, and a walk
// may stop. LS-1 to LS-4 must hold at every step, and every walk must come to its end.
TEST(LoaderScheduleTest, InvariantsHoldInAnyOrderOfEvents) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return random() % n; };
    LoaderSchedule::Options options = {.devices = 1 + static_cast<int>(below(4)),
                                       .steps_per_epoch = 1 + below(6),
                                       .end_epoch = 1 + below(3),
                                       .across_epochs = below(2) == 0,
                                       .reads = 1 + static_cast<int>(below(4)),
                                       .decodes = 1 + static_cast<int>(below(3)),
                                       .staging_bytes = 10,
                                       .raw_bytes = below(2) * 5,
                                       .device_batch_bytes = 10,
                                       .host_budget = 15 + below(40),
                                       .device_budget = 10 + below(30)};
    LoaderSchedule schedule(options);
    const bool may_fail = below(3) == 0;
    const std::uint64_t stop_after = below(4) == 0 ? below(100) : ~0ull;
    std::vector<Place> running;
    std::vector<Place> unreleased;
    std::vector<std::uint64_t> next(options.devices, 0);
    std::vector<std::uint64_t> epochs(options.devices, 0);
    std::vector<bool> done(options.devices, false);
    std::map<int, std::uint64_t> transferred;
    const std::uint64_t total = options.steps_per_epoch * options.end_epoch;
    std::uint64_t events = 0;
    while (std::find(done.begin(), done.end(), false) != done.end()) {
      ASSERT_LT(++events, 20'000u) << "no end";
      if (events == stop_after) schedule.stop();
      for (const Place& batch : start_all(schedule)) {
        if (batch->stage() == LoadStage::kTransfer) {
          EXPECT_EQ(transferred[batch->id.device]++, batch->id.sequence);  // LS-4
          unreleased.push_back(batch);
        }
        EXPECT_TRUE(schedule.wanted(batch->id));
        running.push_back(batch);
      }
      for (int d = 0; d < options.devices; ++d) {
        ASSERT_LE(schedule.use(d).host_bytes, options.host_budget);  // LS-2
        ASSERT_LE(schedule.use(d).device_bytes, options.device_budget);
      }
      const std::uint64_t what = below(3);
      if (what == 0 && !running.empty()) {
        std::swap(running[below(running.size())], running.back());
        const Place batch = running.back();
        running.pop_back();
        if (may_fail && below(20) == 0) {
          for (const Place& dropped : schedule.fail(*batch)) EXPECT_FALSE(dropped->running());
        } else {
          schedule.finish(*batch);
        }
      } else if (what == 1 && !unreleased.empty()) {
        schedule.release_staging(*unreleased.back());
        unreleased.pop_back();
      } else if (what == 2) {
        const int d = static_cast<int>(below(options.devices));
        BatchId batch;
        const std::optional<BatchId> failure = schedule.failure();
        switch (take(schedule, d, &batch)) {
          case Next::kBatch:
            EXPECT_EQ(batch, (BatchId{next[d], d}));                    // LS-1
            EXPECT_FALSE(done[d] || (failure && !(batch < *failure)));  // LS-3
            EXPECT_EQ(batch.sequence / options.steps_per_epoch, epochs[d]);
            ++next[d];
            break;
          case Next::kEndOfEpoch:
            if (done[d]) break;
            EXPECT_EQ(next[d], ++epochs[d] * options.steps_per_epoch);
            done[d] = next[d] == total;
            break;
          case Next::kFailed:
          case Next::kStopped:
            done[d] = true;
            break;
          case Next::kPending:
            break;
        }
      }
    }
    // What still runs may end, and then every budget is free again.
    for (auto started = start_all(schedule); !started.empty() || !running.empty();
         started = start_all(schedule)) {
      running.insert(running.end(), started.begin(), started.end());
      for (const Place& batch : running) {
        if (batch->stage() == LoadStage::kTransfer) unreleased.push_back(batch);
        schedule.finish(*batch);
      }
      running.clear();
    }
    for (const Place& batch : unreleased) {
      schedule.release_staging(*batch);
      schedule.release_staging(*batch);  // does nothing
    }
    schedule.for_each_running([](const LoadPlace&) { ADD_FAILURE() << "a stage runs"; });
    schedule.stop();
    for (int d = 0; d < options.devices; ++d) {
      EXPECT_EQ(schedule.use(d).device_bytes, 0u);
      EXPECT_EQ(schedule.use(d).host_bytes, 0u);
    }
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace millrace::transfer
