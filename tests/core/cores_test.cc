#include "millrace/core/base/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace millrace {
namespace {

TEST(CoresTest, AreThoseThatTheThreadIsAllowed) {
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(usable_cores(), CPU_COUNT(&all));
  std::thread([&all] {  // only this thread is bound
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int core = 0; CPU_COUNT(&one) == 0; ++core) {
      if (CPU_ISSET(core, &all)) CPU_SET(core, &one);
    }
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(usable_cores(), 1);
  })
      .join();
}

}  // namespace
}  // namespace millrace
