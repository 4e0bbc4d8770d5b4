#include "millrace/tools/conform/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ranges>
#include <set>

#include "millrace/tools/conform/runner.h"

namespace millrace::conform {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Report report_of(std::vector<Verdict> verdicts) {
  return {.plugin = "some.so", .options = "devices=2", .verdicts = std::move(verdicts)};
}

Report one_of_each() {
  return report_of(
      {{.name = "table.size",
        .outcome = Outcome::kPassed,
        .detail = "138 functions",
        .seconds = 0.25},
       {.name = "table.version",
        .outcome = Outcome::kFailed,
        .detail = "it is 9.9",
        .seconds = 0.5},
       {.name = "client.create", .outcome = Outcome::kUnsupported, .detail = "no", .seconds = 0},
       {.name = "client.lookup", .outcome = Outcome::kSkipped, .detail = "why", .seconds = 0}});
}

TEST(ConformReportTest, PrintsALineForEachCheck) {
  const Report report = one_of_each();
  EXPECT_THAT(to_line(report.verdicts[0]),
              ::testing::MatchesRegex("table.size +passed +0.250 s +138 functions\n"));
  EXPECT_THAT(to_line(report.verdicts[3]),
              ::testing::MatchesRegex("client.lookup +skipped +why\n"));
  EXPECT_EQ(to_summary(report), "1 passed, 1 failed, 1 unsupported, 1 skipped in 0.8 s\n");
}

TEST(ConformReportTest, PrintsOneLineAlsoForADetailWithLines) {
  EXPECT_THAT(to_line({.name = "a.b", .outcome = Outcome::kFailed, .detail = "one\ntwo"}),
              HasSubstr("one two\n"));
}

// A line ends at its end only.
nlohmann::json parsed(const std::string& line) {
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  return nlohmann::json::parse(line);
}

TEST(ConformReportTest, WritesALineOfJsonForEachCheckAndOneForAll) {
  const auto json = parsed(to_json_summary(one_of_each()));
  EXPECT_EQ(json["event"], "done");
  EXPECT_EQ(json["schema"], 2);
  EXPECT_EQ(json["seconds"], 0.75);
  EXPECT_EQ(json["plugin"], "some.so");
  EXPECT_EQ(json["options"], "devices=2");
  for (const char* outcome : {"passed", "failed", "unsupported", "skipped"}) {
    EXPECT_EQ(json[outcome], 1) << outcome;
  }
  const auto check = parsed(to_json_line(one_of_each().verdicts[1]));
  EXPECT_EQ(check["event"], "check");
  EXPECT_EQ(check["name"], "table.version");
  EXPECT_EQ(check["outcome"], "failed");
  EXPECT_EQ(check["detail"], "it is 9.9");
  EXPECT_NE(check["wants"], "");
  EXPECT_EQ(check["seconds"], 0.5);
  EXPECT_EQ(
      parsed(to_json_line(all_checks().front())),
      nlohmann::json({{"name", all_checks().front().name}, {"wants", all_checks().front().wants}}));
}

TEST(ConformReportTest, WritesJsonOfBytesThatAreNoText) {
  const auto json = parsed(
      to_json_line({.name = "a.b", .outcome = Outcome::kFailed, .detail = "\xff\xfe\"\x01"}));
  EXPECT_THAT(json["detail"].get<std::string>(), HasSubstr("\"\x01"));
}

TEST(ConformReportTest, WritesJUnitWithItsCountsPerFamily) {
  const std::string xml = to_junit(one_of_each());
  EXPECT_THAT(xml, HasSubstr("<testsuites name=\"conform some.so\" tests=\"4\" failures=\"1\" "
                             "errors=\"0\" skipped=\"2\" time=\"0.750\">"));
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"table\" tests=\"2\" failures=\"1\" errors=\"0\" "
                             "skipped=\"0\" time=\"0.750\">"));
  EXPECT_THAT(xml, HasSubstr("<testcase classname=\"table\" name=\"table.size\" time=\"0.250\"/>"));
  EXPECT_THAT(xml, HasSubstr("<failure message=\"it is 9.9\">wanted: "));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"unsupported: no\"/>"));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"skipped: why\"/>"));
}

struct EscapeCase {
  std::string detail, expected;
};

TEST(ConformReportTest, EscapesWhatXmlCannotHold) {
  const EscapeCase cases[] = {
      {"a < b && \"c\" > d", "a &lt; b &amp;&amp; &quot;c&quot; &gt; d"},
      {"two\nlines\tand", "two&#10;lines&#9;and"},
      {std::string("bell\a and nul\0.", 15), "bell? and nul?."},
      {"\xff byte", "\xef\xbf\xbd byte"},
      {"]]>", "]]&gt;"},
      {"\xc3\xa4", "\xc3\xa4"},
  };
  for (const EscapeCase& c : cases) {
    const std::string xml =
        to_junit(report_of({{.name = "a.b", .outcome = Outcome::kFailed, .detail = c.detail}}));
    EXPECT_THAT(xml, HasSubstr("message=\"" + c.expected + "\"")) << c.detail;
  }
}

TEST(ConformChecksTest, HaveNamesOfFamilyAndConditionAndBuildOnEarlierOnes) {
  std::set<std::string_view> before;
  for (const Check& check : all_checks()) {
    EXPECT_THAT(std::string(check.name), ::testing::MatchesRegex("[a-z]+\\.[a-z_0-9]+"));
    EXPECT_FALSE(check.wants.empty()) << check.name;
    for (const auto split : check.after | std::views::split(' ')) {
      const std::string_view name(split);
      EXPECT_TRUE(before.contains(name)) << check.name << " builds on " << name;
    }
    EXPECT_TRUE(before.insert(check.name).second) << check.name << " is there twice";
  }
}

TEST(ConformChecksTest, AreSelectedByNameFamilyOrPattern) {
  EXPECT_TRUE(selected("events.await", {}));
  EXPECT_TRUE(selected("events.await", {"events.await"}));
  EXPECT_TRUE(selected("events.await", {"host", "events"}));
  EXPECT_TRUE(selected("events.await", {"*.aw*"}));
  EXPECT_FALSE(selected("events.await", {"event"}));
  EXPECT_FALSE(selected("events.await", {"events.awai"}));
}

}  // namespace
}  // namespace millrace::conform
