#include "millrace/core/base/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <string>
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

TEST(CoresTest, AThreadStaysOnItsOwnAndOthersThatItMayNotUseAreNamed) {
  std::thread([] {
    int first = 0;
    while (!check_cores({first})) ++first;
    keep_on_cores({first});
    EXPECT_EQ(usable_cores(), 1);
    EXPECT_TRUE(check_cores({first}));
    const Status other = check_cores({first, first + 1});
    ASSERT_FALSE(other);
    EXPECT_NE(other.error().message().find("core " + std::to_string(first + 1)), std::string::npos);
    EXPECT_FALSE(check_cores({-1}));
  }).join();
}

}  // namespace
}  // namespace millrace
