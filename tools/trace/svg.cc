#include "millrace/tools/trace/svg.h"

#include <nlohmann/json.hpp>

#include "millrace/core/base/json_text.h"
#include "millrace/core/base/printed.h"

namespace millrace::trace {

std::string escaped(std::string_view given) {
  const std::string text =
      nlohmann::json::parse(json_text(nlohmann::json(given))).get<std::string>();
  constexpr std::string_view kSpecial = "&<>\"\n\t";
  constexpr const char* kNames[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#10;", "&#9;"};
  std::string safe;
  for (const char c : text) {
    if (const std::size_t i = kSpecial.find(c); i != std::string_view::npos)
      safe += kNames[i];
    else
      safe += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return safe;
}

std::int64_t tick_length(std::int64_t length) {
  std::int64_t tick = 1;
  for (int i = 0; tick * 12 < length; ++i) tick = i % 3 == 1 ? tick / 2 * 5 : tick * 2;
  return tick;
}

std::string svg_number(double value) {
  std::string shortest = printed("%.1f", value);
  if (shortest.ends_with(".0")) shortest.resize(shortest.size() - 2);
  return shortest;
}

void Svg::element(const char* name, const Attributes& attributes, std::string_view text) {
  text_ += std::string("<") + name;
  for (const auto& [key, value] : attributes)
    text_ += std::string(" ") + key + "=\"" + value + "\"";
  text_ += text.empty() ? "/>\n" : ">" + escaped(text) + "</" + name + ">\n";
}

void Svg::rect(double x, double y, double width, double height, const Attributes& more) {
  Attributes attributes = {{"x", svg_number(x)},
                           {"y", svg_number(y)},
                           {"width", svg_number(width)},
                           {"height", svg_number(height)}};
  attributes.insert(attributes.end(), more.begin(), more.end());
  element("rect", attributes);
}

void Svg::line(double x1, double y1, double x2, double y2, const Attributes& more) {
  Attributes attributes = {{"x1", svg_number(x1)},
                           {"y1", svg_number(y1)},
                           {"x2", svg_number(x2)},
                           {"y2", svg_number(y2)},
                           {"stroke", "#e2e8f0"}};
  attributes.insert(attributes.end(), more.begin(), more.end());
  element("line", attributes);
}

void Svg::text(double x, double baseline, std::string_view words, const TextStyle& style) {
  Attributes attributes = {
      {"x", svg_number(x)}, {"y", svg_number(baseline)}, {"font-size", style.size}};
  if (style.bold) attributes.emplace_back("font-weight", "600");
  if (style.anchor != nullptr) attributes.emplace_back("text-anchor", style.anchor);
  attributes.emplace_back("fill", style.color);
  element("text", attributes, words);
}

std::string Svg::document(double width, double height) const {
  const std::string w = svg_number(width), h = svg_number(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h +
         "\" viewBox=\"0 0 " + w + " " + h +
         "\" font-family=\"ui-sans-serif, Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n" +
         "<rect width=\"" + w + "\" height=\"" + h + "\" rx=\"10\" fill=\"#ffffff\"/>\n" + text_ +
         "</svg>\n";
}

}  // namespace millrace::trace
