#include "millrace/tools/trace/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace millrace::trace {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kMs = 1'000'000;

// Two batches: each read 2 ms, then 1 ms of waiting, then 5 ms on the device.
Timeline two_batches() {
  Timeline t{.lanes = {"loader read", "device 0", "other"},
             .names = {"batch", "folder/grad_64.mlir", "<&\"odd\">"}};
  for (std::uint64_t b = 0; b < 2; ++b) {
    const auto begin = static_cast<std::int64_t>(b) * 6 * kMs;
    t.slices.push_back(
        {.lane = 0, .name = 0, .begin = begin, .end = begin + 2 * kMs, .flows = {b + 1}});
    t.slices.push_back(
        {.lane = 1, .name = 1, .begin = begin + 3 * kMs, .end = begin + 8 * kMs, .flows = {b + 1}});
  }
  t.slices.push_back({.lane = 2, .name = 2, .begin = 13 * kMs, .end = 14 * kMs});
  t.end = 14 * kMs;
  std::ranges::sort(t.slices, {}, &Slice::begin);
  return t;
}

TEST(SummaryTest, BusyIsTheTimeThatEventsCoverOnce) {
  Timeline t = two_batches();
  t.slices.push_back({.lane = 1, .name = 2, .row = 1, .begin = 7 * kMs, .end = 10 * kMs});
  const Summary s = summarize(t);
  ASSERT_EQ(s.lanes.size(), 3u);
  EXPECT_EQ(s.length, 14 * kMs);
  EXPECT_EQ(s.lanes[0].busy, 4 * kMs);
  EXPECT_EQ(s.lanes[1].busy, 11 * kMs);  // 3 to 14
  EXPECT_EQ(s.lanes[1].rows, 2);
  ASSERT_EQ(s.lanes[1].events.size(), 2u);
  EXPECT_EQ(s.lanes[1].events[0].name, "grad_64");
  EXPECT_EQ(s.lanes[1].events[0].count, 2u);
  EXPECT_EQ(s.lanes[1].events[0].total, 10 * kMs);
  EXPECT_EQ(s.lanes[1].events[0].median, 5 * kMs);
  EXPECT_EQ(s.lanes[1].events[1].longest, 3 * kMs);
}

TEST(SummaryTest, WaitsLieBetweenTheLanesOfABatch) {
  const Summary s = summarize(two_batches());
  ASSERT_EQ(s.waits.size(), 1u);
  EXPECT_EQ(s.waits[0].from, "loader read");
  EXPECT_EQ(s.waits[0].to, "device 0");
  EXPECT_EQ(s.waits[0].count, 2u);
  EXPECT_EQ(s.waits[0].median, 1 * kMs);
}

TEST(SummaryTest, WindowCutsWhatReachesOverItsEdges) {
  const Summary s = summarize(two_batches(), {.from = 1 * kMs, .to = 4 * kMs});
  EXPECT_EQ(s.length, 3 * kMs);
  ASSERT_EQ(s.lanes.size(), 2u);
  EXPECT_EQ(s.lanes[0].busy, 1 * kMs);
  EXPECT_EQ(s.lanes[1].busy, 1 * kMs);
  EXPECT_EQ(s.lanes[1].count, 1u);
  EXPECT_TRUE(s.waits.empty());  // no batch is in it as a whole
}

TEST(SummaryTest, TextAndJsonSayTheSame) {
  const Summary s = summarize(two_batches());
  const std::string text = s.to_text(5);
  EXPECT_THAT(text, HasSubstr("14.0 ms on 3 lanes"));
  EXPECT_THAT(text, HasSubstr("71.4 %"));  // 10 of 14
  EXPECT_THAT(text, HasSubstr("grad_64"));
  EXPECT_THAT(s.to_text(0), HasSubstr("and 1 other kinds"));
  const auto json = nlohmann::json::parse(s.to_json());
  EXPECT_EQ(json["lanes"][1]["busy_ns"], 10 * kMs);
  EXPECT_EQ(json["lanes"][1]["idle_ns"], 4 * kMs);
  EXPECT_EQ(json["waits"][0]["median_ns"], 1 * kMs);
}

TEST(SummaryTest, TimesHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(time_text(0), "0 ns");
  EXPECT_EQ(time_text(999), "999 ns");
  EXPECT_EQ(time_text(1'234), "1.23 us");
  EXPECT_EQ(time_text(-45'600), "-45.6 us");
  EXPECT_EQ(time_text(123'400'000), "123 ms");
  EXPECT_EQ(time_text(9'990'000'000), "9.99 s");
}

TEST(PictureTest, ShowsLanesThatBatchesTouchAndOneWayInBold) {
  const std::string svg = draw(two_batches());
  EXPECT_THAT(svg, HasSubstr(">loader read</text>"));
  EXPECT_THAT(svg, HasSubstr(">device 0</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">other</text>")));
  EXPECT_THAT(svg, HasSubstr("url(#tip)"));
  EXPECT_THAT(svg, HasSubstr(">grad_64</text>"));
}

TEST(PictureTest, EveryLaneOnRequestWithItsTextEscaped) {
  const std::string svg = draw(two_batches(), {.window = Window{}, .all_lanes = true});
  EXPECT_THAT(svg, HasSubstr(">other</text>"));
  EXPECT_THAT(svg, HasSubstr("&lt;&amp;&quot;odd&quot;&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<&")));
}

TEST(PictureTest, ManyEventsOfOnePixelAreDrawnAsOften) {
  Timeline t{.lanes = {"device 0"}, .names = {"op"}};
  for (std::int64_t i = 0; i < 100'000; ++i)
    t.slices.push_back({.begin = i * 10, .end = i * 10 + 10});
  t.end = 1'000'000;
  EXPECT_LT(draw(t).size(), 1'000'000u);
}

}  // namespace
}  // namespace millrace::trace
