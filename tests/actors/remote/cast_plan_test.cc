#include "millrace/actors/remote/cast_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millrace::actors {
namespace {

// How many messages each rank gets and sends, and in which order answers are reduced.
struct Walk {
  std::map<std::uint32_t, int> in, out;
  std::vector<std::uint32_t> order;

  void visit(std::uint32_t at, const CastRanks& ranks) {
    const auto own = ranks.find(at);
    bool own_due = own.has_value();
    for (const CastPart& part : split_cast({0, ranks.size()}, own)) {
      if (own_due && part.begin > *own) {
        order.push_back(at);
        own_due = false;
      }
      const CastRanks below = ranks.part(part);
      ++out[at], ++in[below.at(0)];
      visit(below.at(0), below);
      ++out[below.at(0)], ++in[at];
    }
    if (own_due) order.push_back(at);
  }
};

TEST(CastPlanTest, EachRankIsAskedOnceInOrderAndNoneTalksMuch) {
  for (std::uint32_t size = 1; size <= 200; ++size) {
    for (const std::uint32_t caller : {0u, size / 3, size - 1, size}) {  // the last is none of them
      Walk walk;
      walk.visit(caller, CastRanks::all(size));
      ASSERT_EQ(walk.order.size(), size);
      for (std::uint32_t rank = 0; rank < size; ++rank) {
        ASSERT_EQ(walk.order[rank], rank) << "of " << size << " from " << caller;
        ASSERT_LE(walk.in[rank], 9);
        ASSERT_LE(walk.out[rank], 9);
      }
      ASSERT_LE(walk.in[caller], 9);
      ASSERT_LE(walk.out[caller], 9);
    }
  }
}

TEST(CastPlanTest, RanksAreRunsOfNeighbours) {
  const CastRanks ranks = CastRanks::of({7, 3, 4, 9, 3, 8});
  EXPECT_EQ(std::vector(ranks.runs().begin(), ranks.runs().end()),
            (std::vector<RankRun>{{3, 2}, {7, 3}}));
  EXPECT_EQ(ranks.size(), 5u);
  EXPECT_EQ(ranks.at(2), 7u);
  EXPECT_EQ(ranks.find(9), std::optional<std::size_t>(4));
  EXPECT_EQ(ranks.find(5), std::nullopt);
  const CastRanks part = ranks.part({1, 4});
  EXPECT_EQ(std::vector(part.runs().begin(), part.runs().end()),
            (std::vector<RankRun>{{4, 1}, {7, 2}}));
  EXPECT_EQ(CastRanks::all(65536).runs().size(), 1u);
}

TEST(CastPlanTest, RunsOfAnotherProcessAreChecked) {
  EXPECT_TRUE(CastRanks::of_runs({{0, 2}, {3, 1}}, 4).has_value());
  EXPECT_EQ(CastRanks::of_runs({}, 4)->size(), 0u);
  const std::vector<std::vector<RankRun>> wrong = {{{0, 0}},         {{0, 5}},
                                                   {{4, 1}},         {{2, 1}, {0, 1}},
                                                   {{0, 2}, {2, 1}}, {{0xffffffffu, 0xffffffffu}}};
  for (const auto& runs : wrong) EXPECT_FALSE(CastRanks::of_runs(runs, 4).has_value());
}

}  // namespace
}  // namespace millrace::actors
