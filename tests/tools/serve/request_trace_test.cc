#include "millrace/tools/serve/request_trace.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/core/base/clock.h"

namespace millrace::serve {
namespace {

const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kSampled = "00-" + kTrace + "-00f067aa0ba902b7-01";

TEST(TraceParentTest, OnlyWhatTheStandardHasIsRead) {
  const auto sampled = parse_traceparent(kSampled);
  ASSERT_TRUE(sampled);
  EXPECT_EQ(sampled->trace_id, kTrace);
  EXPECT_TRUE(sampled->sampled);
  const std::string other = "00-" + kTrace + "-00f067aa0ba902b7-02";
  EXPECT_FALSE(parse_traceparent(other)->sampled);
  EXPECT_TRUE(parse_traceparent("01-" + kTrace + "-00f067aa0ba902b7-01-more"));
  const std::string zeros = "00-" + std::string(32, '0') + "-00f067aa0ba902b7-01";
  std::string upper = kSampled;
  upper[4] = 'B';
  for (const std::string& wrong : std::vector<std::string>{
           "", "00-1-2-3", kSampled + "x", kSampled + "-more", zeros, upper,
           "ff" + kSampled.substr(2), "0x" + kSampled.substr(2), "01" + kSampled.substr(2) + "x",
           "00-" + kTrace + "-0000000000000000-01", kSampled.substr(0, 53) + "0g"}) {
    EXPECT_FALSE(parse_traceparent(wrong)) << wrong;
  }
}

TEST(RequestTraceTest, ASampledRequestHasItsTraceInTheTimelineAndOthersHaveTheModelAlone) {
  TraceRecorder recorder(steady_clock());
  RequestTrace trace(&recorder);
  const TimePoint begin = recorder.now();
  const TimePoint end = begin + std::chrono::milliseconds(1);
  trace.record("m", kSampled, 200, begin, end);
  trace.record("m", "", 429, begin, end);
  trace.record("m", "junk", 200, begin, end);
  const std::vector<TraceEvent> events = recorder.events();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(recorder.lane_text(events[0].lane), "inferences");
  EXPECT_EQ(recorder.name_text(events[0].name), "infer m trace " + kTrace);
  EXPECT_EQ(events[0].value, 200);
  EXPECT_EQ(events[0].end - events[0].begin, std::chrono::milliseconds(1));
  EXPECT_EQ(recorder.name_text(events[1].name), "infer m");
  EXPECT_EQ(recorder.name_text(events[2].name), "infer m");
}

// Else a client could fill the memory of the server by its headers.
TEST(RequestTraceTest, BeyondTheirLimitTracesAreNotNamed) {
  TraceRecorder recorder(steady_clock(), 1 << 13);
  RequestTrace trace(&recorder);
  const TimePoint now = recorder.now();
  const auto name_of = [&](std::size_t i) {
    char id[33];
    std::snprintf(id, sizeof id, "%032zx", i + 1);
    trace.record("m", "00-" + std::string(id) + "-00f067aa0ba902b7-01", 200, now, now);
    return recorder.name_text(recorder.events().back().name);
  };
  for (std::size_t i = 0; i + 1 < RequestTrace::kMostTraces; ++i) {
    char id[33];
    std::snprintf(id, sizeof id, "%032zx", i + 1);
    trace.record("m", "00-" + std::string(id) + "-00f067aa0ba902b7-01", 200, now, now);
  }
  EXPECT_NE(name_of(RequestTrace::kMostTraces - 1), "infer m");
  EXPECT_EQ(name_of(RequestTrace::kMostTraces), "infer m");
  EXPECT_NE(name_of(0), "infer m");  // has one
}

TEST(RequestTraceTest, WithoutARecorderNothingIsRecorded) {
  RequestTrace trace(nullptr);
  trace.record("m", kSampled, 200, TimePoint(), TimePoint());
}

}  // namespace
}  // namespace millrace::serve
