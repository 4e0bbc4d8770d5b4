// Svg: the text of an SVG picture, element by element. All numbers are pixels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::trace {

// With one digit after the point, where it needs one.
std::string svg_number(double value);

// For an attribute or a text of XML 1.0. Control characters, which have no place in it, become '?',
// and bytes that are no UTF-8 U+FFFD, as in JSON.
std::string escaped(std::string_view text);
// 1, 2 or 5 times a power of ten, so that at most a dozen of them make the length.
std::int64_t tick_length(std::int64_t length);

// Colors of texts.
inline constexpr const char* kInk = "#1e293b";
inline constexpr const char* kPale = "#64748b";

// An element's attributes, in order.
using Attributes = std::vector<std::pair<const char*, std::string>>;

struct TextStyle {
  const char* size = "12";
  const char* color = kPale;
  const char* anchor = nullptr;  // where x is: "start", "middle" or "end"; null: the start
  bool bold = false;
};

class Svg {
 public:
  // text is escaped; values of attributes are taken as they are.
  void element(const char* name, const Attributes& attributes, std::string_view text = {});
  void rect(double x, double y, double width, double height, const Attributes& more);
  void line(double x1, double y1, double x2, double y2, const Attributes& more = {});
  void text(double x, double baseline, std::string_view words, const TextStyle& style);
  void raw(const std::string& text) { text_ += text; }
  // All of it as a file's text: a picture of that size, on white.
  std::string document(double width, double height) const;

 private:
  std::string text_;
};

}  // namespace millrace::trace
