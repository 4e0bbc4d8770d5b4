// The text is read back by the published grammar: lines of comments and samples, families that hang
// together, escapes, and histograms that add up.
#include "millrace/core/observe/metrics_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {
namespace {

using ::testing::HasSubstr;

struct Sample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};

// https://prometheus.io/docs/instrumenting/exposition_formats/#comments-help-text-and-type-information
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  void parse() {
    if (!text_.empty() && !text_.ends_with('\n')) return bad("the last line has no end");
    while (!text_.empty() && error.empty()) {
      const std::size_t end = text_.find('\n');
      line_ = text_.substr(0, end);
      text_.remove_prefix(end + 1);
      line_.starts_with("#") ? comment() : sample();
    }
  }

  std::vector<Sample> samples;
  std::map<std::string, std::string> types;
  std::map<std::string, std::string> help;
  std::string error;

 private:
  void bad(const std::string& why) { error = why + " in '" + std::string(line_) + "'"; }

  static bool letter(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
  }
  std::string take_name(bool colon) {
    std::string name;
    while (!line_.empty() && (letter(line_[0]) || (colon && line_[0] == ':') ||
                              (!name.empty() && std::isdigit(line_[0]) != 0))) {
      name += line_[0];
      line_.remove_prefix(1);
    }
    if (name.empty()) bad("no name");
    return name;
  }
  bool take(std::string_view token) {
    if (!line_.starts_with(token)) return false;
    line_.remove_prefix(token.size());
    return true;
  }

  void comment() {
    if (take("# HELP ")) {
      const std::string name = take_name(true);
      if (!take(" ")) return bad("no text of help");
      if (help.contains(name) || types.contains(name)) return bad("HELP comes first, and once");
      help[name] = unescape(line_, false);
    } else if (take("# TYPE ")) {
      const std::string name = take_name(true);
      if (!take(" ")) return bad("no type");
      if (!types.emplace(name, line_).second) return bad("a second type");
      if (!std::set<std::string_view>{"counter", "gauge", "histogram"}.contains(line_))
        return bad("an unknown type");
      families_.insert(family_);
      if (families_.contains(name)) return bad("a family in two pieces");
      family_ = name;
    }
  }

  std::string unescape(std::string_view text, bool quotes) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\') {
        plain += text[i];
        continue;
      }
      const char next = i + 1 < text.size() ? text[++i] : '?';
      if (next == 'n') {
        plain += '\n';
      } else if (next == '\\' || (quotes && next == '"')) {
        plain += next;
      } else {
        bad("an unknown escape");
      }
    }
    return plain;
  }

  void sample() {
    Sample s;
    s.name = take_name(true);
    if (take("{")) {
      do {
        const std::string label = take_name(false);
        if (!take("=\"")) return bad("no value of a label");
        std::size_t end = 0;
        while (end < line_.size() && line_[end] != '"') end += line_[end] == '\\' ? 2 : 1;
        if (end >= line_.size()) return bad("a label without an end");
        if (!s.labels.emplace(label, unescape(line_.substr(0, end), true)).second)
          return bad("a label twice");
        line_.remove_prefix(end + 1);
      } while (take(","));
      if (!take("}")) return bad("labels without an end");
    }
    if (!take(" ")) return bad("no value");
    if (line_ == "+Inf") {
      s.value = std::numeric_limits<double>::infinity();
    } else {
      const auto [end, failed] =
          std::from_chars(line_.data(), line_.data() + line_.size(), s.value);
      if (failed != std::errc() || end != line_.data() + line_.size()) return bad("no number");
    }
    std::string family = s.name;
    for (const std::string_view ending : {"_bucket", "_sum", "_count"}) {
      if (types[family_] == "histogram" && family.ends_with(ending))
        family.resize(family.size() - ending.size());
    }
    if (family != family_) return bad("a sample outside of its family " + family_);
    samples.push_back(std::move(s));
  }

  std::string_view text_;
  std::string_view line_;
  std::string family_;
  std::set<std::string> families_;
};

Parser parsed(const Metrics& metrics) {
  const std::string text = prometheus_text(metrics.snapshot());
  Parser parser(text);
  parser.parse();
  EXPECT_EQ(parser.error, "") << text;
  return parser;
}

TEST(MetricsTextTest, NothingIsNoText) { EXPECT_EQ(prometheus_text({}), ""); }

TEST(MetricsTextTest, CountersAndGaugesAreFamiliesWithHelpAndType) {
  Metrics metrics;
  metrics.counter("launches_total", {{"device", "0"}}).add(3);
  metrics.counter("launches_total", {{"device", "1"}}).add(UINT64_MAX);
  metrics.gauge("queue_depth").set(-7);
  metrics.help("launches_total", "Programs run.");
  EXPECT_EQ(prometheus_text(metrics.snapshot()),
            "# HELP launches_total Programs run.\n"
            "# TYPE launches_total counter\n"
            "launches_total{device=\"0\"} 3\n"
            "launches_total{device=\"1\"} 18446744073709551615\n"
            "# TYPE queue_depth gauge\n"
            "queue_depth -7\n");
}

