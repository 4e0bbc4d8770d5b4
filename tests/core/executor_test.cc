// The contract of executor.h (EX-1 to EX-3) against every backend. Real threads: the backends are
// what is tested.
#include "millrace/core/async/executor.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <latch>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/core/base/fault_point.h"
#include "millrace/core/exec/make_executor.h"

namespace millrace {
namespace {

struct Counted final : Work {
  std::atomic<int>* ran;
  std::atomic<int>* dropped;
  void run() noexcept override {
    ran->fetch_add(1);
    delete this;
  }
  void drop() noexcept override {
    dropped->fetch_add(1);
    delete this;
  }
};
Counted* counted(std::atomic<int>& ran, std::atomic<int>& dropped) {
  auto* work = new Counted;
  work->ran = &ran;
  work->dropped = &dropped;
  return work;
}

// A gate that work waits at, so that what is behind it is surely still queued. It blocks a worker
// on purpose.
class Gate {
 public:
  void open() {
    open_.store(true);
    open_.notify_all();
  }
  void pass() { open_.wait(false); }

 private:
  std::atomic<bool> open_{false};
};

class ExecutorContractTest : public ::testing::TestWithParam<ExecutorBackend> {
 protected:
  void SetUp() override {
#if defined(MILLRACE_TSAN)
    if (GetParam() == ExecutorBackend::kTbb) GTEST_SKIP() << "oneTBB is not instrumented";
#endif
  }
  std::unique_ptr<PoolExecutor> make(int threads) {
    return make_executor(GetParam(), threads, "test");
  }
};
using ExecutorContractStressTest = ExecutorContractTest;

std::string backend_name(const ::testing::TestParamInfo<ExecutorBackend>& info) {
  return info.param == ExecutorBackend::kTbb ? "Tbb" : "Threads";
}
constexpr ExecutorBackend kBackends[] = {ExecutorBackend::kThreads, ExecutorBackend::kTbb};
INSTANTIATE_TEST_SUITE_P(Backends, ExecutorContractTest, ::testing::ValuesIn(kBackends),
                         backend_name);
INSTANTIATE_TEST_SUITE_P(Backends, ExecutorContractStressTest, ::testing::ValuesIn(kBackends),
                         backend_name);

TEST_P(ExecutorContractTest, SubmitNeverRunsTheWorkInside) {
  auto executor = make(1);  // EX-1
  for (int i = 0; i < 100; ++i) {
    const auto caller = std::this_thread::get_id();
    std::thread::id runner;
    Promise<void> done;
    Future<void> finished = done.future();
    post(*executor, [&, done = std::move(done)]() mutable {
      runner = std::this_thread::get_id();
      done.set_value();
    });
    ASSERT_TRUE(wait_blocking(finished));
    EXPECT_NE(runner, caller);
  }
}

TEST_P(ExecutorContractTest, WorkSubmittedFromWorkRunsLater) {
  auto executor = make(1);  // EX-1
  std::vector<int> order;
  Promise<void> done;
  Future<void> finished = done.future();
  post(*executor, [&] {
    post(*executor, [&] {
      order.push_back(2);
      done.set_value();
    });
    order.push_back(1);
  });
  ASSERT_TRUE(wait_blocking(finished));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_P(ExecutorContractTest, ThreadsCarryTheNameOfTheirExecutor) {
  // Two after each other: a worker of oneTBB may go from one to the other.
  for (const char* name : {"first", "second"}) {
    auto executor = make_executor(GetParam(), 1, name);
    std::string seen(16, '\0');
    Promise<void> done;
    const Future<void> finished = done.future();
    post(*executor, [&] {
      pthread_getname_np(pthread_self(), seen.data(), seen.size());
      done.set_value();
    });
    ASSERT_TRUE(wait_blocking(finished));
    EXPECT_EQ(seen.find(name), 0u) << seen;
  }
}

TEST_P(ExecutorContractTest, CloseDropsWhatHasNotStartedAndWaitsForWhatHas) {
  Gate started, gate;       // outlive the worker that waits at them
  auto executor = make(1);  // EX-2
  std::atomic<int> ran{0}, dropped{0};
  post(*executor, [&] {
    started.open();
    gate.pass();
  });
  started.pass();
  for (int i = 0; i < 10; ++i) executor->submit(counted(ran, dropped));

  Future<void> closed = executor->close();
  EXPECT_FALSE(closed.ready());
  gate.open();

  EXPECT_TRUE(wait_blocking(closed));
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(dropped, 10);
}

TEST_P(ExecutorContractTest, SubmitAfterCloseDropsAtOnce) {
  auto executor = make(2);  // EX-3
  std::atomic<int> ran{0}, dropped{0};
  ASSERT_TRUE(wait_blocking(executor->close()));
  executor->submit(counted(ran, dropped));
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(dropped, 1);
}

TEST_P(ExecutorContractTest, ContinuationOfAClosedExecutorGivesAborted) {
  auto executor = make(1);
  Promise<int> promise;
  Future<int> future = promise.future().then(*executor, [](Result<int> r) { return *r; });
  ASSERT_TRUE(wait_blocking(executor->close()));
  promise.set(1);
  EXPECT_EQ(future.result().error().code(), ErrorCode::kAborted);
}

Task<int> wait_for(Promise<void> begun, Future<int> future, std::shared_ptr<int> kept) {
  begun.set_value();
  const Result<int> value = co_await future;
  co_return value ? *value + *kept : -1;
}

// EX-3: what comes long after its executor is refused, and whatever waited is destroyed.
TEST_P(ExecutorContractTest, WhatWaitsLongerThanTheExecutorEndsWithAborted) {
  Promise<int> promise, other;
  Promise<void> begun[2];
  const Future<void> both = when_all(begun[0].future(), begun[1].future());
  const auto kept = std::make_shared<int>(1);
  Future<int> continued, spawned, chained;
  Executor* reference = nullptr;
  Parallel* parallel = nullptr;
  {
    auto executor = make(2);
    reference = executor.get();
    parallel = &executor->parallel();
    continued = promise.future().then(*executor, [kept](Result<int>) { return *kept; });
    spawned = spawn(*executor, wait_for(std::move(begun[0]), promise.future(), kept));
    const auto first = [&](const Status&) {
      begun[1].set_value();
      return other.future();
    };
    chained =
        make_ready().then(*executor, first).then(*executor, [kept](Result<int> r) { return *r; });
    EXPECT_TRUE(wait_blocking(both));
  }
  EXPECT_EQ(kept.use_count(), 4);
  EXPECT_FALSE(continued.ready() || spawned.ready() || chained.ready());
  promise.set(3);
  other.set(4);
  for (const Future<int>& future : {continued, spawned, chained})
    EXPECT_EQ(future.result().error().code(), ErrorCode::kAborted);
  EXPECT_EQ(kept.use_count(), 1);
  std::atomic<int> ran{0}, dropped{0};
  reference->submit(counted(ran, dropped));
  EXPECT_EQ(dropped, 1);
  parallel->run(4, [&](int) { ran.fetch_add(1); });
  EXPECT_EQ(ran, 4) << "on this thread";
  spawn(*reference, wait_for(Promise<void>(), make_ready(1), kept)).ignore();
  EXPECT_EQ(kept.use_count(), 1);
}

// Work that comes again and again of one submitter does not keep that of another waiting for good.
TEST_P(ExecutorContractTest, NoSubmitterStarves) {
  std::atomic<bool> stop{false};
  auto executor = make(1);
  std::function<void()> again = [&] {
    if (!stop.load()) post(*executor, [&] { again(); });
  };
  post(*executor, [&] { again(); });
  Promise<void> ended;
  const Future<void> all_ended = ended.future();
  post(*executor, [&] {
    stop.store(true);
    ended.set_value();
  });
  EXPECT_TRUE(wait_blocking(all_ended));
  static_cast<void>(wait_blocking(executor->close()));
}

TEST_P(ExecutorContractTest, DestroyedByWhatFollowsItsCloseItEndsTheProcessWithASentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto executor = make(1);
        Executor& home = *executor;
        Promise<void> never;
        // The last call to leave a closing executor completes its close: this one's is over first.
        std::latch posted{1};
        post(home, [&] {
          posted.wait();
          executor->close()
              .then(inline_executor(), [&](const Status&) { executor.reset(); })
              .ignore();
        });
        posted.count_down();
        static_cast<void>(wait_blocking(never.future()));
      },
      "not destroyed on one of its own threads");
}

TEST_P(ExecutorContractTest, DestroyedOnItsOwnThreadItEndsTheProcessWithASentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto executor = make(1);
        Executor& home = *executor;
        post(home, [executor = std::move(executor)]() mutable { executor.reset(); });
        Promise<void> never;
        static_cast<void>(wait_blocking(never.future()));
      },
      "not destroyed on one of its own threads");
}

