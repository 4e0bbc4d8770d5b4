#include "bench/figure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace millrace::bench {
namespace {

const Figure kTime{.name = "a.time", .unit = "us", .peer = "other", .limit = 0.5};
const Figure kRate{
    .name = "a.rate", .unit = "1/s", .peer = "other", .goal = Goal::kAtLeast, .limit = 2};

TEST(FigureTest, RatioIsTheMedianOfTheRatiosOfEachRound) {
  // A busy minute that slows both leaves the ratio; the medians alone would give 20 / 20.
  const Summary s = summarize(kTime, {{10, 20}, {30, 60}, {20, 10}});
  EXPECT_EQ(s.ratio, 0.5);
  EXPECT_EQ(s.ours.value, 20);
  EXPECT_EQ(s.peer.value, 20);
  EXPECT_TRUE(s.met);
}

TEST(FigureTest, P99IsTheMedianOfTheRoundsAndPrintedWhereThereIsOne) {
  const Summary s = summarize(kTime, {{{10, 11}, 40}, {{10, 13}, 40}, {{10, 99}, 40}});
  EXPECT_EQ(s.ours.p99, 13);
  EXPECT_NE(to_text(kTime, s).find("10 us (p99 13), other: 40, ratio"), std::string::npos);
  EXPECT_NE(to_json(kTime, s).find(R"("p99":13,"peer":"other","peer_value":40,"peer_p99":null)"),
            std::string::npos);
}

TEST(FigureTest, FewCallsHaveNoP99) {
  int calls = 0;
  EXPECT_EQ(latency_us(5, [&] { ++calls; }).p99, 0);
  EXPECT_GT(latency_us(1000, [&] { ++calls; }).p99, 0);
  EXPECT_EQ(calls, 1005);
}

TEST(FigureTest, TimesAreMetFromBelowAndRatesFromAbove) {
  EXPECT_FALSE(summarize(kTime, {{51, 100}}).met);
  EXPECT_TRUE(summarize(kRate, {{2, 1}}).met);
  EXPECT_FALSE(summarize(kRate, {{1.9, 1}}).met);
}

TEST(FigureTest, QuartilesAreThoseOfTheRatios) {
  std::vector<Round> rounds;
  for (int i = 8; i >= 0; --i) rounds.push_back({static_cast<double>(i), 1});
  const Summary s = summarize(kTime, rounds);
  EXPECT_EQ(s.lower_quartile, 2);
  EXPECT_EQ(s.ratio, 4);
  EXPECT_EQ(s.upper_quartile, 6);
}

TEST(FigureTest, ResultsAgreeButForRoundingsAndOnlyFiniteOnes) {
  EXPECT_TRUE(agree(2.3, 2.3, 0));
  EXPECT_TRUE(agree(0, 0, 1e-3));
  EXPECT_TRUE(agree(-1000, -1000.9, 1e-3));
  EXPECT_FALSE(agree(-1000, -1001.1, 1e-3));
  EXPECT_FALSE(agree(1, -1, 1e-3));
  const double nan = std::nan("");
  EXPECT_FALSE(agree(nan, nan, 1e-3));
  EXPECT_FALSE(agree(1, nan, 1e-3));
  EXPECT_FALSE(agree(INFINITY, 1, 1e-3));
}

TEST(SessionTest, MeasuresTheRoundsAfterAWarmUpAndAlternatesTheFirst) {
  ::testing::internal::CaptureStdout();
  Session session({}, true, 0);
  std::string order;
  session.measure(
      kRate,
      [&] {
        order += 'o';
        return 4.0;
      },
      [&] {
        order += 'p';
        return 1.0;
      });
  EXPECT_EQ(order, "oppooppooppooppooppo");  // ten pairs
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "{\"figure\":\"a.rate\",\"unit\":\"1/s\",\"ours\":4,\"p99\":null,\"peer\":\"other\","
            "\"peer_value\":1,\"peer_p99\":null,\"ratio\":4.0000,\"goal\":2,\"met\":true,"
            "\"quartiles\":[4.0000,4.0000],\"rounds\":9,"
            "\"goal_is\":\">=\"}\n");
  EXPECT_EQ(session.exit_code(), 0);
}

TEST(SessionTest, OnlyWhatWasAskedForIsMeasured) {
  Session session({"b.other"}, true, 0);
  session.measure(kRate, [] { return ADD_FAILURE(), 1.0; }, [] { return 1.0; });
  EXPECT_EQ(session.exit_code(), 2);
  EXPECT_TRUE(session.wants("b.other_4B"));
}

TEST(SessionTest, RoundsThatWereMeasuredElsewhereAreReportedIfTheyWereAskedFor) {
  ::testing::internal::CaptureStdout();
  Session session({"a.time"}, true, 0);
  session.report(kTime, {{1, 2}});
  session.report(kRate, {{1, 2}});  // a miss
  EXPECT_EQ(session.exit_code(), 0);
  const std::string out = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(out.find("\"rounds\":1,"), std::string::npos) << out;
  EXPECT_EQ(out.find("a.rate"), std::string::npos) << out;
}

TEST(SessionTest, AMissAndASkipAreReported) {
  ::testing::internal::CaptureStdout();
  Session session({}, false, 9);
  session.skip("a.gone", "no peer");
  EXPECT_EQ(session.exit_code(), 0);
  session.measure(kTime, [] { return 2.0; }, [] { return 1.0; });
  EXPECT_EQ(session.exit_code(), 1);
  const std::string out = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(out.find("skipped: no peer"), std::string::npos);
  EXPECT_NE(out.find("goal <= 0.5: MISSED"), std::string::npos);
}

}  // namespace
}  // namespace millrace::bench
