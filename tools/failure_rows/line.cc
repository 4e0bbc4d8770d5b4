#include "millrace/tools/failure_rows/line.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "millrace/core/base/json_text.h"

namespace millrace::failures {
namespace {

void flatten(const nlohmann::json& value, const std::string& name, Line& line) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items())
      flatten(inner, name.empty() ? key : name + "." + key, line);
    return;
  }
  line.fields[name] = value.is_string() ? value.get<std::string>() : json_text(value);
}

}  // namespace

std::string Line::text(const std::string& name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string() : found->second;
}

double Line::number(const std::string& name, double otherwise) const {
  const auto found = fields.find(name);
  return found == fields.end() ? otherwise : std::strtod(found->second.c_str(), nullptr);
}

std::optional<Line> read_line(const std::string& text) {
  if (!text.starts_with('{') || !nlohmann::json::accept(text)) return std::nullopt;
  Line line;
  flatten(nlohmann::json::parse(text), "", line);
  return line;
}

}  // namespace millrace::failures
