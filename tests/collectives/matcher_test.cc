#include "millrace/collectives/matcher.h"

#include <gtest/gtest.h>

namespace millrace::collectives {
namespace {

using devices::DType;
using devices::Shape;
using Verdict = Matcher::Verdict;

CollectiveCall sum_of(std::int64_t n) {
  return {CollectiveCall::Kind::kAllReduce, ReduceOp::kSum, Rank{0}, {Shape(DType::kF32, {n})}};
}

TEST(MatcherTest, LastRankMatchesAndTheEntryIsErased) {
  Matcher matcher("g", 3);
  EXPECT_EQ(matcher.call(Rank{1}, 0, sum_of(4)).verdict, Verdict::kWaiting);
  EXPECT_EQ(matcher.call(Rank{0}, 0, sum_of(4)).verdict, Verdict::kWaiting);
  EXPECT_EQ(matcher.call(Rank{2}, 0, sum_of(4)).verdict, Verdict::kMatched);
  EXPECT_EQ(matcher.open(), 0u);
}

TEST(MatcherTest, ASequenceThatEndsEarlyEndsForAllWhoComeLater) {
  Matcher matcher("g", 2, Rank{4});
  matcher.end_early(3, Error(ErrorCode::kAborted, "elsewhere"));
  for (const Rank rank : {Rank{5}, Rank{4}}) {
    const Matcher::Answer answer = matcher.call(rank, 3, sum_of(1));
    EXPECT_EQ(answer.verdict, Verdict::kLate);
    EXPECT_EQ(answer.error->message(), "elsewhere");
  }
  EXPECT_EQ(matcher.open(), 0u);  // MA-3
  EXPECT_EQ(matcher.call(Rank{4}, 4, sum_of(1)).verdict, Verdict::kWaiting);
  EXPECT_EQ(matcher.call(Rank{5}, 4, sum_of(1)).verdict, Verdict::kMatched);
}

TEST(MatcherTest, SequencesDoNotMix) {
  Matcher matcher("g", 2);
  EXPECT_EQ(matcher.call(Rank{0}, 0, sum_of(1)).verdict, Verdict::kWaiting);
  EXPECT_EQ(matcher.call(Rank{0}, 1, sum_of(2)).verdict, Verdict::kWaiting);
  EXPECT_EQ(matcher.call(Rank{1}, 1, sum_of(2)).verdict, Verdict::kMatched);
  EXPECT_EQ(matcher.call(Rank{1}, 0, sum_of(1)).verdict, Verdict::kMatched);
}

TEST(MatcherTest, EveryDifferenceIsAMismatchThatNamesBothCalls) {
  CollectiveCall other_type = sum_of(4);
  other_type.shapes[0] = Shape(DType::kF64, {4});
  CollectiveCall other_op = sum_of(4);
  other_op.op = ReduceOp::kMax;
  CollectiveCall other_kind = sum_of(4);
  other_kind.kind = CollectiveCall::Kind::kBroadcast;
  for (const CollectiveCall& other : {sum_of(5), other_type, other_op, other_kind}) {
    Matcher matcher("g", 3);
    static_cast<void>(matcher.call(Rank{0}, 7, sum_of(4)));
    const auto answer = matcher.call(Rank{2}, 7, other);
    ASSERT_EQ(answer.verdict, Verdict::kFailed);
    const std::string& text = answer.error->message();
    EXPECT_NE(text.find("rank 0 called all_reduce(sum, tensor<4xf32>)"), std::string::npos) << text;
    EXPECT_NE(text.find("rank 2 called " + other.to_string()), std::string::npos) << text;
    EXPECT_EQ(matcher.call(Rank{1}, 7, sum_of(4)).verdict, Verdict::kLate);  // MA-2
    EXPECT_EQ(matcher.open(), 0u);
  }
}

TEST(MatcherTest, InvalidCallEndsItsSequenceForAllRanksInAnyOrder) {
  const Error invalid(ErrorCode::kUnimplemented, "no such mean");
  for (const bool first : {true, false}) {
    Matcher matcher("g", 3);
    if (!first) static_cast<void>(matcher.call(Rank{0}, 7, sum_of(4)));
    const auto answer = matcher.call(Rank{1}, 7, sum_of(5), std::unexpected(invalid));
    ASSERT_EQ(answer.verdict, Verdict::kFailed);
    EXPECT_EQ(answer.error->code(), ErrorCode::kUnimplemented);
    EXPECT_EQ(answer.error->detail<Culprits>()->ranks, std::vector<Rank>{Rank{1}});
    if (first) {
      EXPECT_EQ(matcher.call(Rank{0}, 7, sum_of(4)).error->message(), answer.error->message());
    }
    EXPECT_EQ(matcher.call(Rank{2}, 7, sum_of(4)).error->message(), answer.error->message());
    EXPECT_EQ(matcher.open(), 0u);
  }
}

TEST(MatcherTest, EndedSequenceFailsALateRank) {
  Matcher matcher("g", 2);
  static_cast<void>(matcher.call(Rank{0}, 3, sum_of(1)));
  matcher.end(3, Error(ErrorCode::kDeadlineExceeded, "late"));
  const auto answer = matcher.call(Rank{1}, 3, sum_of(1));
  EXPECT_EQ(answer.verdict, Verdict::kLate);
  EXPECT_EQ(answer.error->code(), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(matcher.open(), 0u);
}

TEST(MatcherTest, RankThatNeverCallsAgainCostsABoundedAmount) {  // MA-3
  Matcher matcher("g", 2);
  static_cast<void>(matcher.call(Rank{0}, 0, sum_of(1)));  // waits on
  constexpr std::uint64_t kLast = 3 * Matcher::kRemembered;
  for (std::uint64_t n = 1; n <= kLast; ++n) {
    static_cast<void>(matcher.call(Rank{0}, n, sum_of(1)));
    matcher.end(n, Error(ErrorCode::kDeadlineExceeded, "late"));
  }
  EXPECT_EQ(matcher.open(), Matcher::kRemembered + 1);
  // The rank comes back: nothing that has ended lets it wait.
  for (std::uint64_t n = 1; n <= kLast; ++n) {
    const auto answer = matcher.call(Rank{1}, n, sum_of(1));
    ASSERT_EQ(answer.verdict, Verdict::kLate) << n;
    const bool remembered = n > kLast - Matcher::kRemembered;
    ASSERT_EQ(answer.error->code(),
              remembered ? ErrorCode::kDeadlineExceeded : ErrorCode::kAborted);
  }
  EXPECT_EQ(matcher.call(Rank{1}, 0, sum_of(1)).verdict, Verdict::kMatched);
  EXPECT_EQ(matcher.open(), 0u);
}

TEST(MatcherTest, MismatchesOfARankThatNeverCallsAreErasedToo) {
  Matcher matcher("g", 3);
  for (std::uint64_t n = 0; n < 2 * Matcher::kRemembered; ++n) {
    static_cast<void>(matcher.call(Rank{0}, n, sum_of(1)));
    ASSERT_EQ(matcher.call(Rank{1}, n, sum_of(2)).verdict, Verdict::kFailed);
  }
  EXPECT_EQ(matcher.open(), Matcher::kRemembered);
}

TEST(MatcherTest, SameRankTwiceIsRefusedAndChangesNothing) {  // MA-1
  Matcher matcher("g", 2);
  static_cast<void>(matcher.call(Rank{0}, 0, sum_of(1)));
  EXPECT_EQ(matcher.call(Rank{0}, 0, sum_of(1)).error->code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(matcher.call(Rank{1}, 0, sum_of(1)).verdict, Verdict::kMatched);
}

}  // namespace
}  // namespace millrace::collectives
