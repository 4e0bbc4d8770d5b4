#include "millrace/transfer/permutation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace millrace::transfer {
namespace {

std::vector<std::uint64_t> order(std::uint64_t n, std::uint64_t seed, std::uint64_t epoch) {
  const Permutation permutation(n, seed, epoch);
  std::vector<std::uint64_t> items;
  for (std::uint64_t i = 0; i < n; ++i) items.push_back(permutation(i));
  return items;
}

TEST(PermutationTest, EverySizeIsABijection) {
  for (std::uint64_t n :
       {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 63, 64, 65, 100, 255, 257, 1000, 4096, 60000}) {
    std::vector<bool> seen(n);
    for (std::uint64_t item : order(n, 42, n)) {
      ASSERT_LT(item, n);
      ASSERT_FALSE(seen[item]) << "item " << item << " twice among " << n;
      seen[item] = true;
    }
  }
}

TEST(PermutationTest, TheLargestSizesStayInside) {
  for (std::uint64_t n : {(1ull << 40) + 12345, (1ull << 62) + 1, ~0ull}) {
    const Permutation permutation(n, 1, 2);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < 1000; ++i) seen.insert(permutation(n - 1 - i));
    EXPECT_EQ(seen.size(), 1000u);
    EXPECT_LT(*seen.rbegin(), n);
  }
}

// Worked out by a second program in another language.
TEST(PermutationTest, TheOrderIsTheSameOnEveryPlatform) {
  EXPECT_EQ(order(10, 1, 0), (std::vector<std::uint64_t>{3, 0, 8, 5, 9, 7, 2, 1, 4, 6}));
}

TEST(PermutationTest, AnotherSeedOrEpochGivesAnotherOrder) {
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t epoch = 0; epoch < 10; ++epoch) orders.insert(order(50, seed, epoch));
  }
  EXPECT_EQ(orders.size(), 100u);
}

// Over many epochs each item must come to each position equally often: chi-squared over an n x n
// table.
TEST(PermutationTest, PositionsAreUniformOverEpochs) {
  for (std::uint64_t n : {3, 10, 20}) {
    constexpr int kEpochs = 20'000;
    std::vector<std::vector<int>> counts(n, std::vector<int>(n));
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      const Permutation permutation(n, 5, epoch);
      for (std::uint64_t i = 0; i < n; ++i) ++counts[i][permutation(i)];
    }
    const double expected = static_cast<double>(kEpochs) / n;
    double chi2 = 0;
    for (const auto& row : counts) {
      for (int count : row) chi2 += (count - expected) * (count - expected) / expected;
    }
    const double freedom = static_cast<double>((n - 1) * (n - 1));
    EXPECT_LT(chi2, freedom + 5 * std::sqrt(2 * freedom)) << "n = " << n;
  }
}

// Neighbours must not stay neighbours: a random order keeps 1 of n pairs (i, i + 1) together on
// average.
TEST(PermutationTest, NeighboursAreTornApart) {
  const std::vector<std::uint64_t> items = order(60'000, 9, 1);
  int together = 0;
  for (std::size_t i = 0; i + 1 < items.size(); ++i) together += items[i] + 1 == items[i + 1];
  EXPECT_LT(together, 8);
}

}  // namespace
}  // namespace millrace::transfer
