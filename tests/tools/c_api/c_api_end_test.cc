// How things end before their time: cancel and close. A program that never ends by itself holds
// them up for as long as a test wants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "tests/tools/c_api/rig.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

TEST(CApiCancelTest, RunningProgramIsStoppedAndWhatNeedsItFails) {
  Rig rig;
  const auto [endless, output] = rig.run_endless();
  std::int32_t back = 0;
  rig.fetch(output, &back, sizeof back);
  const millrace_operation fetch = rig.last;
  EXPECT_FALSE(rig.readable());
  EXPECT_EQ(rig.cancel(endless).message, "");
  const auto all = rig.wait(2);
  EXPECT_EQ(all.at(endless).error.code, MILLRACE_CANCELLED);
  EXPECT_THAT(all.at(endless).error.message, HasSubstr("was cancelled"));
  EXPECT_EQ(all.at(fetch).error.code, MILLRACE_CANCELLED);
  // What was started with its output afterwards, too.
  rig.fetch(output, &back, sizeof back);
  EXPECT_EQ(rig.wait_next().error.code, MILLRACE_CANCELLED);
  // The device is free again.
  const std::vector<float> x = {1, 2, 3};
  const millrace_buffer there = rig.put(x);
  rig.execute(rig.compile(kAdd), {there, there});
  rig.expect_success(3);
}

TEST(CApiCancelTest, WhatWaitsCompletesAtOnceWhileTheDeviceIsBusy) {  // CA-2
  Rig rig;
  const auto [endless, output] = rig.run_endless();
  const millrace_executable program = rig.compiled(kEndless);
  const millrace_buffer next = rig.execute(program, {output})[0];
  const millrace_operation behind = rig.last;
  std::int32_t back = 7;
  rig.fetch(next, &back, sizeof back);
  const millrace_operation fetch = rig.last;
  EXPECT_EQ(rig.cancel(fetch).message, "");
  EXPECT_EQ(rig.next().operation, fetch);
  EXPECT_EQ(rig.cancel(behind).message, "");
  EXPECT_EQ(rig.next().operation, behind);
  EXPECT_EQ(rig.next().operation, 0U);  // the endless one runs on
  rig.cancel(endless);
  EXPECT_EQ(rig.wait_next().operation, endless);
  EXPECT_EQ(back, 7);
}

TEST(CApiCancelTest, PutThatHasBegunGivesItsBytesBackFirst) {  // CA-2
  Rig rig;  // one thread, which the endless program takes, so that the copy of many bytes waits
  const millrace_operation endless = rig.run_endless().first;
  const std::vector<float> many(1 << 20), few(3);
  rig.put(many);
  const millrace_operation put = rig.last;
  rig.put(few);  // in order: once it has ended, the one before has begun
  EXPECT_EQ(rig.wait_next().operation, rig.last);
  EXPECT_EQ(rig.cancel(put).message, "");
  EXPECT_EQ(rig.cancel(put).message, "");  // nothing new
  EXPECT_FALSE(rig.readable());
  EXPECT_EQ(rig.cancel(endless).message, "");
  const auto all = rig.wait(2);
  EXPECT_EQ(all.at(put).error.code, MILLRACE_CANCELLED);
  EXPECT_EQ(all.at(endless).error.code, MILLRACE_CANCELLED);
}

