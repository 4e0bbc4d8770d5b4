#include "millrace/core/base/byte_budget.h"

#include <gtest/gtest.h>

#include <limits>

namespace millrace {
namespace {

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();

TEST(ByteBudgetTest, WhatFitsIsWhatIsLeft) {
  const struct {
    std::size_t limit, used, bytes;
    bool fits;
  } rows[] = {
      {10, 0, 0, true},
      {10, 0, 10, true},
      {10, 0, 11, false},
      {10, 4, 6, true},
      {10, 4, 7, false},
      {10, 10, 0, true},
      {10, 10, 1, false},
      {0, 0, 0, true},
      {0, 0, 1, false},
      {10, 4, kMost, false},
      {kMost, 4, kMost - 4, true},
      {kMost, 4, kMost, false},
  };
  for (const auto& row : rows) {
    ByteBudget budget(row.limit);
    budget.take(row.used);
    EXPECT_EQ(budget.fits(row.bytes), row.fits)
        << row.bytes << " beside " << row.used << " of " << row.limit;
    EXPECT_EQ(budget.left(), row.limit - row.used);
  }
}

TEST(ByteBudgetTest, ThePeakIsTheMostThatWasInUseAtOnce) {
  ByteBudget budget(10);
  const struct {
    std::size_t take, release, used, peak;
  } steps[] = {{4, 0, 4, 4}, {5, 0, 9, 9},   {0, 6, 3, 9},
               {2, 0, 5, 9}, {5, 0, 10, 10}, {0, 10, 0, 10}};
  for (const auto& step : steps) {
    budget.take(step.take);
    budget.release(step.release);
    EXPECT_EQ(budget.used(), step.used);
    EXPECT_EQ(budget.peak(), step.peak);
    EXPECT_EQ(budget.limit(), 10u);
  }
}

TEST(ByteBudgetDeathTest, WhatDoesNotFitOrWasNotTakenIsABug) {
  ByteBudget budget(10);
  budget.take(8);
  EXPECT_DEATH(budget.take(3), "only where they fit");
  EXPECT_DEATH(budget.release(9), "than were taken");
}

}  // namespace
}  // namespace millrace