TEST_P(ExecutorContractStressTest, ValuesThatRaceWithTheEndOfTheExecutorAreConsumedOnce) {
  constexpr int kEach = 300;
  for (int round = 0; round < 60; ++round) {
    auto executor = make(2);
    std::vector<Promise<int>> promises(kEach);
    std::vector<Future<int>> futures;
    for (Promise<int>& promise : promises)
      futures.push_back(promise.future().then(*executor, [](Result<int> r) { return *r; }));
    std::atomic<bool> begun{false};
    std::thread setter([&] {
      for (int i = 0; i < kEach; ++i) {
        promises[static_cast<std::size_t>(i)].set(i);
        begun.store(true);
      }
    });
    while (!begun.load()) std::this_thread::yield();
    executor.reset();
    setter.join();
    for (const Future<int>& future : futures) {
      ASSERT_TRUE(future.ready());
      EXPECT_TRUE(future.result() || future.result().error().code() == ErrorCode::kAborted);
    }
  }
}

TEST_P(ExecutorContractTest, SecondCloseGivesTheSameAnswer) {
  auto executor = make(2);
  EXPECT_TRUE(wait_blocking(executor->close()));
  EXPECT_TRUE(wait_blocking(executor->close()));
}

TEST_P(ExecutorContractTest, ParallelRunsEveryPartOnce) {
  auto executor = make(2);
  std::vector<std::atomic<int>> hits(1000);
  for (int round = 0; round < 50; ++round) {
    executor->parallel().run(1000, [&](int i) { hits[i].fetch_add(1); });
  }
  for (auto& hit : hits) EXPECT_EQ(hit, 50);
}

