#include "millrace/actors/restart_limit.h"

#include <gtest/gtest.h>

namespace millrace::actors {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TimePoint at(int second) { return TimePoint(seconds(second)); }

TEST(RestartLimitTest, AllowsSoManyInAnyWindow) {
  RestartBudget budget({.restarts = 3, .window = seconds(60)});
  EXPECT_TRUE(budget.take(at(0)));
  EXPECT_TRUE(budget.take(at(10)));
  EXPECT_TRUE(budget.take(at(20)));
  EXPECT_FALSE(budget.take(at(59))) << "the fourth within 60 s";
  EXPECT_TRUE(budget.take(at(60))) << "the first is a window ago";
  EXPECT_FALSE(budget.take(at(69))) << "a refused one counts for nothing: 10, 20 and 60 do";
  EXPECT_TRUE(budget.take(at(70)));
  EXPECT_TRUE(budget.take(at(500)));
}

TEST(RestartLimitTest, ZeroAllowsNone) {
  RestartBudget budget({.restarts = 0});
  EXPECT_FALSE(budget.take(at(0)));
  EXPECT_FALSE(budget.take(at(1000)));
}

TEST(RestartLimitTest, SaysWhatItAllows) {
  EXPECT_EQ((RestartLimit{.restarts = 1, .window = seconds(60)}.to_string()),
            "1 restart within 60 s");
  EXPECT_EQ((RestartLimit{.restarts = 4, .window = milliseconds(2500)}.to_string()),
            "4 restarts within 2500 ms");
}

}  // namespace
}  // namespace millrace::actors
