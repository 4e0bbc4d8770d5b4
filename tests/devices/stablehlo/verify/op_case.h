// One operation in a function, and what the verifier says of it.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "millrace/devices/stablehlo/text/read_text.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace millrace::devices::stablehlo::verify {

struct OpCase {
  const char* name;
  const char* op;  // it stands on line 2
  const char* verdict;
};

inline void PrintTo(const OpCase& c, std::ostream* out) { *out << c.name; }

// "good", or the words of the error; of a text that cannot be read as well.
inline std::string verdict(const std::string& text) {
  const auto module = text::read_text(text);
  if (!module) return "not read: " + module.error().message();
  const Status status = verify(*module);
  return status ? "good" : status.error().message();
}

// The same of one operation, which must be readable.
inline std::string verdict(const std::string& arguments, const std::string& op) {
  std::string words = verdict("func.func @main(" + arguments + ") {\n  " + op + "\n  return\n}\n");
  EXPECT_FALSE(words.starts_with("not read: ")) << words << "\n" << op;
  return words;
}

}  // namespace millrace::devices::stablehlo::verify
