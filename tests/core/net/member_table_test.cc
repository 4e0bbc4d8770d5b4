#include "millrace/core/net/member_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::net {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using enum MemberState;

JoinRequest join_of(std::uint32_t rank, int pid = 1, int incarnation = 1) {
  JoinRequest request{.member = {.rank = rank, .host = "h", .pid = pid}, .ranks = 3};
  request.incarnation[0] = static_cast<std::byte>(incarnation);
  return request;
}

class MemberTableTest : public ::testing::Test {
 protected:
  // Looks every tick for so long.
  MemberTable::Found wait(Duration duration) {
    MemberTable::Found all;
    for (const TimePoint end = now + duration; now < end;) {
      now += table.tick();
      const MemberTable::Found found = table.look(now);
      all.suspect.insert(all.suspect.end(), found.suspect.begin(), found.suspect.end());
      all.silent.insert(all.silent.end(), found.silent.begin(), found.silent.end());
    }
    return all;
  }
  TimePoint now{Duration(0)};
  MemberTable table{3, 10s, now};
};

TEST_F(MemberTableTest, SecondProcessOfARankIsRefusedAndHearsOfTheFirst) {  // JM-1
  EXPECT_TRUE(table.join(join_of(1, 10, 1), now).has_value());
  for (const JoinRequest& second : {join_of(1, 11, 2), join_of(1, 11, 1), join_of(1, 10, 2)}) {
    const Status refused = table.join(second, now);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), ErrorCode::kAlreadyExists);
    EXPECT_EQ(refused.error().detail<JobMember>()->pid, 10);
    EXPECT_THAT(refused.error().message(), HasSubstr("rank 1 (host h, pid 10) has that rank"));
  }
  EXPECT_TRUE(table.join(join_of(2, 11, 2), now).has_value());
}

TEST_F(MemberTableTest, RankIsFreeAfterAGoodbyeALossOrItsEnd) {
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_TRUE(table.join(join_of(1, turn, turn), now).has_value());
    Incarnation incarnation{static_cast<std::byte>(turn)};
    if (turn == 2) {
      table.ended(1);
    } else {
      EXPECT_EQ(table.left(1, incarnation, turn == 0), turn == 1);
    }
  }
  EXPECT_EQ(table.state(1), kAbsent);
  EXPECT_TRUE(table.join(join_of(1, 9, 9), now).has_value());
  EXPECT_FALSE(table.left(1, Incarnation{std::byte{1}}, false)) << "of the one before";
  EXPECT_EQ(table.state(1), kJoined);
}

TEST_F(MemberTableTest, ProcessMayHaveSeveralConnections) {
  EXPECT_TRUE(table.join(join_of(0), now).has_value());
  EXPECT_TRUE(table.join(join_of(0), now).has_value());
  table.left(0, join_of(0).incarnation, true);
  EXPECT_EQ(table.state(0), kJoined);
  table.left(0, join_of(0).incarnation, true);
  EXPECT_EQ(table.state(0), kAbsent);
}

TEST_F(MemberTableTest, WrongNumbersAreRefused) {
  EXPECT_EQ(table.join(join_of(3), now).error().code(), ErrorCode::kInvalidArgument);
  JoinRequest other = join_of(0);
  other.ranks = 4;
  EXPECT_THAT(table.join(other, now).error().message(), HasSubstr("the job has 3 ranks"));
}

TEST_F(MemberTableTest, SilenceIsSuspectAtHalfAndReportedOnce) {
  ASSERT_TRUE(table.join(join_of(0), now).has_value());
  ASSERT_TRUE(table.join(join_of(1), now).has_value());
  for (int i = 0; i < 9; ++i) {
    const auto found = wait(500ms);
    EXPECT_THAT(found.suspect, IsEmpty());
    table.heard(1, now);
  }
  EXPECT_THAT(wait(500ms).suspect, ElementsAre(0));
  table.heard(0, now);
  EXPECT_EQ(table.state(0), kJoined);
  const auto found = wait(20s);
  EXPECT_THAT(found.suspect, ElementsAre(1, 0));
  EXPECT_THAT(found.silent, ElementsAre(1, 0));
  EXPECT_THAT(wait(20s).silent, IsEmpty());
  table.ended(0);
  EXPECT_EQ(table.state(0), kAbsent);
}

TEST_F(MemberTableTest, GoodbyeIsNeverSilentAndALossIs) {  // JM-2
  ASSERT_TRUE(table.join(join_of(0), now).has_value());
  ASSERT_TRUE(table.join(join_of(1), now).has_value());
  table.left(0, join_of(0).incarnation, true);
  table.left(1, join_of(1).incarnation, false);
  EXPECT_THAT(wait(20s).silent, ElementsAre(1));
}

TEST_F(MemberTableTest, TimeInWhichTheHostDidNotLookCountsForNone) {  // JM-3
  ASSERT_TRUE(table.join(join_of(0), now).has_value());
  now += 60s;
  EXPECT_THAT(table.look(now).suspect, IsEmpty());
  EXPECT_THAT(wait(4s).suspect, IsEmpty());
  EXPECT_THAT(wait(2s).suspect, ElementsAre(0));
}

TEST(MemberTableEdgesTest, EveryStateHasItsEdges) {
  const std::vector<std::vector<MemberState>> edges = {{kJoined},
                                                       {kAbsent, kSuspect, kLost},
                                                       {kAbsent, kJoined, kLost, kSilent},
                                                       {kAbsent, kJoined, kSilent},
                                                       {kAbsent}};
  for (std::size_t from = 0; from < 5; ++from) {
    for (std::size_t to = 0; to < 5; ++to) {
      EXPECT_EQ(MemberTable::may_move(static_cast<MemberState>(from), static_cast<MemberState>(to)),
                std::ranges::count(edges[from], static_cast<MemberState>(to)) == 1)
          << from << " " << to;
    }
  }
}

TEST(MemberTableSilenceTest, NoRankIsSilentWhereNoneIsAskedFor) {
  MemberTable table(1, Duration(0), TimePoint{});
  JoinRequest request = join_of(0);
  request.ranks = 1;
  ASSERT_TRUE(table.join(request, TimePoint{}).has_value());
  EXPECT_EQ(table.tick().count(), 0);
  EXPECT_THAT(table.look(TimePoint(1h)).suspect, IsEmpty());
}

}  // namespace
}  // namespace millrace::net
