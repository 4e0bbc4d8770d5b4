#include "millrace/core/base/memory_left.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <cstddef>
#include <fstream>
#include <new>
#include <string>
#include <thread>

#include "millrace/core/async/executor.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/clock.h"
#include "millrace/core/observe/trace.h"
#include "tests/support/memory_limit.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using testing::kMemoryCanBeLimited;
using testing::MemoryLimit;

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(MemoryLeftTest, WithoutALimitThereIsAlwaysSome) {
  EXPECT_TRUE(memory_left(0));
  EXPECT_TRUE(memory_left(std::size_t{1} << 62));
  EXPECT_TRUE(check_memory_left("anything", std::size_t{1} << 62));
}

TEST(MemoryLeftTest, UnderALimitAReserveIsKept) {
  if (!kMemoryCanBeLimited) GTEST_SKIP() << "a sanitizer takes the addresses for itself";
  const MemoryLimit limit(kReservedBytes + 64 * kMiB);
  EXPECT_TRUE(memory_left(0));
  EXPECT_TRUE(memory_left(32 * kMiB));
  EXPECT_FALSE(memory_left(80 * kMiB));
  EXPECT_FALSE(memory_left(std::size_t{0} - 1));
  const Status told = check_memory_left("a large array", 80 * kMiB);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_THAT(told.error().message(),
              HasSubstr("no memory for a large array: 83886080 bytes are needed; the process may "
                        "have "));
  EXPECT_THAT(told.error().message(), HasSubstr("ulimit -v"));
  ASSERT_NE(told.error().detail<MemoryShortage>(), nullptr);
  EXPECT_EQ(told.error().detail<MemoryShortage>()->bytes, 80 * kMiB);
}

TEST(MemoryLeftTest, ALimitOfDataIsKeptToo) {
  if (!kMemoryCanBeLimited) GTEST_SKIP() << "a sanitizer takes the addresses for itself";
  struct rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_DATA, &before), 0);
  std::size_t has = 0;
  {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word && word != "VmData:";) {
    }
    ASSERT_TRUE(status >> has);
  }
  struct rlimit limit = before;
  limit.rlim_cur = has * 1024 + kReservedBytes + 64 * kMiB;
  ASSERT_EQ(::setrlimit(RLIMIT_DATA, &limit), 0);
  const bool some = memory_left(32 * kMiB);
  const bool too_much = memory_left(80 * kMiB);
  ASSERT_EQ(::setrlimit(RLIMIT_DATA, &before), 0);
  EXPECT_TRUE(some);
  EXPECT_FALSE(too_much);
}

// While one thread asks, another gets all that there is.
TEST(MemoryLeftTest, AskingTakesNothing) {
  if (!kMemoryCanBeLimited) GTEST_SKIP() << "a sanitizer takes the addresses for itself";
  std::atomic<bool> over{false};
  int refused = 0;
  std::thread asks;
  {
    std::atomic<bool> asking{false};
    const std::size_t size = kReservedBytes + 64 * kMiB;
    asks = std::thread([&] {
      while (!over) {
        static_cast<void>(memory_left(56 * kMiB));
        asking = true;
      }
    });
    while (!asking) std::this_thread::yield();
    const MemoryLimit limit(size);
    for (int i = 0; i < 2000; ++i) {
      void* const taken = ::mmap(nullptr, size - 8 * kMiB, PROT_NONE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (taken == MAP_FAILED) {
        ++refused;
      } else {
        ::munmap(taken, size - 8 * kMiB);
      }
    }
    over = true;
    asks.join();
  }
  EXPECT_EQ(refused, 0);
}

TEST(MemoryLeftTest, BadAllocOfACallbackIsResourceExhausted) {
  const Future<int> plain =
      make_ready().then(inline_executor(), [](const Status&) -> int { throw std::bad_alloc(); });
  ASSERT_FALSE(plain.result());
  EXPECT_EQ(plain.result().error().code(), ErrorCode::kResourceExhausted);
  EXPECT_THAT(plain.result().error().message(), HasSubstr("no memory is left"));
  EXPECT_NE(plain.result().error().detail<MemoryShortage>(), nullptr);

  const Future<int> known = make_ready().then(
      inline_executor(), [](const Status&) -> int { throw NoMemory(no_memory("a picture", 7)); });
  ASSERT_FALSE(known.result());
  EXPECT_EQ(known.result().error().code(), ErrorCode::kResourceExhausted);
  EXPECT_THAT(known.result().error().message(),
              HasSubstr("no memory for a picture: 7 bytes are needed"));
}

// On a thread of its own, which has no ring yet.
TEST(MemoryLeftTest, ATraceContinuesWithoutARingThatDoesNotFitInMemory) {
  if (!kMemoryCanBeLimited) GTEST_SKIP() << "a sanitizer ends the process at such a size";
  TraceRecorder recorder(steady_clock(), std::size_t{1} << 44);
  const TraceLane lane = recorder.lane("lane");
  const TraceName name = recorder.name("name");
  std::thread([&] {
    recorder.record({.lane = lane, .name = name});
    const TraceScope scope(&recorder, lane, name);
  }).join();
  EXPECT_TRUE(recorder.events().empty());
}

}  // namespace
}  // namespace millrace