TEST(MetricsTextTest, AnyTextComesBackFromLabelsAndHelp) {
  const std::string odd = "a \\ back\"slash\nand \\n more {},= é";
  Metrics metrics;
  metrics.gauge("g", {{"label", odd}}).set(1);
  metrics.help("g", odd);
  const Parser p = parsed(metrics);
  ASSERT_EQ(p.samples.size(), 1u);
  EXPECT_EQ(p.samples[0].labels.at("label"), odd);
  EXPECT_EQ(p.help.at("g"), odd);
}

TEST(MetricsTextTest, NamesAreMadeValid) {
  Metrics metrics;
  metrics.counter("9 lives-total", {{"a:b", "x"}}).add(9);
  const Parser p = parsed(metrics);
  EXPECT_EQ(p.samples.at(0).name, "_9_lives_total");
  EXPECT_EQ(p.samples.at(0).labels.begin()->first, "a_b");
}

TEST(MetricsTextTest, NanosecondsAreWrittenAsSeconds) {
  Metrics metrics;
  metrics.counter("busy_nanoseconds_total").add(1'500'000'000);
  metrics.gauge("age_nanoseconds").set(-250);
  metrics.histogram("wait_nanoseconds").record(2'000'000);
  const Parser p = parsed(metrics);
  EXPECT_EQ(p.samples.at(0).name, "busy_seconds_total");
  EXPECT_DOUBLE_EQ(p.samples.at(0).value, 1.5);
  EXPECT_EQ(p.samples.at(1).name, "age_seconds");
  EXPECT_DOUBLE_EQ(p.samples.at(1).value, -2.5e-7);
  for (const Sample& s : p.samples) {
    if (s.name == "wait_seconds_sum") {
      EXPECT_DOUBLE_EQ(s.value, 0.002);
    }
  }
  EXPECT_EQ(p.types.at("wait_seconds"), "histogram");
}

TEST(MetricsTextTest, HistogramBucketsAreCumulativeExactAndEndWithAll) {
  Metrics metrics;
  Histogram& h = metrics.histogram("h", {{"stage", "read"}});
  std::vector<std::uint64_t> values = {0, 1, 3, 4, 5, 15, 16, 1000, 1 << 20, UINT64_MAX / 2};
  double sum = 0;
  for (const std::uint64_t v : values) {
    h.record(v);
    sum += static_cast<double>(v);
  }
  metrics.histogram("h", {{"stage", "empty"}});
  const Parser p = parsed(metrics);
  EXPECT_EQ(p.types.at("h"), "histogram");
  double before = 0;
  double last_bound = -1;
  int buckets = 0;
  for (const Sample& s : p.samples) {
    if (s.labels.at("stage") != "read") continue;
    if (s.name == "h_sum") {
      EXPECT_NEAR(s.value, sum, sum * 1e-12);
    } else if (s.name == "h_count") {
      EXPECT_EQ(s.value, 10);
    }
    if (s.name != "h_bucket") continue;
    ++buckets;
    const std::string& le = s.labels.at("le");
    const double bound = le == "+Inf" ? std::numeric_limits<double>::infinity() : std::stod(le);
    EXPECT_GT(bound, last_bound);
    EXPECT_GE(s.value, before);
    double below = 0;
    for (const std::uint64_t v : values) below += static_cast<double>(v) <= bound ? 1 : 0;
    EXPECT_EQ(s.value, below) << le;
    before = s.value;
    last_bound = bound;
  }
  EXPECT_EQ(last_bound, std::numeric_limits<double>::infinity());
  EXPECT_EQ(before, 10);
  EXPECT_GT(buckets, 10);
}

TEST(MetricsTextTest, HistogramsHaveTheSameBucketsWhateverTheyHold) {
  const auto bounds = [](std::uint64_t value) {
    Metrics metrics;
    metrics.histogram("h").record(value);
    std::vector<std::string> all;
    for (const Sample& s : parsed(metrics).samples) {
      if (s.name == "h_bucket") all.push_back(s.labels.at("le"));
    }
    return all;
  };
  EXPECT_EQ(bounds(0), bounds(UINT64_MAX));
}

TEST(MetricsTextTest, EntriesAddedByHandJoinTheirFamily) {
  Metrics metrics;
  metrics.counter("b").add(1);
  metrics.counter("a", {{"x", "2"}}).add(2);
  MetricsSnapshot snapshot = metrics.snapshot();
  snapshot.counters.push_back({"a", {{"x", "1"}}, 5});
  snapshot.sort();
  EXPECT_EQ(prometheus_text(snapshot),
            "# TYPE a counter\na{x=\"1\"} 5\na{x=\"2\"} 2\n# TYPE b counter\nb 1\n");
}

TEST(MetricsDeathTest, OneNameIsOfOneKind) {
  Metrics metrics;
  metrics.counter("n", {{"a", "b"}});
  EXPECT_DEATH(metrics.gauge("n"), "another kind");
}

}  // namespace
}  // namespace millrace
