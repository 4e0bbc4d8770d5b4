#include "millrace/transfer/batch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace millrace::transfer {
namespace {

// How often each item is a valid row of an epoch.
std::vector<int> uses(const BatchPlan& plan, std::uint64_t epoch) {
  std::vector<int> count(plan.options().items);
  const BatchPlan::Epoch order = plan.epoch(epoch);
  for (std::uint64_t step = 0; step < plan.steps_per_epoch(); ++step) {
    for (int s = 0; s < plan.options().shards; ++s) {
      const Shard shard = plan.shard(0, step, s);
      for (std::int64_t r = 0; r < shard.valid; ++r) ++count[order.item(shard.first + r)];
    }
  }
  return count;
}

struct Case {
  std::uint64_t items;
  std::int64_t batch;
  int shards;
  Remainder remainder;
  std::uint64_t steps;
  std::vector<std::int64_t> last_valid;
  std::vector<std::int64_t> last_rows;
};

TEST(BatchPlanTest, TheLastStepFollowsTheRemainderPolicy) {
  using enum Remainder;
  const Case cases[] = {
      {10, 4, 2, kDrop, 2, {2, 2}, {2, 2}},
      {10, 4, 2, kPad, 3, {1, 1}, {2, 2}},
      {10, 4, 2, kUneven, 3, {1, 1}, {1, 1}},
      {9, 4, 2, kPad, 3, {1, 0}, {2, 2}},
      {9, 4, 2, kUneven, 3, {1, 0}, {1, 0}},
      {8, 4, 2, kPad, 2, {2, 2}, {2, 2}},
      {3, 8, 4, kPad, 1, {1, 1, 1, 0}, {2, 2, 2, 2}},
      {7, 8, 4, kUneven, 1, {2, 2, 2, 1}, {2, 2, 2, 1}},
  };
  for (const Case& c : cases) {
    const BatchPlan plan =
        BatchPlan::create(
            {.items = c.items, .batch_size = c.batch, .shards = c.shards, .remainder = c.remainder})
            .value();
    ASSERT_EQ(plan.steps_per_epoch(), c.steps) << c.items;
    for (int s = 0; s < c.shards; ++s) {
      EXPECT_EQ(plan.shard(0, c.steps - 1, s).valid, c.last_valid[s]) << c.items << " shard " << s;
      EXPECT_EQ(plan.shard(0, c.steps - 1, s).rows, c.last_rows[s]) << c.items << " shard " << s;
    }
  }
}

TEST(BatchPlanTest, EveryItemCountsExactlyOnceUnlessDropped) {
  for (Remainder remainder : {Remainder::kDrop, Remainder::kPad, Remainder::kUneven}) {
    for (bool shuffle : {false, true}) {
      for (std::uint64_t items : {24, 25, 29, 35, 47}) {
        const BatchPlan plan = BatchPlan::create({.items = items,
                                                  .batch_size = 12,
                                                  .shards = 3,
                                                  .remainder = remainder,
                                                  .shuffle = shuffle,
                                                  .seed = 4})
                                   .value();
        const std::vector<int> count = uses(plan, 2);
        const std::uint64_t once = std::count(count.begin(), count.end(), 1);
        EXPECT_EQ(once, items - (remainder == Remainder::kDrop ? items % 12 : 0));
        EXPECT_EQ(once + std::count(count.begin(), count.end(), 0), items);
      }
    }
  }
}

TEST(BatchPlanTest, DroppedItemsDifferBetweenShuffledEpochs) {
  const BatchPlan plan =
      BatchPlan::create({.items = 101, .batch_size = 10, .shards = 2, .shuffle = true}).value();
  EXPECT_NE(uses(plan, 0), uses(plan, 1));
}

TEST(BatchPlanTest, WithoutShufflingShardsAreContiguousAndInOrder) {
  const BatchPlan plan = BatchPlan::create({.items = 12, .batch_size = 6, .shards = 3}).value();
  std::uint64_t next = 0;
  for (std::uint64_t step = 0; step < 2; ++step) {
    for (int s = 0; s < 3; ++s) {
      EXPECT_EQ(plan.shard(0, step, s).first, next);
      next += 2;
    }
  }
  EXPECT_EQ(plan.epoch(5).item(7), 7u);
}

TEST(BatchPlanTest, PaddingRowsAreItemsOfTheDataSet) {
  const BatchPlan plan =
      BatchPlan::create({.items = 3, .batch_size = 8, .shards = 2, .remainder = Remainder::kPad})
          .value();
  const Shard shard = plan.shard(0, 0, 1);
  for (std::int64_t r = 0; r < shard.rows; ++r) EXPECT_LT(plan.epoch(0).item(shard.first + r), 3u);
}

TEST(BatchPlanTest, ImpossiblePlansAreRefusedWithTheirNumbers) {
  const BatchPlanOptions cases[] = {
      {.items = 0, .batch_size = 4},
      {.items = 4, .batch_size = 0},
      {.items = 4, .batch_size = 4, .shards = 0},
      {.items = 9, .batch_size = 9, .shards = 2},
      {.items = 3, .batch_size = 4},
  };
  for (const BatchPlanOptions& options : cases) {
    const Result<BatchPlan> plan = BatchPlan::create(options);
    ASSERT_FALSE(plan.has_value());
    EXPECT_EQ(plan.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(plan.error().message().find(std::to_string(options.items) + " items"),
              std::string::npos);
  }
}

// With any batch size: an epoch that was begun with another one is gone through to its end.
TEST(BatchPlanTest, AnEpochGoesOnAfterAnyItem) {
  for (const Remainder remainder : {Remainder::kDrop, Remainder::kPad, Remainder::kUneven}) {
    for (std::uint64_t start = 0; start <= 23; ++start) {
      const BatchPlan plan = BatchPlan::create({.items = 23,
                                                .batch_size = 6,
                                                .shards = 2,
                                                .remainder = remainder,
                                                .start_epoch = 2,
                                                .start_item = start})
                                 .value();
      std::uint64_t next = start;
      for (std::uint64_t step = plan.first_step(); step < plan.steps_per_epoch(); ++step) {
        for (const int shard : {0, 1}) {
          const Shard part = plan.shard(2, step, shard);
          if (part.valid > 0) {
            EXPECT_EQ(part.first, next) << start;
          }
          next += static_cast<std::uint64_t>(part.valid);
        }
      }
      const std::uint64_t dropped = remainder == Remainder::kDrop ? (23 - start) % 6 : 0;
      EXPECT_EQ(next, 23 - dropped) << start;
      EXPECT_EQ(plan.shard(3, 0, 1).first, 3U) << "later epochs are whole";
    }
  }
  EXPECT_FALSE(BatchPlan::create({.items = 23, .batch_size = 6, .shards = 2, .start_item = 24}));
}

}  // namespace
}  // namespace millrace::transfer
