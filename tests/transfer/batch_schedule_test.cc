#include "millrace/transfer/batch_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace millrace::transfer {
namespace {

using std::chrono::milliseconds;
using Batch = BatchSchedule::Batch;
using Place = BatchSchedule::Place;
using Places = BatchSchedule::Places;
using State = BatchPlace::State;

TimePoint at(int ms) { return TimePoint(milliseconds(ms)); }

BatchSchedule::QueueOptions queue_of(std::vector<std::int64_t> sizes, Duration delay = {},
                                     double weight = 1) {
  const std::int64_t most = sizes.back();
  return {.sizes = {std::move(sizes)}, .most_rows = most, .most_delay = delay, .weight = weight};
}

Place enter(BatchSchedule& schedule, TimePoint now, BatchPlace::Facts facts = {}) {
  Place place = make_ref<BatchPlace>(facts);
  schedule.enter(place, now);
  return place;
}

std::vector<std::uint64_t> numbers(const Batch& batch) {
  std::vector<std::uint64_t> list;
  for (const Place& place : batch.places) list.push_back(place->number);
  return list;
}

// The batch of now, where no request is late.
std::optional<Batch> next(BatchSchedule& schedule, TimePoint now) {
  Places late;
  std::optional<Batch> batch = schedule.next(now, &late);
  EXPECT_TRUE(late.empty());
  return batch;
}

TEST(BatchScheduleTest, ARequestWaitsForOthersAsLongAsTheDelayAndNoLonger) {  // BS-6
  BatchSchedule schedule({});
  schedule.add_queue(0, queue_of({1, 4}, milliseconds(5)));
  enter(schedule, at(0));
  enter(schedule, at(2));
  EXPECT_FALSE(next(schedule, at(4)));
  EXPECT_EQ(schedule.next_time(), at(5));
  const auto batch = next(schedule, at(5));
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->rows, 2);
  EXPECT_EQ(batch->size, 4);
  EXPECT_EQ(schedule.next_time(), std::nullopt);
}

