#include "millrace/transfer/staging_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include "millrace/core/async/timer_queue.h"
#include "millrace/core/base/clock.h"

namespace millrace::transfer {
namespace {

using namespace std::chrono_literals;

class StagingPoolTest : public ::testing::Test {
 protected:
  // A block that is there at once.
  static StagingBlock now(StagingPool& pool, std::size_t bytes) {
    Future<StagingBlock> future = pool.acquire(bytes);
    EXPECT_TRUE(future.ready());
    return future.take().value();
  }
  static ErrorCode code(const Future<StagingBlock>& future) {
    EXPECT_TRUE(future.ready());
    return future.result().error().code();
  }

  ManualClock clock_;
  TimerQueue timers_{clock_};
  StagingPool pool_{{.max_bytes = 64 << 10}, timers_};
};

TEST_F(StagingPoolTest, BlockHasTheBytesAskedForAtAPageAndIsReused) {
  const std::byte* first = nullptr;
  {
    const StagingBlock block = now(pool_, 5000);
    EXPECT_EQ(block.bytes().size(), 5000u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.bytes().data()) % 4096, 0u);
    first = block.bytes().data();
  }
  EXPECT_EQ(now(pool_, 8000).bytes().data(), first);
  EXPECT_EQ(pool_.metrics().granted, 2u);
  EXPECT_EQ(pool_.metrics().reused, 1u);
}

TEST_F(StagingPoolTest, WaitsAtTheBoundAndIsServedInOrderWhateverTheSize) {
  StagingBlock all = now(pool_, 64 << 10);
  const Future<StagingBlock> large = pool_.acquire(48 << 10);
  const Future<StagingBlock> small = pool_.acquire(100);
  const Future<StagingBlock> medium = pool_.acquire(16 << 10);
  EXPECT_FALSE(large.ready() || small.ready() || medium.ready());
  EXPECT_EQ(pool_.metrics().waiting, 3u);

  all = StagingBlock();

  EXPECT_TRUE(large.ready() && small.ready());
  EXPECT_FALSE(medium.ready());  // 48 + 4 + 16 are more than 64
  large.take()->bytes();         // taken and released
  EXPECT_TRUE(medium.ready());
  EXPECT_EQ(pool_.metrics().waited, 3u);
}

TEST_F(StagingPoolTest, LargeRequestIsNotOvertakenBySmallOnesThatWouldFit) {
  const StagingBlock some = now(pool_, 32 << 10);
  const Future<StagingBlock> large = pool_.acquire(64 << 10);
  const Future<StagingBlock> small = pool_.acquire(100);
  EXPECT_FALSE(large.ready());
  EXPECT_FALSE(small.ready());
}

TEST_F(StagingPoolTest, OwnerKeepsTheBlockOut) {
  std::shared_ptr<const void> owner;
  {
    owner = now(pool_, 4096).owner();
  }
  EXPECT_EQ(pool_.metrics().in_use_bytes, 4096u);
  owner.reset();
  EXPECT_EQ(pool_.metrics().in_use_bytes, 0u);
  EXPECT_EQ(pool_.metrics().cached_bytes, 4096u);
}

TEST_F(StagingPoolTest, RequestThatNeverFitsIsRefused) {
  EXPECT_EQ(code(pool_.acquire((64 << 10) + 1)), ErrorCode::kResourceExhausted);
  EXPECT_EQ(code(pool_.acquire(SIZE_MAX)), ErrorCode::kResourceExhausted);
}

TEST_F(StagingPoolTest, StopTakesAWaiterOutAndLetsTheNextIn) {
  const StagingBlock some = now(pool_, 32 << 10);
  std::stop_source stop;
  const Future<StagingBlock> large = pool_.acquire(64 << 10, {.stop = stop.get_token()});
  const Future<StagingBlock> small = pool_.acquire(100);

  stop.request_stop();

  EXPECT_EQ(code(large), ErrorCode::kCancelled);
  EXPECT_TRUE(small.ready());
  EXPECT_EQ(code(pool_.acquire(1, {.stop = stop.get_token()})), ErrorCode::kCancelled);
}

TEST_F(StagingPoolTest, DeadlineTakesAWaiterOut) {
  StagingBlock all = now(pool_, 64 << 10);
  const Future<StagingBlock> waiting = pool_.acquire(1, {.deadline = clock_.now() + 5ms});
  EXPECT_FALSE(waiting.ready());

  clock_.advance(5ms);
  timers_.run_due();

  EXPECT_EQ(code(waiting), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(code(pool_.acquire(1, {.deadline = clock_.now()})), ErrorCode::kDeadlineExceeded);
  all = StagingBlock();
  EXPECT_EQ(code(pool_.acquire(1, {.deadline = clock_.now()})), ErrorCode::kDeadlineExceeded)
      << "too late, though there is room";
}

TEST_F(StagingPoolTest, ServedWaiterTakesItsTimerBack) {
  StagingBlock all = now(pool_, 64 << 10);
  const Future<StagingBlock> waiting = pool_.acquire(1, {.deadline = clock_.now() + 5ms});
  all = StagingBlock();
  EXPECT_TRUE(waiting.ready());
  EXPECT_EQ(timers_.pending(), 0u);
}

TEST_F(StagingPoolTest, TooManyWaitersAreRefused) {
  StagingPool pool({.max_bytes = 4096, .max_waiting = 1}, timers_);
  const StagingBlock all = now(pool, 1);
  const Future<StagingBlock> first = pool.acquire(1);
  EXPECT_EQ(code(pool.acquire(1)), ErrorCode::kResourceExhausted);
  EXPECT_FALSE(first.ready());
}

TEST_F(StagingPoolTest, FailureOfTheSystemIsAnErrorAndBooksNothing) {
  StagingPool pool({.max_bytes = std::size_t{1} << 61}, timers_);
  const Future<StagingBlock> huge = pool.acquire(std::size_t{1} << 60);
  EXPECT_EQ(code(huge), ErrorCode::kResourceExhausted);
  EXPECT_NE(huge.result().error().message().find("no memory"), std::string::npos);
  EXPECT_EQ(pool.metrics().in_use_bytes, 0u);
}

TEST_F(StagingPoolTest, TrimGivesCachedBlocksBackAndThePeakStays) {
  now(pool_, 40000);
  EXPECT_GT(pool_.metrics().cached_bytes, 0u);
  pool_.trim();
  EXPECT_EQ(pool_.metrics().cached_bytes, 0u);
  EXPECT_EQ(pool_.metrics().peak_in_use_bytes, StagingPool::block_bytes(40000));
}

TEST_F(StagingPoolTest, CloseCancelsWaitersRefusesNewAndWaitsForBlocks) {
  StagingBlock out = now(pool_, 64 << 10);
  const Future<StagingBlock> waiting = pool_.acquire(1);

  const Future<void> closed = pool_.close();

  EXPECT_EQ(code(waiting), ErrorCode::kCancelled);
  EXPECT_EQ(code(pool_.acquire(1)), ErrorCode::kUnavailable);
  EXPECT_FALSE(closed.ready());
  out = StagingBlock();
  EXPECT_TRUE(closed.ready());
  EXPECT_EQ(pool_.metrics().cached_bytes, 0u);
  EXPECT_TRUE(pool_.close().ready());
}

TEST_F(StagingPoolTest, BlockOutlivesThePool) {
  StagingBlock block;
  {
    StagingPool pool({.max_bytes = 1 << 20}, timers_);
    block = now(pool, 1000);
  }
  std::memset(block.bytes().data(), 1, block.bytes().size());
}

// Real threads, because the question is what two of them do to one block. Every block carries the
// number of its user; a second user of the same bytes would overwrite it.
TEST(StagingPoolStressTest, ManyThreadsNeverShareABlockAndAllGetTheirTurn) {
  const int rounds = std::getenv("MILLRACE_LONG") != nullptr ? 20000 : 1000;
  constexpr int kThreads = 4;
  TimerQueue timers(steady_clock());
  StagingPool pool({.max_bytes = 256 << 10}, timers);
  std::atomic<int> good = 0, stopped = 0;
  const auto work = [&](int me) {
    std::mt19937 random(static_cast<unsigned>(me));
    for (int i = 0; i < rounds; ++i) {
      std::stop_source stop;
      const Future<StagingBlock> future =
          pool.acquire(random() % (128 << 10), {.stop = stop.get_token()});
      if (random() % 4 == 0) stop.request_stop();
      while (!future.ready()) std::this_thread::yield();
      Result<StagingBlock> block = future.take();
      if (!block) {
        EXPECT_EQ(block.error().code(), ErrorCode::kCancelled);
        ++stopped;
        continue;
      }
      ++good;
      const std::span<std::byte> bytes = block->bytes();
      if (bytes.empty()) continue;
      bytes.front() = bytes.back() = static_cast<std::byte>(me);
      std::this_thread::yield();
      EXPECT_EQ(bytes.front(), static_cast<std::byte>(me));
      EXPECT_EQ(bytes.back(), static_cast<std::byte>(me));
      if (i % 64 == 0) pool.trim();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
  }
  EXPECT_EQ(good + stopped, kThreads * rounds);
  EXPECT_GT(good, kThreads * rounds / 2);
  EXPECT_LE(pool.metrics().peak_in_use_bytes, 256u << 10);
  EXPECT_EQ(pool.metrics().in_use_bytes, 0u);
  EXPECT_TRUE(pool.close().ready());
}

// Closing while other threads acquire and release: close completes, and no thread hangs.
TEST(StagingPoolStressTest, CloseWhileInUseCompletes) {
  for (int round = 0; round < 50; ++round) {
    TimerQueue timers(steady_clock());
    StagingPool pool({.max_bytes = 16 << 10}, timers);
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&pool] {
        while (true) {
          const Future<StagingBlock> future = pool.acquire(9000);
          while (!future.ready()) std::this_thread::yield();
          if (!future.take()) return;
        }
      });
    }
    const Future<void> closed = pool.close();
    threads.clear();
    EXPECT_TRUE(closed.ready());
  }
}

}  // namespace
}  // namespace millrace::transfer
