// Threads that race with a bridge and its end, on every kind of loop; its contract: bridge_test.cc.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/async/coroutine.h"
#include "tests/core/user_loop.h"

namespace millrace {
namespace {

using testing::LoopKind;
using testing::UserLoop;

class BridgeStressTest : public ::testing::TestWithParam<LoopKind> {
 protected:
  std::unique_ptr<UserLoop> loop = GetParam().make();
  std::shared_ptr<LoopBridge> bridge = loop->make_bridge();
};

INSTANTIATE_TEST_SUITE_P(Loops, BridgeStressTest, ::testing::ValuesIn(testing::loop_kinds()),
                         [](const auto& info) { return info.param.name; });

TEST_P(BridgeStressTest, StormOfValuesFromManyThreadsLosesNothing) {
  constexpr int kProducers = 4, kEach = 5000;
  std::vector<std::vector<Promise<int>>> promises(kProducers);
  std::int64_t sum = 0;  // plain: only the loop's thread touches it
  int seen = 0;
  for (auto& list : promises) {
    list.resize(kEach);
    for (auto& p : list) {
      p.future()
          .then(*bridge,
                [&](Result<int> r) {
                  sum += *r;
                  ++seen;
                })
          .ignore();
    }
  }
  std::vector<std::thread> producers;
  loop->call([&] {
    for (auto& list : promises) {
      producers.emplace_back([&] {
        for (int i = 0; i < kEach; ++i) list[static_cast<std::size_t>(i)].set(i);
      });
    }
  });
  loop->run();
  for (auto& p : producers) p.join();
  EXPECT_EQ(seen, kProducers * kEach);
  EXPECT_EQ(sum, std::int64_t{kProducers} * kEach * (kEach - 1) / 2);
}

TEST_P(BridgeStressTest, WaitersThatRaceWithCloseCompleteOnceOnTheLoop) {
  constexpr int kRounds = 100, kWaiters = 200;
  for (int round = 0; round < kRounds; ++round) {
    const auto raced = loop->make_bridge();
    std::vector<Promise<int>> promises(kWaiters);
    std::vector<Future<int>> values;
    for (auto& p : promises) values.push_back(p.future());
    int told = 0;  // plain: only the loop's thread touches it
    std::atomic<bool> begun{false};
    std::thread producer([&] {
      begun.store(true);
      for (auto& p : promises) p.set(1);
    });
    std::vector<Future<int>> results;
    for (auto& value : values) {
      results.push_back(value.then(*raced, [&](Result<int> r) -> int {
        EXPECT_TRUE(r || r.error().code() == ErrorCode::kCancelled);
        ++told;
        return 0;
      }));
    }
    while (!begun.load()) std::this_thread::yield();
    const Future<void> closed = raced->close();
    loop->run();
    producer.join();
    EXPECT_TRUE(closed.ready());
    EXPECT_EQ(told, kWaiters);
    for (const auto& result : results) ASSERT_TRUE(result.ready());
  }
}

TEST_P(BridgeStressTest, WaitersThatRaceWithDestructionCompleteAtMostOnce) {
  constexpr int kRounds = 100, kWaiters = 200;
  for (int round = 0; round < kRounds; ++round) {
    auto raced = loop->make_bridge();
    std::vector<Promise<int>> promises(kWaiters);
    std::vector<Future<int>> results;
    int told = 0;
    for (auto& p : promises) {
      results.push_back(p.future().then(*raced, [&](Result<int>) -> int { return ++told; }));
    }
    std::atomic<bool> begun{false};
    std::thread producer([&] {
      begun.store(true);
      for (auto& p : promises) p.set(1);
    });
    while (!begun.load()) std::this_thread::yield();
    loop->turn();
    raced.reset();
    const int before = told;
    loop->run();
    producer.join();
    EXPECT_EQ(told, before);
    int values = 0;
    for (const auto& result : results) {
      ASSERT_TRUE(result.ready());
      if (result.result()) {
        ++values;
      } else {
        EXPECT_EQ(result.result().error().code(), ErrorCode::kAborted);
      }
    }
    EXPECT_EQ(values, told);
  }
}

}  // namespace
}  // namespace millrace
