#include "millrace/tools/load/load_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace millrace::load {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

const TimePoint kBegin{seconds(100)};

TEST(LoadReportTest, CountsAndPercentilesAreInTheLastLine) {
  LoadReport report(kBegin, seconds(10));
  for (int i = 1; i <= 100; ++i)
    report.add(kBegin + milliseconds(100) * i, Outcome::kAnswered, milliseconds(i));
  report.add(kBegin + seconds(10), Outcome::kRefused, seconds(5));
  report.add(kBegin + seconds(10), Outcome::kError, seconds(5));
  report.finish(kBegin + seconds(10));
  const Json json = Json::parse(report.json());
  EXPECT_EQ(json["requests"], 102);
  EXPECT_EQ(json["errors"], 1);
  EXPECT_EQ(json["refused"], 1);
  EXPECT_EQ(json["requests_per_second"], 10);
  EXPECT_NEAR(json["latency_ms"]["p50"].get<double>(), 50, 0.05);
  EXPECT_NEAR(json["latency_ms"]["p90"].get<double>(), 90, 0.09);
  EXPECT_NEAR(json["latency_ms"]["p99"].get<double>(), 99, 0.1);
  EXPECT_EQ(json["latency_ms"]["p999"], 100);
  EXPECT_EQ(json["latency_ms"]["max"], 100);
  EXPECT_NE(
      report.words().find("102 requests: 100 answered (10.0 per second), 1 refused, 1 errors"),
      std::string::npos)
      << report.words();
  EXPECT_EQ(report.words().find("first error"), std::string::npos) << report.words();
  EXPECT_TRUE(json["first_error"].is_null());
}

TEST(LoadReportTest, TheFirstFailedAnswerIsKeptAndShown) {
  LoadReport report(kBegin, seconds(10));
  for (const int status : {400, 404}) {
    report.add(kBegin, Outcome::kError, milliseconds(1));
    report.add_failed_answer(status, R"({"error":"65 rows are too many\nat most 64"})");
  }
  report.finish(kBegin + seconds(10));
  const Json first = Json::parse(report.json())["first_error"];
  EXPECT_EQ(first["status"], 400);
  EXPECT_EQ(first["error"], "65 rows are too many");
  EXPECT_EQ(report.words(),
            "2 requests: 0 answered (0.0 per second), 0 refused, 2 errors\n"
            "the first error: status 400: 65 rows are too many\n"
            "latency: none, as no request was answered\n");
}

TEST(LoadReportTest, WhatAnErrorSaysIsALineForATerminal) {
  EXPECT_EQ(error_line(""), "");
  EXPECT_EQ(error_line(R"({"error":"why"})"), "why");
  EXPECT_EQ(error_line(R"({"error":7})"), R"({"error":7})");
  EXPECT_EQ(error_line("<html>\r\n<body>"), "<html>");
  EXPECT_EQ(error_line("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(error_line(std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_EQ(error_line(std::string(201, 'x')), std::string(200, 'x') + "...");
  EXPECT_EQ(error_line(std::string(199, 'x') + "\u00e4"), std::string(199, 'x') + "...");
}

TEST(LoadReportTest, EverySliceHasWhatEndedInItAndQuietOnesAreEmpty) {
  LoadReport report(kBegin, seconds(100));  // slices of a second
  report.add(kBegin + milliseconds(999), Outcome::kAnswered, milliseconds(1));
  report.add(kBegin + milliseconds(1000), Outcome::kAnswered, milliseconds(2));
  report.add(kBegin + milliseconds(1001), Outcome::kRefused, milliseconds(2));
  report.add(kBegin + milliseconds(3500), Outcome::kAnswered, milliseconds(4));
  report.finish(kBegin + seconds(4));
  ASSERT_EQ(report.slices().size(), 4U);
  EXPECT_EQ(report.slices()[0].max, milliseconds(1));
  EXPECT_EQ(report.slices()[1].answered, 1U);
  EXPECT_EQ(report.slices()[1].refused, 1U);
  EXPECT_EQ(report.slices()[1].max, milliseconds(2));
  EXPECT_EQ(report.slices()[2].answered, 0U);
  EXPECT_EQ(report.slices()[3].begin, seconds(3));
  EXPECT_EQ(report.slices()[3].max, milliseconds(4));
}

TEST(LoadReportTest, ThePictureHasALineForEachPercentileAndSaysWhatItDoesNotShow) {
  LoadReport report(kBegin, seconds(10));
  for (int i = 0; i < 100; ++i)
    report.add(kBegin + milliseconds(100) * i, Outcome::kAnswered, milliseconds(1 + i % 30));
  report.add(kBegin + seconds(10), Outcome::kError, seconds(5));
  report.finish(kBegin + seconds(10));
  const std::string svg = report.svg("a <title>");
  for (const char* said : {">p50<", ">p99<", ">max<", "a &lt;title&gt;", "1 errors are not shown",
                           ">10 ms<", "<path"}) {
    EXPECT_NE(svg.find(said), std::string::npos) << said << svg;
  }
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(LoadReportTest, WithoutAnAnswerThereIsNothingToDivideBy) {
  LoadReport report(kBegin, seconds(10));
  report.finish(kBegin);
  EXPECT_EQ(Json::parse(report.json())["requests_per_second"], 0);
  EXPECT_NE(report.svg("x").find("No request was answered."), std::string::npos);
}

}  // namespace
}  // namespace millrace::load