TEST(CApiCancelTest, CancelAfterTheEndSaysSo) {
  Rig rig;
  const std::vector<float> x = {1, 2, 3};
  rig.put(x);
  const millrace_operation put = rig.last;
  ASSERT_TRUE(rig.readable(300'000));
  const Told late = rig.cancel(put);
  EXPECT_EQ(late.code, MILLRACE_FAILED_PRECONDITION);
  EXPECT_THAT(late.message, HasSubstr("has finished before"));
  EXPECT_EQ(rig.next().error.message, "");
  EXPECT_EQ(rig.cancel(put).code, MILLRACE_NOT_FOUND);

  const millrace_operation endless = rig.run_endless().first;
  EXPECT_EQ(rig.cancel(endless).message, "");
  EXPECT_EQ(rig.cancel(endless).code, MILLRACE_FAILED_PRECONDITION);
  EXPECT_EQ(rig.wait(1).count(endless), 1U);
}

// The first one wins: where cancel returns NULL, the operation was cancelled; where it returns
// "too late", it was not.
TEST(CApiCancelTest, CancelRacesWithTheEndAndBothAgree) {  // CA-1
  Rig rig;
  const std::size_t many = 1 << 18;
  for (int i = 0; i < 100; ++i) {
    // The arrays belong to this round alone: a use of them after the completion would be caught.
    auto x = std::make_unique<std::vector<float>>(many, 1.0F);
    auto back = std::make_unique<std::vector<float>>(many);
    const millrace_buffer there = rig.put(*x);
    std::vector<millrace_operation> operations = {rig.last};
    rig.fetch(there, back->data(), many * sizeof(float));
    operations.push_back(rig.last);
    rig.compile(kAdd);
    operations.push_back(rig.last);
    std::map<millrace_operation, Told> answers;
    for (const millrace_operation operation : operations)
      answers[operation] = rig.cancel(operation);
    const auto ends = rig.wait(operations.size());
    for (const auto& [operation, answer] : answers) {
      const Told& end = ends.at(operation).error;
      if (answer.code == MILLRACE_OK) {
        EXPECT_EQ(end.code, MILLRACE_CANCELLED) << end.message;
      } else {
        EXPECT_EQ(answer.code, MILLRACE_FAILED_PRECONDITION) << answer.message;
        // The fetch may have lost what it needs.
        const bool lost = operation == operations[1] && end.code == MILLRACE_CANCELLED;
        EXPECT_TRUE(end.code == MILLRACE_OK || lost) << end.message;
      }
    }
    if (ends.at(operations[1]).error.code == MILLRACE_OK) {
      EXPECT_EQ(*back, *x);
    }
    EXPECT_EQ(told(millrace_buffer_destroy(rig.runtime, there)).message, "");
  }
}

TEST(CApiCloseTest, EverythingInFlightIsCancelledAndHandedOutOnce) {
  Rig rig;
  auto [operation, output] = rig.run_endless();
  std::set<millrace_operation> operations = {operation};
  const millrace_executable program = rig.compiled(kEndless);
  std::vector<std::int32_t> back(50);
  for (std::int32_t& one : back) {
    output = rig.execute(program, {output})[0];
    operations.insert(rig.last);
    rig.fetch(output, &one, sizeof one);
    operations.insert(rig.last);
  }
  const std::vector<Finished> rest = rig.close();
  EXPECT_EQ(rest.size(), 101U);
  for (const Finished& one : rest) {
    EXPECT_EQ(one.error.code, MILLRACE_CANCELLED) << one.error.message;
    EXPECT_EQ(operations.erase(one.operation), 1U) << one.operation;
  }
  EXPECT_TRUE(operations.empty());
}

TEST(CApiCloseTest, WhatHasFinishedIsHandedOutAsItEnded) {
  const std::vector<float> x = {1, 2, 3};
  for (const bool good : {true, false}) {
    Rig rig;
    if (good) {
      rig.put(x);
    } else {
      rig.compile("no program");
    }
    ASSERT_TRUE(rig.readable(300'000));
    const std::vector<Finished> rest = rig.close();
    ASSERT_EQ(rest.size(), 1U);
    EXPECT_EQ(rest[0].operation, rig.last);
    EXPECT_EQ(rest[0].error.code, good ? MILLRACE_OK : MILLRACE_INVALID_ARGUMENT);
  }
}

TEST(CApiCloseTest, WithoutOptionsCompletionsThatAreLeftAreDropped) {
  Rig rig;
  rig.run_endless();
  const std::vector<float> x = {1, 2, 3};
  rig.put(x);
  EXPECT_EQ(told(millrace_close(rig.runtime, nullptr)).message, "");
  rig.runtime = 0;
}

// Threads start operations until the runtime is closed: each operation that
// was started completes once, by next or by close.
TEST(CApiCloseStressTest, CallsOfOtherThreadsEndWithTheRuntime) {
  for (int round = 0; round < 10; ++round) {
    Rig rig;
    const millrace_runtime runtime = rig.runtime;
    const std::vector<float> x = {1, 2, 3};
    rig.run_endless();
    std::atomic<int> started{1}, finished_count{0};
    std::atomic<bool> going{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        const std::int64_t dims[] = {3};
        for (;;) {
          const millrace_put_args args = {sizeof args, x.data(),     12, dims,
                                          1,           MILLRACE_F32, 0,  nullptr};
          millrace_buffer buffer = 0;
          millrace_operation operation = 0;
          const Told put = told(millrace_put(runtime, &args, &buffer, &operation));
          if (put.code == MILLRACE_NOT_FOUND) return;
          EXPECT_EQ(put.message, "");
          ++started;
          millrace_completion completion = {};
          completion.struct_size = sizeof completion;
          const Told next = told(millrace_next(runtime, &completion));
          if (next.code == MILLRACE_NOT_FOUND) return;
          EXPECT_EQ(next.message, "");
          if (completion.operation != 0) {
            finished(completion);
            ++finished_count;
          }
          going = true;
        }
      });
    }
    while (!going) std::this_thread::yield();
    const int rest = static_cast<int>(rig.close().size());
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(started.load(), finished_count.load() + rest);
  }
}

}  // namespace
}  // namespace millrace::testing
