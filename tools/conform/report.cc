#include "millrace/tools/conform/report.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

namespace millrace::conform {
namespace {

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

// For an attribute or a text of XML 1.0.
std::string escaped(std::string_view text) {
  // Bytes that are no UTF-8 become replacement characters, as in JSON.
  const std::string valid =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string out;
  for (const char c : nlohmann::json::parse(valid).get<std::string>()) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      case '\t':
        out += "&#9;";
        break;
      default:
        // Other control characters have no place in XML, escaped or not.
        out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return out;
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
    return " tests=\"" + std::to_string(tests) + "\" failures=\"" + std::to_string(failures) +
           "\" errors=\"0\" skipped=\"" + std::to_string(skipped) + "\" time=\"" + seconds(time) +
           "\"";
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
  double total = 0;
  for (const Verdict& v : report.verdicts) total += v.seconds;
  std::string text;
  for (const Outcome outcome :
       {Outcome::kPassed, Outcome::kFailed, Outcome::kUnsupported, Outcome::kSkipped}) {
    text += (text.empty() ? "" : ", ") + std::to_string(count(report, outcome)) + " " +
            std::string(to_string(outcome));
  }
  char time[32];
  std::snprintf(time, sizeof time, "%.1f", total);
  return text + " in " + time + " s\n";
}

std::string to_json(const Report& report) {
  using Json = nlohmann::ordered_json;
  Json json = {{"schema", 1}, {"plugin", report.plugin}, {"options", report.options}};
  for (const Outcome outcome :
       {Outcome::kPassed, Outcome::kFailed, Outcome::kUnsupported, Outcome::kSkipped}) {
    json[std::string(to_string(outcome))] = count(report, outcome);
  }
  json["checks"] = Json::array();
  for (const Verdict& v : report.verdicts) {
    json["checks"].push_back({{"name", v.name},
                              {"wants", wants(v.name)},
                              {"outcome", to_string(v.outcome)},
                              {"detail", v.detail},
                              {"seconds", v.seconds}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_junit(const Report& report) {
  Counts all;
  std::vector<std::string> order;
  std::map<std::string, Counts> counts;
  std::map<std::string, std::string> cases;
  for (const Verdict& v : report.verdicts) {
    const std::string name = family(v);
    if (!counts.contains(name)) order.push_back(name);
    all.add(v);
    counts[name].add(v);
    cases[name] += to_testcase(v);
  }
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"conform " +
                    escaped(report.plugin) + "\"" + all.attributes() + ">\n";
  for (const std::string& name : order) {
    xml += "  <testsuite name=\"" + escaped(name) + "\"" + counts[name].attributes() + ">\n" +
           cases[name] + "  </testsuite>\n";
  }
  return xml + "</testsuites>\n";
}

}  // namespace millrace::conform
