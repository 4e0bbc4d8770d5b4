// Svg: the text of an SVG picture, element by element.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::trace {

// With one digit after the point, where it needs one.
std::string svg_number(double value);

// An element's attributes, in order.
using Attributes = std::vector<std::pair<const char*, std::string>>;

class Svg {
 public:
  // text is escaped; values of attributes are taken as they are.
  void element(const char* name, const Attributes& attributes, std::string_view text = {});
  void raw(const std::string& text) { text_ += text; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace millrace::trace
