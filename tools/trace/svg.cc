#include "millrace/tools/trace/svg.h"

#include <cstdio>
#include <span>

#include "millrace/transfer/formats/file.h"

namespace millrace::trace {
namespace {

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return safe;
}

}  // namespace

std::string svg_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  std::string shortest(text);
  if (shortest.ends_with(".0")) shortest.resize(shortest.size() - 2);
  return shortest;
}

void Svg::element(const char* name, const Attributes& attributes, std::string_view text) {
  text_ += std::string("<") + name;
  for (const auto& [key, value] : attributes)
    text_ += std::string(" ") + key + "=\"" + value + "\"";
  text_ += text.empty() ? "/>\n" : ">" + escaped(text) + "</" + name + ">\n";
}

std::string Svg::document(double width, double height) const {
  const std::string w = svg_number(width), h = svg_number(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h +
         "\" viewBox=\"0 0 " + w + " " + h +
         "\" font-family=\"ui-sans-serif, Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n" +
         text_ + "</svg>\n";
}

Status write_svg(const std::string& file, const std::string& document) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(document));
  return transfer::write_file(file, {&bytes, 1});
}

}  // namespace millrace::trace