TEST_P(ExecutorContractTest, ParallelNeedsNoFreeWorker) {
  Gate started, gate;  // outlive the worker that waits at them
  auto executor = make(1);
  post(*executor, [&] {
    started.open();
    gate.pass();
  });
  started.pass();
  int sum = 0;
  std::unique_ptr<Parallel> wide = make_parallel_on(*executor, 4);
  wide->run(10, [&](int i) { sum += i; });  // on this thread alone: no atomics needed
  EXPECT_EQ(sum, 45);
  gate.open();
}

TEST_P(ExecutorContractTest, ParallelInsideParallelEnds) {
  auto executor = make(2);
  std::atomic<int> parts{0};
  executor->parallel().run(
      4, [&](int) { executor->parallel().run(4, [&](int) { parts.fetch_add(1); }); });
  EXPECT_EQ(parts, 16);
}

TEST_P(ExecutorContractTest, ParallelOnAClosedExecutorRunsOnTheCaller) {
  auto executor = make(2);
  ASSERT_TRUE(wait_blocking(executor->close()));
  int parts = 0;
  executor->parallel().run(8, [&](int) { ++parts; });
  EXPECT_EQ(parts, 8);
}

TEST_P(ExecutorContractStressTest, EveryWorkIsConsumedOnceWhenCloseRacesWithSubmit) {
  constexpr int kProducers = 3, kEach = 500;  // EX-2, EX-3
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ran{0}, dropped{0};
    {
      auto executor = make(2);
      std::vector<std::thread> producers;
      for (int p = 0; p < kProducers; ++p) {
        producers.emplace_back([&] {
          for (int i = 0; i < kEach; ++i) executor->submit(counted(ran, dropped));
        });
      }
      while (ran.load() < 10) std::this_thread::yield();
      Future<void> closed = executor->close();
      for (std::thread& p : producers) p.join();
      EXPECT_TRUE(wait_blocking(closed));
    }
    EXPECT_EQ(ran + dropped, kProducers * kEach);
  }
}

