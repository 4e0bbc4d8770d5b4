// Line: an object of JSON as a flat list of what is in it, one line of what a job writes.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace millrace::failures {

struct Line {
  // Values as JSON writes them, texts without quotes; "first_failure.rank" for what is nested.
  std::map<std::string, std::string> fields = {};

  bool has(const std::string& name) const { return fields.contains(name); }
  std::string text(const std::string& name) const;  // empty: it is not there
  double number(const std::string& name, double otherwise = 0) const;
  bool is(const std::string& name) const { return text(name) == "true"; }
};

// nullopt: it is no object of JSON.
std::optional<Line> read_line(const std::string& text);

}  // namespace millrace::failures
