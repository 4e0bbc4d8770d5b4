#include "millrace/core/async/coroutine.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"

namespace millrace {
namespace {

class CoroutineTest : public ::testing::Test {
 protected:
  SerialExecutor home{SerialExecutor::InOrder{}};
};

Task<int> add_one(Future<int> x) {
  Result<int> value = co_await x;
  if (!value) co_return value.error();
  co_return *value + 1;
}

TEST_F(CoroutineTest, AwaitGivesTheValueAndContinuesAtHome) {
  Promise<int> x;
  Future<int> y = spawn(home, add_one(x.future()));
  home.run_until_idle();
  x.set(1);
  EXPECT_FALSE(y.ready());  // CO-1: the continuation waits for home
  home.run_until_idle();
  EXPECT_EQ(*y.result(), 2);
}

TEST_F(CoroutineTest, SpawnDoesNotRunTheTaskInside) {
  Future<int> y = spawn(home, add_one(make_ready(1)));
  EXPECT_FALSE(y.ready());
  home.run_until_idle();
  EXPECT_EQ(*y.result(), 2);
}

TEST_F(CoroutineTest, ErrorReachesTheTaskAsAResult) {
  Future<int> y = spawn(home, add_one(Error(ErrorCode::kNotFound, "no")));
  home.run_until_idle();
  EXPECT_EQ(y.result().error().code(), ErrorCode::kNotFound);
}

TEST_F(CoroutineTest, ExceptionBecomesInternal) {
  auto task = []() -> Task<int> {
    throw std::runtime_error("boom");
    co_return 1;
  };
  Future<int> y = spawn(home, task());
  home.run_until_idle();
  EXPECT_EQ(y.result().error().code(), ErrorCode::kInternal);
  EXPECT_NE(y.result().error().message().find("boom"), std::string::npos);
}

TEST_F(CoroutineTest, ExceptionOfAChildIsAResultInItsParent) {
  struct Body {
    static Task<void> child() {
      throw std::runtime_error("boom");
      co_return;
    }
    static Task<bool> parent() {
      Status s = co_await child();
      co_return !s && s.error().code() == ErrorCode::kInternal;
    }
  };
  Future<bool> y = spawn(home, Body::parent());
  home.run_until_idle();
  EXPECT_TRUE(*y.result());
}

TEST_F(CoroutineTest, VoidTaskEndsWithAnErrorInTheMiddle) {
  struct Body {
    static Task<void> run(bool& after) {
      co_await end_with(Error(ErrorCode::kDataLoss, "bad"));
      after = true;
    }
  };
  bool after = false;
  Future<void> y = spawn(home, Body::run(after));
  home.run_until_idle();
  EXPECT_EQ(y.result().error().code(), ErrorCode::kDataLoss);
  EXPECT_FALSE(after);
}

TEST_F(CoroutineTest, MoveOnlyValuePassesThrough) {
  struct Body {
    static Task<std::unique_ptr<int>> child() { co_return std::make_unique<int>(3); }
    static Task<int> parent() {
      auto p = co_await child();
      co_return **p;
    }
  };
  Future<int> y = spawn(home, Body::parent());
  home.run_until_idle();
  EXPECT_EQ(*y.result(), 3);
}

TEST_F(CoroutineTest, HomeThatClosesGivesAbortedAndDestroysLocals) {
  struct Body {
    static Task<int> inner(Future<int> never, std::shared_ptr<int> local) {
      co_await never;
      co_return *local;
    }
    static Task<int> outer(Future<int> never, std::shared_ptr<int> local) {
      auto r = co_await inner(never, local);
      co_return *r;
    }
  };
  auto local = std::make_shared<int>(1);
  Promise<int> promise;
  Future<int> y;
  {
    SerialExecutor closing{SerialExecutor::InOrder{}};
    y = spawn(closing, Body::outer(promise.future(), local));
    closing.run_until_idle();
    promise.set(1);  // the task is queued at home again, and home closes
  }
  EXPECT_EQ(y.result().error().code(), ErrorCode::kAborted);
  EXPECT_EQ(local.use_count(), 1);
}

TEST_F(CoroutineTest, TaskNeverStartedIsDestroyedWithItsArguments) {
  auto local = std::make_shared<int>(1);
  {
    auto task = [](std::shared_ptr<int> p) -> Task<int> { co_return *p; }(local);
    EXPECT_EQ(local.use_count(), 2);
  }
  EXPECT_EQ(local.use_count(), 1);
}

TEST_F(CoroutineTest, StopGivesCancelledInTheAwait) {
  struct Body {
    static Task<std::string> run(Future<int> never) {
      Result<int> r = co_await never;
      std::stop_token stop = co_await current_stop();
      co_return std::string(to_string(r.error().code())) + (stop.stop_requested() ? "!" : "?");
    }
  };
  std::stop_source stop;
  Promise<int> never;
  Future<std::string> y = spawn(home, Body::run(never.future()), stop.get_token());
  home.run_until_idle();
  stop.request_stop();
  home.run_until_idle();
  EXPECT_EQ(*y.result(), "CANCELLED!");
}

// The distance between the stack pointers of the deepest and the shallowest visit.
class StackDepth {
 public:
  void visit() {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    low_ = std::min(low_, here);
    high_ = std::max(high_, here);
  }
  std::size_t bytes() const { return high_ - low_; }

