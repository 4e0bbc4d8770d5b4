// printed: numbers and words in a text by a format of printf.
#pragma once

#include <cstdio>
#include <string>

namespace millrace {

// At most 511 bytes; what is longer ends there.
template <class... Args>
std::string printed(const char* format, Args... args) {
  char text[512];
  std::snprintf(text, sizeof text, format, args...);
  return text;
}

}  // namespace millrace
