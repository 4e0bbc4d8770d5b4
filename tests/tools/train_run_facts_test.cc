#include "millrace/tools/train/run_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/collectives/rank.h"
#include "millrace/tools/train/evaluation_share.h"

namespace millrace::train {
namespace {

using collectives::Culprits;
using collectives::Rank;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const RunFacts kFacts = {{"the seed", "1"}, {"the data", "'\xFF, of any bytes'"}};

TEST(RunFactsTest, PayloadReadsBackAndTheNumberFollowsEveryByte) {
  const auto back = parse_facts(to_payload(kFacts));
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(*back, kFacts);
  EXPECT_EQ(fingerprint(*back), fingerprint(kFacts));
  for (RunFacts other : {RunFacts{{"the seed", "2"}, kFacts[1]},
                         RunFacts{{"the seeds", "1"}, kFacts[1]}, RunFacts{kFacts[1], kFacts[0]},
                         RunFacts{kFacts[0]}, RunFacts{{"the seed1", ""}, kFacts[1]}, RunFacts{}}) {
    EXPECT_NE(fingerprint(other), fingerprint(kFacts));
  }
}

TEST(RunFactsTest, WhatIsNoPayloadIsRefused) {
  const std::string whole = to_payload(kFacts);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_facts(whole.substr(0, size))) << size;
  EXPECT_FALSE(parse_facts(whole + "x"));
  EXPECT_FALSE(parse_facts(std::string("\xFF\xFF\xFF\x7F", 4)));
}

TEST(RunFactsTest, TheFirstRankThatDiffersIsNamedWithAllItsDifferences) {
  const auto of = [](const char* seed, const char* data, const char* epochs) {
    return to_payload({{"the seed", seed}, {"the data", data}, {"the number of epochs", epochs}});
  };
  EXPECT_TRUE(compare_facts({of("1", "a", "2"), of("1", "a", "2")}));
  EXPECT_TRUE(compare_facts({of("1", "a", "2")}));
  const Status compared =
      compare_facts({of("1", "a", "2"), of("1", "a", "2"), of("9", "a", "3"), of("1", "b", "2")});
  ASSERT_FALSE(compared);
  EXPECT_EQ(compared.error().code(), ErrorCode::kFailedPrecondition);
  EXPECT_THAT(compared.error().message(), HasSubstr("the seed is 1 at rank 0 and 9 at rank 2; "
                                                    "the number of epochs is 2 at rank 0 and 3 at "
                                                    "rank 2"));
  EXPECT_THAT(compared.error().message(), Not(HasSubstr("the data")));
  const auto* const culprits = compared.error().detail<Culprits>();
  ASSERT_NE(culprits, nullptr);
  EXPECT_EQ(culprits->kind, Culprits::Kind::kMismatch);
  EXPECT_THAT(culprits->ranks, ElementsAre(Rank{0}, Rank{2}));
}

TEST(RunFactsTest, OtherKindsOfFactsAreADifferenceOnlyWhereThereIsNoOther) {
  const std::string first = to_payload({{"the seed", "1"}, {"the program 'grad_4'", "8 bytes"}});
  const std::string rows = to_payload({{"the seed", "2"}, {"the program 'grad_8'", "8 bytes"}});
  const std::string version = to_payload({{"the seed", "1"}});
  EXPECT_THAT(compare_facts({first, rows}).error().message(), Not(HasSubstr("version")));
  EXPECT_THAT(compare_facts({first, version}).error().message(), HasSubstr("version"));
}

TEST(EvaluationShareTest, SharesAddUpInTheOrderOfTheRanksAndExactly) {
  const EvaluationShare shares[] = {{.items = 3, .correct = 1, .loss_sum = 1e16},
                                    {.items = 2, .correct = 2, .loss_sum = 1.0 / 3},
                                    {.items = 0, .correct = 0, .loss_sum = -1e16}};
  std::vector<std::string> payloads;
  for (const EvaluationShare& share : shares) payloads.push_back(share.to_payload());
  const auto total = sum_of_shares(payloads);
  ASSERT_TRUE(total) << total.error().to_string();
  EXPECT_EQ(total->items, 5U);
  EXPECT_EQ(total->correct, 3U);
  EXPECT_EQ(total->loss_sum, 1e16 + 1.0 / 3 - 1e16);
  for (const char* const text : {"", "1 2", "1 2 0x1p+0 ", "1 2 0x1p+0 3", "a b c"})
    EXPECT_FALSE(EvaluationShare::parse(text)) << text;
}

}  // namespace
}  // namespace millrace::train
