#include "millrace/tools/conform/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "millrace/core/base/json_text.h"
#include "millrace/core/base/printed.h"
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

std::string seconds(double value) { return printed("%.3f", value); }

std::string_view wants(std::string_view name) {
  const auto check = std::ranges::find(all_checks(), name, &Check::name);
  return check == all_checks().end() ? std::string_view() : check->wants;
}

using trace::escaped;

std::string family(const Verdict& verdict) {
  return verdict.name.substr(0, verdict.name.find('.'));
}

std::string to_testcase(const Verdict& v) {
  const std::string head = "    <testcase classname=\"" + escaped(family(v)) + "\" name=\"" +
                           escaped(v.name) + "\" time=\"" + seconds(v.seconds) + "\"";
  const std::string detail = escaped(v.detail);
  if (v.outcome == Outcome::kPassed) return head + "/>\n";
  const std::string why =
      v.outcome == Outcome::kFailed
          ? "<failure message=\"" + detail + "\">wanted: " + escaped(wants(v.name)) + "</failure>"
          : "<skipped message=\"" + std::string(to_string(v.outcome)) + ": " + detail + "\"/>";
  return head + ">\n      " + why + "\n    </testcase>\n";
}

// The attributes of a testsuite, or of all of them.
std::string attributes(const Report& report) {
  return joined(" tests=\"", report.verdicts.size(), "\" failures=\"",
                count(report, Outcome::kFailed), "\" errors=\"0\" skipped=\"",
                count(report, Outcome::kUnsupported) + count(report, Outcome::kSkipped),
                "\" time=\"", seconds(total_seconds(report)), "\"");
}

}  // namespace

int count(const Report& report, Outcome outcome) {
  return static_cast<int>(std::ranges::count(report.verdicts, outcome, &Verdict::outcome));
}

std::string to_line(const Verdict& v) {
  const std::string outcome(to_string(v.outcome));
  const std::string time = v.outcome == Outcome::kSkipped ? "" : seconds(v.seconds) + " s";
  std::string line = printed("%-36s%-12s%-9s", v.name.c_str(), outcome.c_str(), time.c_str());
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
  return text + printed(" in %.1f s\n", total_seconds(report));
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
  std::vector<Report> suites;  // by family
  for (const Verdict& v : report.verdicts) {
    auto suite = std::ranges::find(suites, family(v), &Report::plugin);
    if (suite == suites.end())
      suite = suites.insert(suite, {.plugin = family(v), .options = {}, .verdicts = {}});
    suite->verdicts.push_back(v);
  }
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"conform " +
                    escaped(report.plugin) + "\"" + attributes(report) + ">\n";
  for (const Report& suite : suites) {
    xml += "  <testsuite name=\"" + escaped(suite.plugin) + "\"" + attributes(suite) + ">\n";
    for (const Verdict& v : suite.verdicts) xml += to_testcase(v);
    xml += "  </testsuite>\n";
  }
  return xml + "</testsuites>\n";
}

}  // namespace millrace::conform
