// What only Asio has: completion tokens, cancellation slots, several threads on one io_context.
// Real threads, as in bridge_test.cc, where the contract of all bridges is.
#include "millrace/core/loop/asio_bridge.h"

#include <gtest/gtest.h>

#include <array>
#include <asio/experimental/awaitable_operators.hpp>
#include <atomic>
#include <barrier>
#include <stdexcept>
#include <thread>
#include <vector>

namespace millrace {
namespace {

asio::awaitable<void> add(const AsioBridge& bridge, Future<int> a, Future<int> b, int* sum) {
  const Result<int> x = co_await bridge.async_wait(std::move(a), asio::use_awaitable);
  const Result<int> y = co_await bridge.async_wait(std::move(b), asio::use_awaitable);
  *sum = *x + *y;
}

TEST(AsioBridgeTest, AwaitableGivesResults) {
  asio::io_context context;
  AsioBridge bridge(context);
  Promise<int> promise;
  int sum = 0;
  asio::co_spawn(context, add(bridge, make_ready(1), promise.future(), &sum), asio::detached);
  std::thread other;
  asio::post(context, [&] { other = std::thread([&] { promise.set(2); }); });
  context.run();
  other.join();
  EXPECT_EQ(sum, 3);
}

TEST(AsioBridgeTest, FutureTokenGivesAStdFuture) {
  asio::io_context context;
  AsioBridge bridge(context);
  auto future = bridge.async_wait(make_ready(5), asio::use_future);
  context.run();
  EXPECT_EQ(future.get().value(), 5);
}

TEST(AsioBridgeTest, CallbackMayBeMoveOnlyAndRunsOnItsOwnExecutor) {
  asio::io_context context;
  AsioBridge bridge(context);
  asio::strand<asio::io_context::executor_type> strand(context.get_executor());
  bool in_strand = false;
  int seen = 0;
  bridge.async_wait(
      make_ready(6),
      asio::bind_executor(strand, [&, owned = std::make_unique<int>(1)](Result<int> r) {
        in_strand = strand.running_in_this_thread();
        seen = *r + *owned;
      }));
  EXPECT_EQ(seen, 0);
  context.run();
  EXPECT_EQ(seen, 7);
  EXPECT_TRUE(in_strand);
}

TEST(AsioBridgeTest, CancellationSlotGivesCancelledOnTheLoop) {
  asio::io_context context;
  AsioBridge bridge(context);
  Promise<int> never;
  asio::cancellation_signal signal;
  ErrorCode code = ErrorCode::kUnknown;
  bridge.async_wait(never.future(), asio::bind_cancellation_slot(signal.slot(), [&](Result<int> r) {
                      code = r.error().code();
                    }));
  asio::post(context, [&] {
    signal.emit(asio::cancellation_type::terminal);
    EXPECT_EQ(code, ErrorCode::kUnknown);  // never inside the call
  });
  context.run();
  EXPECT_EQ(code, ErrorCode::kCancelled);
}

asio::awaitable<void> first_of_two(const AsioBridge& bridge, Future<int> never, Future<int> soon,
                                   std::size_t* winner) {
  using namespace asio::experimental::awaitable_operators;  // NOLINT(google-build-using-namespace)
  const auto first = co_await (bridge.async_wait(std::move(never), asio::use_awaitable) ||
                               bridge.async_wait(std::move(soon), asio::use_awaitable));
  *winner = first.index();
}

TEST(AsioBridgeTest, LoserOfTwoAwaitsIsCancelled) {
  asio::io_context context;
  AsioBridge bridge(context);
  Promise<int> never;
  std::size_t winner = 9;
  asio::co_spawn(context, first_of_two(bridge, never.future(), make_ready(1), &winner),
                 asio::detached);
  context.run();  // ends only because the other wait was cancelled
  EXPECT_EQ(winner, 1U);
}

TEST(AsioBridgeTest, ThrowingHandlerMakesRunThrow) {
  asio::io_context context;
  AsioBridge bridge(context);
  bridge.async_wait(make_ready(1), [](const Result<int>&) { throw std::runtime_error("mine"); });
  EXPECT_THROW(context.run(), std::runtime_error);
}

TEST(AsioBridgeTest, CloseGivesCancelledToHandlersBeforeItCompletes) {
  asio::io_context context;
  AsioBridge bridge(context);
  Promise<int> never;
  std::vector<ErrorCode> codes;
  bridge.async_wait(never.future(), [&](Result<int> r) { codes.push_back(r.error().code()); });
  bool told_first = false;
  bridge.close()
      .then(inline_executor(), [&](const Status&) { told_first = codes.size() == 1; })
      .ignore();
  context.run();
  EXPECT_EQ(codes, std::vector<ErrorCode>{ErrorCode::kCancelled});
  EXPECT_TRUE(told_first);
}

TEST(AsioBridgeTest, EveryThreadThatHasRunCallbacksCountsAsBridged) {
  constexpr std::size_t kThreads = 3;
  asio::io_context context;
  const auto work = asio::make_work_guard(context);
  AsioBridge bridge(context);
  std::array<bool, kThreads> during{}, after{};
  std::barrier together(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t turn = 0; turn < kThreads; ++turn) {
        bool ran = false;
        if (turn == t) post(bridge.executor(), [&ran] { ran = true; });
        while (turn == t && !ran) context.run_one();
        together.arrive_and_wait();
      }
      during[t] = on_bridged_thread();
      together.arrive_and_wait();
      if (t == 0) {
        const Future<void> closed = bridge.close();
        while (!closed.ready()) context.run_one();
      }
      together.arrive_and_wait();
      after[t] = on_bridged_thread();
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(during, (std::array{true, true, true}));
  EXPECT_EQ(after, (std::array{false, false, false}));
}

// What only the address sanitizer sees: nothing of ours reaches into an io_context that is gone.
TEST(AsioBridgeTest, ValuesMayComeAfterTheBridgeAndTheContextAreGone) {
  Promise<int> promise;
  std::vector<Future<int>> results;
  int told = 0;
  for (const bool close : {true, false}) {
    asio::io_context context;
    const AsioBridge bridge(context);
    results.push_back(promise.future().then(bridge, [](Result<int> r) { return r.value_or(-1); }));
    bridge.async_wait(promise.future(), [&](const Result<int>&) { ++told; });
    if (close) static_cast<void>(bridge.close());
    while (close && context.run_one() != 0) {
    }
  }
  promise.set(1);
  EXPECT_EQ(results[0].take().value(), -1);
  EXPECT_EQ(results[1].take().error().code(), ErrorCode::kAborted);
  EXPECT_EQ(told, 1);
}

// The push wins over the close by a hair: its wake-up comes when everything is gone.
TEST(AsioBridgeStressTest, PushesRaceWithTheEndOfTheContext) {
  for (int round = 0; round < 2000; ++round) {
    Promise<int> promise;
    std::atomic<bool> begun{false};
    std::thread pusher;
    {
      asio::io_context context;
      const AsioBridge bridge(context);
      context.poll();  // asleep: the push wakes it
      promise.future().then(bridge, [](const Result<int>&) {}).ignore();
      pusher = std::thread([&] {
        begun.store(true);
        promise.set(1);
      });
      while (!begun.load()) std::this_thread::yield();
      context.restart();
      const Future<void> closed = bridge.close();
      context.run();
      EXPECT_TRUE(closed.ready());
    }
    pusher.join();
  }
}

// The thread sanitizer looks at the cancellation slots: several threads run the strands.
TEST(AsioBridgeStressTest, LosersOfTwoAwaitsAreCancelledOnTheirStrands) {
  constexpr std::size_t kPairs = 1000;
  asio::io_context context;
  AsioBridge bridge(context);
  std::vector<Promise<int>> promises(2 * kPairs);
  std::vector<std::size_t> winners(kPairs, 9);
  for (std::size_t i = 0; i < kPairs; ++i) {
    asio::co_spawn(
        asio::make_strand(context),
        first_of_two(bridge, promises[2 * i].future(), promises[2 * i + 1].future(), &winners[i]),
        asio::detached);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back([&] { context.run(); });
  for (auto& p : promises) p.set(1);
  for (auto& t : threads) t.join();
  for (const std::size_t winner : winners) EXPECT_LE(winner, 1U);
}

TEST(AsioBridgeStressTest, SeveralThreadsRunTheContextAndCallbacksComeOneAtATime) {
  constexpr int kValues = 20000;
  asio::io_context context;
  AsioBridge bridge(context);
  std::vector<Promise<int>> promises(kValues);
  int seen = 0;  // plain: callbacks of one bridge never overlap
  for (auto& p : promises) p.future().then(bridge, [&](Result<int>) { ++seen; }).ignore();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back([&] { context.run(); });
  for (auto& p : promises) p.set(1);
  for (auto& t : threads) t.join();
  EXPECT_EQ(seen, kValues);
}

}  // namespace
}  // namespace millrace