 private:
  std::uintptr_t low_ = UINTPTR_MAX, high_ = 0;
};

// CO-2. The build of this file in tests/CMakeLists.txt is -O0: there, symmetric transfer would
// overflow.
constexpr int kSteps = 1'000'000;

TEST_F(CoroutineTest, MillionReadyAwaitsDoNotGrowTheStack) {
  struct Body {
    static Task<int> run(StackDepth& depth) {
      int sum = 0;
      for (int i = 0; i < kSteps; ++i) {
        sum += *co_await make_ready(1);
        depth.visit();
      }
      co_return sum;
    }
  };
  StackDepth depth;
  Future<int> y = spawn(home, Body::run(depth));
  home.run_until_idle();
  EXPECT_EQ(*y.result(), kSteps);
  EXPECT_LT(depth.bytes(), 4096u);
}

TEST_F(CoroutineTest, MillionChildTasksDoNotGrowTheStack) {
  struct Body {
    static Task<int> one(StackDepth& depth) {
      depth.visit();
      co_return 1;
    }
    static Task<int> run(StackDepth& depth) {
      int sum = 0;
      for (int i = 0; i < kSteps; ++i) sum += *co_await one(depth);
      co_return sum;
    }
  };
  StackDepth depth;
  Future<int> y = spawn(home, Body::run(depth));
  home.run_until_idle();
  EXPECT_EQ(*y.result(), kSteps);
  EXPECT_LT(depth.bytes(), 4096u);
}

TEST_F(CoroutineTest, DeeplyNestedTasksDoNotGrowTheStackWhileRunning) {
  struct Body {
    static Task<int> nest(int levels, StackDepth& depth) {
      depth.visit();
      if (levels == 0) co_return 0;
      Result<int> below = co_await nest(levels - 1, depth);
      depth.visit();
      co_return *below + 1;
    }
  };
  StackDepth depth;
  Future<int> y = spawn(home, Body::nest(10000, depth));
  home.run_until_idle();
  EXPECT_EQ(*y.result(), 10000);
  EXPECT_LT(depth.bytes(), 4096u);
}

TEST_F(CoroutineTest, MillionInlineHopsDoNotGrowTheStack) {
  struct Body {
    static Task<int> run(Executor& other, StackDepth& depth) {
      int sum = 0;
      for (int i = 0; i < kSteps / 10; ++i) {
        sum += *co_await make_ready(1).then(other, [](Result<int> r) { return *r; });
        depth.visit();
      }
      co_return sum;
    }
  };
  StackDepth depth;
  Future<int> y = spawn(home, Body::run(home, depth));
  home.run_until_idle();
  EXPECT_EQ(*y.result(), kSteps / 10);
  EXPECT_LT(depth.bytes(), 4096u);
}

// Real threads: a future completed elsewhere races with the await.
TEST(CoroutineStressTest, AwaitsThatRaceWithCompletionContinueAtHome) {
  auto home = make_executor(ExecutorBackend::kThreads, 1, "home");
  auto other = make_executor(ExecutorBackend::kThreads, 2, "other");
  struct Body {
    static Task<int> run(Executor& other, int rounds) {
      const auto thread = std::this_thread::get_id();
      int here = 0;
      for (int i = 0; i < rounds; ++i) {
        Promise<int> promise;
        Future<int> future = promise.future();
        post(other, [p = std::move(promise), i]() mutable { p.set(i); });
        if (i % 3 == 0) std::this_thread::yield();
        Result<int> r = co_await future;
        here += *r == i && std::this_thread::get_id() == thread;
      }
      co_return here;
    }
  };
  std::vector<Future<int>> tasks;
  for (int t = 0; t < 8; ++t) tasks.push_back(spawn(*home, Body::run(*other, 500)));
  for (const auto& t : tasks) EXPECT_EQ(wait_blocking(t).value(), 500);
}

TEST(CoroutineStressTest, HomeThatClosesMeanwhileEndsEveryTask) {
  for (int round = 0; round < 50; ++round) {
    auto home = make_executor(ExecutorBackend::kThreads, 2, "home");
    auto other = make_executor(ExecutorBackend::kThreads, 1, "other");
    struct Body {
      static Task<int> run(Executor& other) {
        for (int i = 0;; ++i) {
          Result<int> r = co_await make_ready(i).then(other, [](Result<int> v) { return v; });
          if (!r) co_return i;
        }
      }
    };
    std::vector<Future<int>> tasks;
    for (int t = 0; t < 4; ++t) tasks.push_back(spawn(*home, Body::run(*other)));
    EXPECT_TRUE(wait_blocking(home->close()));
    for (const auto& t : tasks) {
      EXPECT_EQ(wait_blocking(t).error().code(), ErrorCode::kAborted);
    }
  }
}

}  // namespace
}  // namespace millrace
