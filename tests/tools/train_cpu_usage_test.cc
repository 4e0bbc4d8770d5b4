// What the system reports of the cores, against work of a known length.
#include "millrace/tools/train/cpu_usage.h"

#include <gtest/gtest.h>

#include <ctime>

namespace millrace::train {
namespace {

using namespace std::chrono_literals;

// Computes until this thread has used so much CPU time.
void burn(Duration cpu) {
  const auto used = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + Duration(t.tv_nsec);
  };
  const Duration begin = used();
  while (used() - begin < cpu) {
  }
}

TEST(CpuUsageTest, WorkOfThisProcessIsCountedAsItsOwnAndWithinTheCores) {
  const CpuUsage before = process_cpu_usage();
  burn(200ms);
  const CpuUsage used = used_between(before, process_cpu_usage());
  EXPECT_GT(used.cores, 0);
  EXPECT_GE(used.process, 195ms);  // getrusage may count in ticks
  if (before.cores_busy > Duration()) {
    EXPECT_GE(used.cores_busy, 100ms);
  }
}

TEST(CpuUsageTest, DifferencesAreNeverNegative) {
  const CpuUsage many{.cores = 2, .process = 3s, .waiting = 3s, .cores_busy = 3s};
  const CpuUsage few{.cores = 1, .process = 1s, .waiting = 1s, .cores_busy = 1s};
  const CpuUsage used = used_between(many, few);
  EXPECT_EQ(used.cores, 1);
  EXPECT_EQ(used.process + used.waiting + used.cores_busy, Duration());
}

TEST(CpuUsageTest, OthersAreWhatThisProcessDidNotUse) {
  const CpuUsage used{.cores = 2, .process = 1s, .waiting = 3s, .cores_busy = 2s};
  EXPECT_EQ(used.others(), 1s);
  const CpuUsage untold{.cores = 2, .process = 1s};
  EXPECT_EQ(untold.others(), Duration());
}

}  // namespace
}  // namespace millrace::train