TEST(BatchScheduleTest, AFullBatchWaitsForNothing) {  // BS-6
  BatchSchedule schedule({});
  schedule.add_queue(0, queue_of({1, 4}, milliseconds(5)));
  for (int i = 0; i < 4; ++i) enter(schedule, at(0));
  const auto batch = next(schedule, at(0));
  ASSERT_TRUE(batch);
  EXPECT_EQ(numbers(*batch), (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST(BatchScheduleTest, WhatDoesNotFitBehindTheOthersStaysFirstInLine) {  // BS-1
  BatchSchedule schedule({.batches_per_device = 8});
  schedule.add_queue(0, queue_of({4}));
  for (const std::int64_t rows : {2, 3, 1}) enter(schedule, at(0), {.rows = rows});
  EXPECT_EQ(numbers(*next(schedule, at(0))), std::vector<std::uint64_t>{0});
  EXPECT_EQ(numbers(*next(schedule, at(0))), (std::vector<std::uint64_t>{1, 2}));
}

TEST(BatchScheduleTest, ABatchTakesTheSmallestSizeAndIsCutWhereMostOfItWouldBePadding) {  // BS-2
  struct Row {
    std::vector<std::int64_t> requests;
    std::int64_t rows, size;
  };
  for (const Row& row : std::vector<Row>{{{1}, 1, 1},
                                         {{1, 1}, 2, 4},
                                         {{1, 1, 1, 1, 1}, 4, 4},
                                         {{16, 1}, 16, 16},   // 17 of 64 would be padded by 47
                                         {{17}, 17, 64},      // alone it cannot be cut
                                         {{16, 16}, 32, 64},  // as many rows as padding
                                         {{1, 17}, 1, 1},
                                         {{64, 1}, 64, 64}}) {
    BatchSchedule schedule({.batches_per_device = 8});
    schedule.add_queue(0, queue_of({1, 4, 16, 64}));
    for (const std::int64_t rows : row.requests) enter(schedule, at(0), {.rows = rows});
    const auto batch = next(schedule, at(0));
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->rows, row.rows);
    EXPECT_EQ(batch->size, row.size);
  }
}

// A stall makes a size look dear: while it is passed over, its time is not measured.
TEST(BatchScheduleTest, ASizeThatWasSlowOnceIsTriedAgain) {  // BS-2
  BatchSchedule schedule({});
  schedule.add_queue(0, queue_of({4, 16}));
  int now = 0;
  const auto finish_next = [&](int took) {
    const Batch batch = *next(schedule, at(now));
    schedule.finish(batch, at(now += took));
    return batch;
  };
  for (const auto& [rows, took] : {std::pair(4, 10), {16, 12}, {16, 100}}) {
    enter(schedule, at(now), {.rows = rows});
    EXPECT_EQ(finish_next(took).size, rows);
  }
  // Twelve requests, in one batch of 16 or three of 4: the size of the first one.
  const auto serve_twelve = [&] {
    for (int i = 0; i < 12; ++i) enter(schedule, at(now));
    const Batch first = finish_next(10);
    for (std::int64_t left = 12 - first.rows; left > 0;) left -= finish_next(10).rows;
    return first.size;
  };
  EXPECT_EQ(serve_twelve(), 4) << "12 ms are not known of 16 any more, but 34";
  std::uint64_t rounds = 1;
  while (serve_twelve() == 4) ASSERT_LT(++rounds, BatchSchedule::kCutsInARow);
  EXPECT_EQ(serve_twelve(), 16) << "it is known again";
}

TEST(BatchScheduleTest, ABatchIsCutWhereRowsTakeLessTimeInASmallerSize) {  // BS-2
  struct Row {
    std::map<std::int64_t, int> took;  // ms, of a full batch of that size
    int requests;
    std::int64_t rows, size;
  };
  const std::map<std::int64_t, int> by_row = {{1, 3}, {4, 12}, {16, 48}};
  const std::map<std::int64_t, int> by_batch = {{1, 10}, {4, 10}, {16, 12}};
  for (const Row& row : std::vector<Row>{{by_row, 2, 1, 1},
                                         {by_row, 3, 1, 1},
                                         {by_row, 4, 4, 4},
                                         {by_row, 15, 4, 4},
                                         {by_batch, 2, 2, 4},
                                         {by_batch, 5, 5, 16},
                                         {{{1, 3}, {4, 9}}, 3, 3, 4},    // as long as alone
                                         {{{4, 12}}, 2, 2, 4},           // 1 was not measured:
                                         {{{1, 3}, {4, 12}}, 5, 4, 4},   // nor 16, and most of
                                         {{{1, 3}, {4, 12}}, 9, 9, 16},  // it would be padding
                                         {{{4, 12}, {16, 20}}, 17, 16, 16}}) {
    BatchSchedule schedule({});
    schedule.add_queue(0, queue_of({1, 4, 16}));
    int now = 0;
    for (const auto& [size, took] : row.took) {
      enter(schedule, at(now), {.rows = size});
      const Batch full = *next(schedule, at(now));
      ASSERT_EQ(full.size, size);
      schedule.finish(full, at(now += took));
    }
    for (int i = 0; i < row.requests; ++i) enter(schedule, at(now));
    const auto batch = next(schedule, at(now));
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->rows, row.rows) << row.requests;
    EXPECT_EQ(batch->size, row.size) << row.requests;
  }
}

TEST(BatchScheduleTest, ADeviceHasNoMoreBatchesThanAllowed) {  // BS-3
  BatchSchedule schedule({.devices = 2, .batches_per_device = 2});
  schedule.add_queue(0, queue_of({1}));
  std::vector<Batch> running;
  for (int i = 0; i < 6; ++i) enter(schedule, at(0));
  while (auto batch = next(schedule, at(0))) running.push_back(*batch);
  ASSERT_EQ(running.size(), 4U);
  EXPECT_EQ(running[0].device, 0U);
  EXPECT_EQ(running[1].device, 1U);
  EXPECT_EQ(schedule.next_time(), std::nullopt);  // no event but the end of a batch helps
  schedule.finish(running[1], at(1));
  EXPECT_EQ(next(schedule, at(1))->device, 1U);
}

TEST(BatchScheduleTest, ABatchFollowsAnotherOnlyTowardsTheEndOfThat) {  // BS-3
  struct Row {
    int took, follows;  // ms
  };
  for (const Row& row : std::vector<Row>{{1, 0}, {2, 1}, {10, 5}, {100, 50}}) {
    BatchSchedule schedule({});
    schedule.add_queue(0, queue_of({1}));
    enter(schedule, at(0));
    schedule.finish(*next(schedule, at(0)), at(row.took));
    const int begin = row.took + 7, then = begin + row.follows;
    enter(schedule, at(begin));
    const Batch first = *next(schedule, at(begin));
    enter(schedule, at(begin));
    if (row.follows > 0) {
      EXPECT_FALSE(next(schedule, at(then - 1)));
    }
    EXPECT_EQ(schedule.next_time(), at(then));
    const Batch second = *next(schedule, at(then));
    enter(schedule, at(then));
    EXPECT_EQ(schedule.next_time(), std::nullopt);  // two are there
    // From its end on the second one runs.
    schedule.finish(first, at(begin + row.took));
    EXPECT_EQ(schedule.next_time(), at(begin + row.took + row.follows)) << row.took;
    schedule.finish(second, at(begin + row.took));
    EXPECT_TRUE(next(schedule, at(begin + row.took)));
  }
}

// Batches of two rows take 10 ms, and wait 500 ms for a second row: one runs since 10, and a row
// waits since 11.
BatchSchedule behind_a_batch() {
  BatchSchedule schedule({});
  schedule.add_queue(0, queue_of({2}, milliseconds(500)));
  enter(schedule, at(0), {.rows = 2});
  schedule.finish(*next(schedule, at(0)), at(10));
  enter(schedule, at(10), {.rows = 2});
  EXPECT_TRUE(next(schedule, at(10)));
  enter(schedule, at(11));
  return schedule;
}

TEST(BatchScheduleTest, AFullBatchFollowsAnotherWithoutItsDelay) {  // BS-3, BS-6
  BatchSchedule schedule = behind_a_batch();
  EXPECT_EQ(schedule.next_time(), at(511));
  enter(schedule, at(12));
  EXPECT_FALSE(next(schedule, at(12)));
  EXPECT_EQ(schedule.next_time(), at(15));
  EXPECT_TRUE(next(schedule, at(15)));
}

TEST(BatchScheduleTest, WhatIsDrainedFollowsAnotherWithoutItsDelay) {  // BS-3
  BatchSchedule schedule = behind_a_batch();
  schedule.drain();
  EXPECT_EQ(schedule.next_time(), at(15));
  EXPECT_TRUE(next(schedule, at(15)));
}

TEST(BatchScheduleTest, TheDeviceWithTheLeastOutstandingWorkGetsTheNextBatch) {
  BatchSchedule schedule({.devices = 2, .batches_per_device = 4});
  schedule.add_queue(0, queue_of({1}));
  schedule.add_queue(1, queue_of({1}));
  const auto run = [&](std::size_t queue, int from, int to) {  // so that its time is known
    enter(schedule, at(from), {.queue = queue});
    const Batch batch = *next(schedule, at(from));
    schedule.finish(batch, at(to));
  };
  run(0, 0, 10);
  run(1, 10, 11);
  EXPECT_EQ(schedule.measured(0, 0, 1), milliseconds(10));
  enter(schedule, at(20), {.queue = 0});
  const std::size_t busy = next(schedule, at(20))->device;
  for (int i = 0; i < 3; ++i) {
    enter(schedule, at(20), {.queue = 1});
    EXPECT_NE(next(schedule, at(20))->device, busy);
  }
}

TEST(BatchScheduleTest, AFailedDeviceGetsNothingAndItsRequestsKeepTheirPlace) {  // BS-1, BS-3
  BatchSchedule schedule({.devices = 2, .batches_per_device = 1});
  schedule.add_queue(0, queue_of({2}));
  for (int i = 0; i < 6; ++i) enter(schedule, at(0));
  const Batch first = *next(schedule, at(0));
  const Batch second = *next(schedule, at(0));
  EXPECT_FALSE(schedule.withdraw(*first.places[1]));
  EXPECT_TRUE(schedule.fail_device(first.device));
  schedule.put_back(first);
  EXPECT_EQ(first.places[1]->state, State::kEnded);  // no caller waits for it
  EXPECT_FALSE(next(schedule, at(1)));
  schedule.finish(second, at(1));
  EXPECT_EQ(numbers(*next(schedule, at(1))), (std::vector<std::uint64_t>{0, 4}));
  EXPECT_FALSE(schedule.fail_device(second.device));
}

TEST(BatchScheduleTest, AWithdrawnRequestIsNeverLaunched) {  // BS-4
  BatchSchedule schedule({});
  schedule.add_queue(0, queue_of({4}, milliseconds(1)));
  const Place gone = enter(schedule, at(0));
  const Place stays = enter(schedule, at(0));
  EXPECT_TRUE(schedule.withdraw(*gone));
  EXPECT_FALSE(schedule.withdraw(*gone));
  EXPECT_EQ(numbers(*next(schedule, at(1))), std::vector<std::uint64_t>{1});
  EXPECT_EQ(schedule.queued(), 0U);
}

TEST(BatchScheduleTest, RequestsWhoseDeadlineHasPassedComeBackLate) {  // BS-4
  BatchSchedule schedule({});
  schedule.add_queue(0, queue_of({8}));
  enter(schedule, at(0), {.deadline = at(5)});
  enter(schedule, at(0));
  enter(schedule, at(0), {.deadline = at(7)});
  enter(schedule, at(0), {.deadline = at(9)});
  Places late;
  const auto batch = schedule.next(at(7), &late);
  ASSERT_TRUE(batch);
  EXPECT_EQ(numbers(*batch), (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(late.size(), 2U);
}

TEST(BatchScheduleTest, ARequestWithAnEarlyDeadlineDoesNotWaitForTheDelay) {
  BatchSchedule schedule({});
  schedule.add_queue(0, queue_of({1}, milliseconds(50)));
  enter(schedule, at(0));
  schedule.finish(*next(schedule, at(50)), at(60));  // one batch takes 10 ms
  enter(schedule, at(100), {.deadline = at(140)});
  EXPECT_EQ(schedule.next_time(), at(120));
}

TEST(BatchScheduleTest, PriorityGoesFirstButDoesNotStarveTheOthers) {  // BS-1
  BatchSchedule schedule({.priority_step = milliseconds(10)});
  schedule.add_queue(0, queue_of({1}, milliseconds(0)));
  enter(schedule, at(0), {.priority = 1});
  enter(schedule, at(9), {.priority = 0});
  enter(schedule, at(11), {.priority = 0});
  EXPECT_EQ(numbers(*next(schedule, at(11))), std::vector<std::uint64_t>{1});
  EXPECT_EQ(numbers(*next(schedule, at(11))), std::vector<std::uint64_t>{0});
}

// One queue at a time has the device; each batch takes the queue's time.
std::map<std::size_t, Duration> share(BatchSchedule& schedule, std::vector<Duration> times,
                                      Duration length) {
  std::map<std::size_t, Duration> had;
  TimePoint now = at(0);
  for (std::size_t q = 0; q < times.size(); ++q) {
    for (int i = 0; i < 4; ++i) enter(schedule, now, {.queue = q});
  }
  while (now < TimePoint(length)) {
    const Batch batch = *next(schedule, now);
    now += times[batch.queue];
    had[batch.queue] += times[batch.queue];
    schedule.finish(batch, now);
    for (std::size_t i = 0; i < batch.places.size(); ++i)
      enter(schedule, now, {.queue = batch.queue});
  }
  return had;
}

TEST(BatchScheduleTest, QueuesShareTheDeviceByTheirWeights) {  // BS-5
  struct Row {
    std::vector<double> weights;
    std::vector<Duration> times;
  };
  for (const Row& row :
       std::vector<Row>{{{1, 1}, {milliseconds(1), milliseconds(1)}},
                        {{1, 1}, {milliseconds(20), milliseconds(1)}},
                        {{3, 1}, {milliseconds(2), milliseconds(5)}},
                        {{1, 2, 4}, {milliseconds(1), milliseconds(3), milliseconds(2)}}}) {
    BatchSchedule schedule({.batches_per_device = 1});
    double sum = 0;
    for (std::size_t q = 0; q < row.weights.size(); ++q) {
      schedule.add_queue(q, queue_of({1}, {}, row.weights[q]));
      sum += row.weights[q];
    }
    const Duration length = std::chrono::seconds(2);
    const auto had = share(schedule, row.times, length);
    for (std::size_t q = 0; q < row.weights.size(); ++q) {
      EXPECT_NEAR(static_cast<double>(had.at(q).count()) / static_cast<double>(length.count()),
                  row.weights[q] / sum, 0.03)
          << "queue " << q;
    }
  }
}

TEST(BatchScheduleTest, AQueueThatWasIdleGetsNoCreditForIt) {  // BS-5
  BatchSchedule schedule({.batches_per_device = 1});
  schedule.add_queue(0, queue_of({1}));
  schedule.add_queue(1, queue_of({1}));
  TimePoint now = at(0);
  const auto step = [&] {
    const Batch batch = *next(schedule, now);
    now += milliseconds(1);
    schedule.finish(batch, now);
    return batch.queue;
  };
  for (int i = 0; i < 100; ++i) {
    enter(schedule, now, {.queue = 0});
    step();
  }
  for (int i = 0; i < 20; ++i) {
    enter(schedule, now, {.queue = 0});
    enter(schedule, now, {.queue = 1});
  }
  int second = 0;
  for (int i = 0; i < 10; ++i) second += step() == 1;
  EXPECT_GE(second, 4);
  EXPECT_LE(second, 6);
}

TEST(BatchScheduleTest, BucketsAreNotMixedAndTheOldestHeadGoesFirst) {  // BS-2
  BatchSchedule schedule({.batches_per_device = 8});
  schedule.add_queue(0, {.sizes = {{4}, {2, 4}}, .most_rows = 4, .most_delay = {}});
  enter(schedule, at(0), {.bucket = 1});
  enter(schedule, at(1), {.bucket = 0});
  enter(schedule, at(2), {.bucket = 1});
  const Batch first = *next(schedule, at(2));
  EXPECT_EQ(first.bucket, 1U);
  EXPECT_EQ(numbers(first), (std::vector<std::uint64_t>{0, 2}));
  EXPECT_EQ(next(schedule, at(2))->bucket, 0U);
}

TEST(BatchScheduleTest, ADrainWaitsForNothingAndTakeQueuedEmptiesTheQueues) {
  BatchSchedule schedule({.batches_per_device = 1});
  schedule.add_queue(0, queue_of({4}, std::chrono::seconds(1)));
  schedule.add_queue(1, queue_of({4}, std::chrono::seconds(1)));
  enter(schedule, at(0));
  enter(schedule, at(0), {.queue = 1});
  EXPECT_FALSE(next(schedule, at(0)));
  schedule.drain();
  EXPECT_TRUE(next(schedule, at(0)));
  EXPECT_EQ(schedule.take_queued(0).size(), 0U);
  EXPECT_EQ(schedule.take_queued().size(), 1U);
  EXPECT_EQ(schedule.in_flight(), 1U);
}

TEST(BatchScheduleTest, TheExpectedWaitGrowsWithWhatIsQueued) {
  BatchSchedule schedule({.batches_per_device = 1});
  schedule.add_queue(0, queue_of({1}));
  enter(schedule, at(0));
  schedule.finish(*next(schedule, at(0)), at(10));
  EXPECT_EQ(schedule.expected_wait(0), Duration());
  for (int i = 0; i < 3; ++i) enter(schedule, at(10));
  EXPECT_TRUE(next(schedule, at(10)));
  EXPECT_EQ(schedule.expected_wait(0), milliseconds(30));
}

// Random lives against a list of what must hold after each step.
TEST(BatchScheduleTest, RandomLivesKeepTheRules) {  // BS-1 to BS-4
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    const std::size_t devices = 1 + below(3);
    BatchSchedule schedule(
        {.devices = devices, .batches_per_device = 1 + static_cast<int>(below(3))});
    const std::size_t queues = 1 + below(3);
    for (std::size_t q = 0; q < queues; ++q)
      schedule.add_queue(q, queue_of({1, 3, 8}, milliseconds(below(4))));
    std::vector<Place> all;
    std::vector<Batch> running;
    std::map<std::pair<std::size_t, int>, std::uint64_t> last;  // launched, by queue and priority
    TimePoint now = at(0);
    std::size_t failed = 0;
    for (int step = 0; step < 200; ++step) {
      switch (below(6)) {
        case 0:
        case 1:
          all.push_back(enter(schedule, now,
                              {.queue = below(queues),
                               .rows = 1 + static_cast<std::int64_t>(below(8)),
                               .priority = static_cast<int>(below(3)),
                               .deadline = below(3) ? kNoDeadline : now + milliseconds(below(9))}));
          break;
        case 2:
          now += milliseconds(below(3));
          break;
        case 3:
          if (!all.empty()) schedule.withdraw(*all[below(all.size())]);
          break;
        case 4: {
          if (running.empty()) break;
          const std::size_t i = below(running.size());
          schedule.finish(running[i], now);
          running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
          break;
        }
        default: {
          if (below(20) != 0 || failed + 1 >= devices) break;
          schedule.fail_device(failed);
          std::erase_if(running, [&](const Batch& batch) {
            if (batch.device != failed) return false;
            for (const Place& place : batch.places)
              last[{place->facts.queue, place->facts.priority}] = 0;  // they come once more
            schedule.put_back(batch);
            return true;
          });
          ++failed;
          break;
        }
      }
      Places late;
      while (auto batch = schedule.next(now, &late)) {
        std::int64_t rows = 0;
        for (const Place& place : batch->places) {
          rows += place->facts.rows;
          EXPECT_EQ(place->state, State::kLaunched);
          EXPECT_GT(place->facts.deadline, now);
          EXPECT_EQ(place->facts.queue, batch->queue);
          std::uint64_t& before = last[{place->facts.queue, place->facts.priority}];
          EXPECT_GE(place->number + 1, before);
          before = place->number + 1;
        }
        EXPECT_EQ(rows, batch->rows);
        EXPECT_LE(rows, batch->size);
        EXPECT_GE(batch->device, failed);
        running.push_back(*batch);
      }
    }
    std::size_t queued = 0;
    for (const Place& place : all) queued += place->state == State::kQueued;
    EXPECT_EQ(schedule.queued(), queued);
    EXPECT_EQ(schedule.in_flight(), running.size());
  }
}

}  // namespace
}  // namespace millrace::transfer
