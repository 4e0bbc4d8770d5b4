#include "millrace/tools/conform/report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "millrace/core/base/json_text.h"
#include "millrace/tools/trace/svg.h"

namespace millrace::conform {
namespace {

using Json = nlohmann::ordered_json;

constexpr Outcome kOutcomes[] = {Outcome::kPassed, Outcome::kFailed, Outcome::kUnsupported,
                                 Outcome::kSkipped};

double total_seconds(const Report& report) {
  double total = 0;
  for (const Verdict& v : report.verdicts) total += v.seconds;
  return total;
}

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

std::string_view wants(std::string_view name) {
  for (const Check& check : all_checks()) {
    if (check.name == name) return check.wants;
  }
  return {};
}

// For an attribute or a text of XML 1.0. Bytes that are no UTF-8 become replacement characters, as
// in JSON.
std::string escaped(std::string_view text) {
  const std::string valid = json_text(nlohmann::json(text));
  return trace::escaped(nlohmann::json::parse(valid).get<std::string>());
}

std::string family(const Verdict& verdict) {
  return verdict.name.substr(0, verdict.name.find('.'));
}

std::string to_testcase(const Verdict& v) {
  const std::string head = "    <testcase classname=\"" + escaped(family(v)) + "\" name=\"" +
                           escaped(v.name) + "\" time=\"" + seconds(v.seconds) + "\"";
  const std::string detail = escaped(v.detail);
  switch (v.outcome) {
    case Outcome::kPassed:
      return head + "/>\n";
    case Outcome::kFailed:
      return head + ">\n      <failure message=\"" + detail +
             "\">wanted: " + escaped(wants(v.name)) + "</failure>\n    </testcase>\n";
    case Outcome::kUnsupported:
    case Outcome::kSkipped:
      return head + ">\n      <skipped message=\"" + std::string(to_string(v.outcome)) + ": " +
             detail + "\"/>\n    </testcase>\n";
  }
  return {};
}

struct Counts {
  int tests = 0, failures = 0, skipped = 0;
  double time = 0;
  void add(const Verdict& v) {
    ++tests;
    failures += v.outcome == Outcome::kFailed ? 1 : 0;
    skipped += v.outcome == Outcome::kUnsupported || v.outcome == Outcome::kSkipped ? 1 : 0;
    time += v.seconds;
  }
  std::string attributes() const {
    return joined(" tests=\"", tests, "\" failures=\"", failures, "\" errors=\"0\" skipped=\"",
                  skipped, "\" time=\"", seconds(time), "\"");
  }
};

}  // namespace

int count(const Report& report, Outcome outcome) {
  return static_cast<int>(std::ranges::count(report.verdicts, outcome, &Verdict::outcome));
}

std::string to_line(const Verdict& v) {
  std::string line = padded(v.name, 36) + padded(std::string(to_string(v.outcome)), 12);
  line += v.outcome == Outcome::kSkipped ? padded("", 9) : padded(seconds(v.seconds) + " s", 9);
  if (!v.detail.empty()) line += "  " + v.detail;
  while (line.ends_with(' ')) line.pop_back();
  std::ranges::replace(line, '\n', ' ');
  return line + "\n";
}

std::string to_summary(const Report& report) {
  std::string text;
  for (const Outcome outcome : kOutcomes) {
    text += (text.empty() ? "" : ", ") + std::to_string(count(report, outcome)) + " " +
            std::string(to_string(outcome));
  }
  char time[32];
  std::snprintf(time, sizeof time, "%.1f", total_seconds(report));
  return text + " in " + time + " s\n";
}

std::string to_json_line(const Verdict& v) {
  return json_text(Json{{"event", "check"},
                        {"name", v.name},
                        {"wants", wants(v.name)},
                        {"outcome", to_string(v.outcome)},
                        {"detail", v.detail},
                        {"seconds", v.seconds}}) +
         "\n";
}

std::string to_json_line(const Check& check) {
  return json_text(Json{{"name", check.name}, {"wants", check.wants}}) + "\n";
}

std::string to_json_summary(const Report& report) {
  Json json = {
      {"event", "done"}, {"schema", 2}, {"plugin", report.plugin}, {"options", report.options}};
  for (const Outcome outcome : kOutcomes)
    json[std::string(to_string(outcome))] = count(report, outcome);
  json["seconds"] = total_seconds(report);
  return json_text(json) + "\n";
}

std::string to_junit(const Report& report) {
  struct Suite {
    std::string name, cases;
    Counts counts;
  };
  Counts all;
  std::vector<Suite> suites;
  for (const Verdict& v : report.verdicts) {
    auto suite = std::ranges::find(suites, family(v), &Suite::name);
    if (suite == suites.end()) suite = suites.insert(suite, {.name = family(v)});
    all.add(v);
    suite->counts.add(v);
    suite->cases += to_testcase(v);
  }
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"conform " +
                    escaped(report.plugin) + "\"" + all.attributes() + ">\n";
  for (const Suite& suite : suites) {
    xml += "  <testsuite name=\"" + escaped(suite.name) + "\"" + suite.counts.attributes() + ">\n" +
           suite.cases + "  </testsuite>\n";
  }
  return xml + "</testsuites>\n";
}

}  // namespace millrace::conform
