#include "millrace/core/net/world_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::net {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void ask(WorldTable& table, const std::vector<std::uint32_t>& ranks) {
  for (const std::uint32_t rank : ranks) table.asked(rank);
}

// Four ranks that have met once.
WorldTable begun(std::uint32_t least) {
  WorldTable table(4, least);
  ask(table, {3, 1, 0, 2});
  const auto world = table.take_next();
  EXPECT_TRUE(world && world->epoch == 1 && world->changed);
  EXPECT_THAT(world->ranks, ElementsAre(0, 1, 2, 3));
  return table;
}

TEST(WorldTableTest, TheFirstWorldWaitsForEachRankThatMayStillCome) {  // JW-1, JW-2
  WorldTable table(3, 2);
  ask(table, {0, 2});
  EXPECT_FALSE(table.take_next()) << "rank 1 has not asked yet";
  table.left(1);
  EXPECT_FALSE(table.take_next()) << "another process of it may come";
  table.ended({.rank = 1}, false);
  const auto world = table.take_next();
  ASSERT_TRUE(world);
  EXPECT_THAT(world->ranks, ElementsAre(0, 2));
  EXPECT_FALSE(table.take_next()) << "once";
}

TEST(WorldTableTest, AllWaitForARankThatIsStartedAnew) {  // JW-1
  WorldTable table = begun(4);
  table.left(1);
  ask(table, {0, 2, 3});
  EXPECT_FALSE(table.take_next());
  table.asked(1);
  const auto world = table.take_next();
  ASSERT_TRUE(world);
  EXPECT_EQ(world->epoch, 2U);
  EXPECT_TRUE(world->changed);
  EXPECT_THAT(world->ranks, ElementsAre(0, 1, 2, 3));
}

TEST(WorldTableTest, FewerGoOnAndTakeInTheNextThatComes) {  // JW-2
  WorldTable table = begun(3);
  ask(table, {0, 2});
  EXPECT_FALSE(table.take_next());
  table.left(1);
  EXPECT_FALSE(table.take_next()) << "rank 3 is there, and has not asked";
  table.asked(3);
  auto world = table.take_next();
  ASSERT_TRUE(world);
  EXPECT_THAT(world->ranks, ElementsAre(0, 2, 3));
  EXPECT_FALSE(table.take_newcomer());

  table.asked(1);
  EXPECT_FALSE(table.take_next()) << "the others work";
  EXPECT_TRUE(table.take_newcomer());
  EXPECT_FALSE(table.take_newcomer()) << "told once";
  EXPECT_THAT(table.awaited(), ElementsAre(0, 2, 3));
  ask(table, {0, 2, 3});
  world = table.take_next();
  ASSERT_TRUE(world);
  EXPECT_EQ(world->epoch, 3U);
  EXPECT_THAT(world->ranks, ElementsAre(0, 1, 2, 3));
}

TEST(WorldTableTest, ARankThatGoesAgainIsNotAwaited) {
  WorldTable table = begun(2);
  ask(table, {0, 1});
  table.left(0);
  table.left(3);
  EXPECT_FALSE(table.take_next()) << "what rank 0 had asked went with its process";
  table.asked(2);
  const auto world = table.take_next();
  ASSERT_TRUE(world);
  EXPECT_THAT(world->ranks, ElementsAre(1, 2));
}

TEST(WorldTableTest, WhenAllHaveDiedTheirNextProcessesBegin) {
  WorldTable table = begun(2);
  for (const std::uint32_t rank : {0U, 1U, 2U, 3U}) table.left(rank);
  ask(table, {1, 2});
  EXPECT_FALSE(table.take_next()) << "the others may have done their work";
  for (const std::uint32_t rank : {0U, 1U, 2U, 3U}) table.lost(rank);
  ask(table, {1, 2});
  const auto world = table.take_next();
  ASSERT_TRUE(world);
  EXPECT_THAT(world->ranks, ElementsAre(1, 2));
}

TEST(WorldTableTest, AWorldOfTheSameProcessesSaysSo) {
  WorldTable table = begun(4);
  ask(table, {0, 1, 2, 3});
  const auto same = table.take_next();
  ASSERT_TRUE(same);
  EXPECT_FALSE(same->changed);
  table.left(2);
  ask(table, {0, 1, 2, 3});
  EXPECT_TRUE(table.take_next()->changed) << "rank 2 is another process";
}

TEST(WorldTableTest, NoRankWaitsForAWorldThatCannotCome) {  // JW-3
  WorldTable table = begun(3);
  table.ended({.rank = 2, .host = "alpha", .pid = 7}, false);
  EXPECT_FALSE(table.take_refusal()) << "three are left";
  table.ended({.rank = 0, .host = "alpha", .pid = 5}, false);
  ask(table, {1, 3});
  EXPECT_FALSE(table.take_next());
  const auto refusal = table.take_refusal();
  ASSERT_TRUE(refusal);
  EXPECT_THAT(refusal->ranks, ElementsAre(1, 3));
  EXPECT_EQ(refusal->why.code(), ErrorCode::kUnavailable);
  EXPECT_THAT(refusal->why.message(), HasSubstr("rank 0 (host alpha, pid 5) has ended"));
  EXPECT_THAT(refusal->why.message(), HasSubstr("at least 3 of 4"));
  EXPECT_FALSE(table.take_refusal()) << "once";
}

TEST(WorldTableTest, TheFirstWorldWaitsForNoRankForWhichNoProcessComes) {  // JW-3
  WorldTable table(4, 2);
  table.asked(2);
  for (const std::uint32_t rank : {0U, 1U}) table.ended({.rank = rank}, true);
  EXPECT_FALSE(table.take_next()) << "rank 3 may still come";
  table.ended({.rank = 3}, false);
  const auto world = table.take_next();
  ASSERT_TRUE(world);
  EXPECT_THAT(world->ranks, ElementsAre(2));
}

TEST(WorldTableTest, RanksThatHaveDoneTheirWorkCount) {  // JW-4
  WorldTable table = begun(4);
  table.ended({.rank = 0}, true);
  table.left(3);
  ask(table, {1, 2});
  EXPECT_FALSE(table.take_refusal());
  EXPECT_FALSE(table.take_next()) << "rank 3 is missing";
  table.asked(3);
  const auto world = table.take_next();
  ASSERT_TRUE(world);
  EXPECT_THAT(world->ranks, ElementsAre(1, 2, 3));
}

TEST(WorldTableTest, NoneBeginsAgainWhatIsDone) {  // JW-4
  WorldTable table = begun(2);
  table.lost(3);
  table.asked(3);
  for (const std::uint32_t rank : {0U, 1U}) table.ended({.rank = rank}, true);
  EXPECT_FALSE(table.take_refusal()) << "rank 2 may still join it";
  table.left(2);
  EXPECT_FALSE(table.take_next()) << "whether the work is done says the end of rank 2";
  table.ended({.rank = 2}, true);
  const auto refusal = table.take_refusal();
  ASSERT_TRUE(refusal);
  EXPECT_THAT(refusal->ranks, ElementsAre(3));
  EXPECT_FALSE(table.take_next());
  EXPECT_THAT(refusal->why.message(), HasSubstr("too late: rank 2"));
  EXPECT_NE(refusal->why.detail<WorkDone>(), nullptr);
}

}  // namespace
}  // namespace millrace::net
