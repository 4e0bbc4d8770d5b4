// Svg: the text of an SVG picture, element by element.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/core/error.h"

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
  // All of it as a file's text: a picture of that many pixels.
  std::string document(double width, double height) const;

 private:
  std::string text_;
};

// Blocks.
Status write_svg(const std::string& file, const std::string& document);

}  // namespace millrace::trace
