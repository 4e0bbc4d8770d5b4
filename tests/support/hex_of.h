// hex_of: bytes as the tables of tests have them: two digits each, - for none.
#pragma once

#include <cstdio>
#include <string>

namespace millrace::testing {

inline std::string hex_of(const std::string& bytes) {
  std::string out;
  char digits[3];
  for (const char c : bytes) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(c) & 0xFF);
    out += digits;
  }
  return out.empty() ? "-" : out;
}

}  // namespace millrace::testing