TEST_P(ExecutorContractStressTest, ManyKernelsShareOneParallel) {
  auto executor = make(2);
  std::vector<std::thread> callers;
  std::atomic<long> sum{0};
  for (int c = 0; c < 3; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 300; ++round) {
        long mine[16] =
            {};  // plain: each part has its own, and run() must publish them to the caller
        executor->parallel().run(16, [&](int i) { mine[i] = i; });
        for (long m : mine) sum.fetch_add(m);
      }
    });
  }
  for (std::thread& c : callers) c.join();
  EXPECT_EQ(sum, 3L * 300 * 120);
}

TEST(SerialExecutorTest, SameSeedGivesTheSameOrderAndAnotherSeedAnother) {
  const auto order_of = [](std::uint64_t seed) {
    SerialExecutor executor(seed);
    std::vector<int> order;
    for (int i = 0; i < 20; ++i) post(executor, [&order, i] { order.push_back(i); });
    executor.run_until_idle();
    return order;
  };
  EXPECT_EQ(order_of(1), order_of(1));
  EXPECT_NE(order_of(1), order_of(2));
}

TEST(SerialExecutorTest, InOrderKeepsTheOrderOfSubmission) {
  SerialExecutor executor{SerialExecutor::InOrder{}};
  std::vector<int> order;
  for (int i = 0; i < 5; ++i) post(executor, [&order, i] { order.push_back(i); });
  EXPECT_EQ(executor.pending(), 5u);
  EXPECT_EQ(executor.run_until_idle(), 5u);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(SerialExecutorTest, DestructionDropsAlsoWhatDroppingSubmits) {
  std::atomic<int> ran{0}, dropped{0};
  {
    SerialExecutor executor(7);
    struct Resubmits {
      SerialExecutor* executor;
      std::atomic<int>*ran, *dropped;
      bool armed = true;
      Resubmits(SerialExecutor* e, std::atomic<int>* r, std::atomic<int>* d)
          : executor(e), ran(r), dropped(d) {}
      Resubmits(Resubmits&& o) noexcept : executor(o.executor), ran(o.ran), dropped(o.dropped) {
        o.armed = false;
      }
      ~Resubmits() {
        if (armed) executor->submit(counted(*ran, *dropped));
      }
      void operator()() {}
    };
    post(executor, Resubmits(&executor, &ran, &dropped));
  }
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(dropped, 1);
}

TEST(InlineExecutorTest, SubmitRunsTheWorkInside) {
  bool ran = false;
  post(inline_executor(), [&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(TbbExecutorTest, OthersInTheProcessKeepTheWorkersThatOneTbbHasByItself) {
  using Control = oneapi::tbb::global_control;
  const auto workers = [] { return Control::active_value(Control::max_allowed_parallelism); };
  const std::size_t before = workers();
  for (const int threads : {1, static_cast<int>(before) + 2}) {
    const auto executor = make_executor(ExecutorBackend::kTbb, threads, "test");
    EXPECT_GE(workers(), before);
    EXPECT_GT(workers(), static_cast<std::size_t>(threads));
  }
  EXPECT_EQ(workers(), before);
}

TEST(ThreadExecutorTest, ThreadThatDoesNotStartThrowsAndThoseThatDidEnd) {
  const auto threads = [] {
    const std::filesystem::directory_iterator all("/proc/self/task");
    return std::distance(begin(all), end(all));
  };
  std::thread([] {}).join();  // with the first one a sanitizer starts a thread of its own
  for (std::uint64_t which = 1; which <= 3; ++which) {
    const ArmedFault fault("core.start_thread", which, Error(ErrorCode::kAborted, "a test"));
    const auto before = threads();
    try {
      static_cast<void>(make_executor(ExecutorBackend::kThreads, 3, "some"));
      ADD_FAILURE() << "it was made without its thread " << which;
    } catch (const std::system_error& error) {
      EXPECT_NE(std::string(error.what()).find("cannot start the thread some-"), std::string::npos);
    }
    EXPECT_EQ(fault.arrivals(), which) << "no other was started";
    // One that was joined may be seen for a moment.
    while (threads() > before) std::this_thread::yield();
  }
}

}  // namespace
}  // namespace millrace
