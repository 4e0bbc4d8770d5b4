// Futures, combinators, scopes, timers, the pool and graphs between real threads: races are what is
// tested.
#include "millrace/core/async/async_value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/async/graph.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/exec/make_executor.h"

namespace millrace {
namespace {

// Starts all bodies as nearly together as threads can, and waits for them.
template <class... Fs>
void race(Fs... bodies) {
  std::atomic<int> missing{sizeof...(bodies)};
  const auto go = [&missing](auto& body) {
    missing.fetch_sub(1);
    while (missing.load() > 0) std::this_thread::yield();
    body();
  };
  std::vector<std::thread> threads;
  (threads.emplace_back([&] { go(bodies); }), ...);
  for (std::thread& t : threads) t.join();
}

constexpr int kRounds = 500;

struct CountingWaiter final : Waiter {
  std::atomic<int> told{0};
  int seen = 0;
  void on_complete(AsyncValue& value) noexcept override {
    seen = static_cast<Cell<int>&>(value).result().value();
    told.fetch_add(1);
  }
};

TEST(AsyncValueTest, WaitersAreNotifiedInTheOrderInWhichTheyCame) {
  struct Ordered final : Waiter {
    std::vector<int>* order;
    int number;
    void on_complete(AsyncValue&) noexcept override { order->push_back(number); }
  };
  std::vector<int> order;  // AV-3
  auto cell = make_ref<Cell<int>>();
  std::vector<Ordered> waiters(4);
  for (int i = 0; i < 4; ++i) {
    waiters[i].order = &order;
    waiters[i].number = i;
    cell->add_waiter(&waiters[i]);
  }
  cell->set(1);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST(AsyncValueTest, SecondAttemptLoses) {
  auto cell = make_ref<Cell<int>>();  // AV-1
  EXPECT_TRUE(cell->try_set(1));
  EXPECT_FALSE(cell->try_set(2));
  EXPECT_EQ(*cell->result(), 1);
}

TEST(AsyncValueStressTest, WaiterThatRacesWithSetIsNotifiedOnceAndSeesTheValue) {
  for (int i = 0; i < kRounds; ++i) {
    auto cell = make_ref<Cell<int>>();  // AV-2, AV-3
    CountingWaiter a, b;
    race([&] { cell->add_waiter(&a); }, [&] { cell->set(i); }, [&] { cell->add_waiter(&b); });
    ASSERT_EQ(a.told, 1);
    ASSERT_EQ(b.told, 1);
    ASSERT_EQ(a.seen, i);
    ASSERT_EQ(b.seen, i);
  }
}

TEST(AsyncValueStressTest, OneOfManySettersWins) {
  for (int i = 0; i < kRounds; ++i) {
    auto cell = make_ref<Cell<int>>();  // AV-1
    std::atomic<int> won{0};
    race([&] { won += cell->try_set(1); }, [&] { won += cell->try_set(2); });
    ASSERT_EQ(won, 1);
  }
}

TEST(FutureStressTest, ThenThatRacesWithSetRunsOnce) {
  auto executor = make_executor(ExecutorBackend::kThreads, 2, "then");
  for (int i = 0; i < kRounds; ++i) {
    Promise<int> promise;
    Future<int> source = promise.future(), out;
    race([&] { promise.set(i); },
         [&] { out = source.then(*executor, [](Result<int> r) { return *r + 1; }); });
    ASSERT_EQ(wait_blocking(out).value(), i + 1);
  }
}

TEST(CombinatorsStressTest, AllAndAnyOfInputsSetByRacingThreads) {
  for (int i = 0; i < kRounds; ++i) {
    Promise<int> a, b;
    Future<void> all = when_all(a.future(), b.future());
    Future<std::size_t> any = when_any(std::vector<Future<int>>{a.future(), b.future()});
    race([&] { a.set(1); }, [&] { b.set_error(Error(ErrorCode::kDataLoss, "b")); });
    ASSERT_EQ(all.result().error().code(), ErrorCode::kDataLoss);
    ASSERT_LT(*any.result(), 2u);
  }
}

TEST(CombinatorsStressTest, StopDeadlineAndValueRaceForOneCompletion) {
  for (int i = 0; i < kRounds; ++i) {
    ManualClock clock;
    TimerQueue timers(clock);
    std::stop_source stop;
    Promise<int> promise;
    Future<int> limited =
        with_options(promise.future(),
                     {.stop = stop.get_token(), .deadline = clock.now() + Duration(1)}, timers);
    clock.advance(Duration(1));
    race([&] { promise.set(1); }, [&] { stop.request_stop(); }, [&] { timers.run_due(); });
    ASSERT_TRUE(limited.ready());
    ASSERT_EQ(timers.pending(), 0u);
  }
}

TEST(TimerQueueStressTest, CancelThatRacesWithFiringHasOneWinner) {
  for (int i = 0; i < kRounds; ++i) {
    ManualClock clock;
    TimerQueue timers(clock);
    std::atomic<int> fired{0};
    const auto id = timers.schedule(clock.now(), [&] { fired.fetch_add(1); });
    std::atomic<int> cancelled{0};
    race([&] { timers.run_due(); }, [&] { cancelled += timers.cancel(id); });
    ASSERT_EQ(fired + cancelled, 1);
  }
}

TEST(ScopeStressTest, CloseThatRacesWithHoldersCompletesAfterTheLast) {
  for (int i = 0; i < kRounds; ++i) {
    Scope scope("test scope");
    std::atomic<int> inside{0};
    Future<void> closed;
    const auto hold = [&] {
      if (Scope::Hold h = scope.hold()) {
        inside.fetch_add(1);
        std::this_thread::yield();
        inside.fetch_sub(1);
      }
    };
    std::atomic<int> inside_at_close{-1};
    const auto close = [&] {
      closed = scope.close();
      closed.then(inline_executor(), [&](const Status&) { inside_at_close = inside.load(); })
          .ignore();
    };
    race(hold, close, hold);
    ASSERT_TRUE(closed.ready());
    ASSERT_EQ(inside_at_close, 0);
    ASSERT_EQ(scope.holders(), 0u);
    ASSERT_FALSE(scope.hold());
  }
}

TEST(PoolStressTest, BlocksFreedOnOtherThreadsComeBackWhole) {
  auto consumer = make_executor(ExecutorBackend::kThreads, 2, "pool");
  std::atomic<int> wrong{0}, left{4 * kRounds};
  for (int i = 0; i < 4 * kRounds; ++i) {
    const std::size_t size = 1 + static_cast<std::size_t>(i) % 1200;
    auto* block = static_cast<unsigned char*>(pool_allocate(size));
    std::fill_n(block, size, static_cast<unsigned char>(i));
    post(*consumer, [&, block, size, i] {
      for (std::size_t b = 0; b < size; ++b) wrong += block[b] != static_cast<unsigned char>(i);
      pool_free(block, size);
      left.fetch_sub(1);
    });
  }
  while (left.load() > 0) std::this_thread::yield();
  EXPECT_EQ(wrong, 0);
}

TEST(GraphStressTest, ManyRunsInFlightOnThreadsGiveTheirOwnResults) {
  auto executor = make_executor(ExecutorBackend::kThreads, 2, "graph");
  GraphBuilder b;  // GR-1, GR-2, GR-3
  Slot<int> x = b.input<int>("x");
  std::vector<Slot<int>> layer(8, x);
  for (int depth = 0; depth < 6; ++depth) {
    for (std::size_t i = 0; i < layer.size(); ++i) {
      Executor& where =
          (i + static_cast<std::size_t>(depth)) % 3 == 0 ? inline_executor() : *executor;
      layer[i] = b.node(
          "", where, [](int p, int q) { return (p + q) / 2 + 1; }, layer[i], layer[(i + 1) % 8]);
    }
  }
  auto sum = b.node_list<int>(
      "sum", *executor,
      [](const SlotValues<int>& v) {
        int s = 0;
        for (std::size_t i = 0; i < v.size(); ++i) s += v[i];
        return s;
      },
      layer);
  b.output(sum);
  Graph graph = b.build().value();
  const auto reference = [&](int start) {
    return wait_blocking(graph.start({make_ready(start)})->output(sum)).value();
  };
  const int base = reference(0);
  for (int round = 0; round < 40; ++round) {
    std::vector<Future<int>> outs;
    std::vector<Promise<int>> inputs(8);
    for (auto& p : inputs) outs.push_back(graph.start({p.future()})->output(sum));
    for (int i = 0; i < 8; ++i) inputs[i].set(i);
    // Every node adds one to the mean of its inputs, so the sum grows by 8 with the input.
    for (int i = 0; i < 8; ++i) ASSERT_EQ(wait_blocking(outs[i]).value(), base + 8 * i);
  }
}

TEST(GraphStressTest, StopThatRacesWithInputsAndNodesEndsEveryRunOnce) {
  auto executor = make_executor(ExecutorBackend::kThreads, 2, "graph");
  GraphBuilder b;  // GR-2
  Slot<int> x = b.input<int>("x");
  Slot<int> y = b.input<int>("y");
  Slot<int> last = b.node("first", *executor, [](int p, int q) { return p + q; }, x, y);
  for (int i = 0; i < 5; ++i) last = b.node("", *executor, [](int p) { return p; }, last);
  b.output(last);
  Graph graph = b.build().value();
  for (int i = 0; i < kRounds; ++i) {
    std::stop_source stop;
    Promise<int> px, py;
    auto run = graph.start({px.future(), py.future()}, {.stop = stop.get_token()});
    race([&] { px.set(1); }, [&] { stop.request_stop(); }, [&] { py.set(2); });
    const Result<int> out = wait_blocking(run->output(last));
    ASSERT_TRUE(out ? *out == 3 : out.error().code() == ErrorCode::kCancelled);
    static_cast<void>(wait_blocking(run->done()));
  }
}

}  // namespace
}  // namespace millrace
