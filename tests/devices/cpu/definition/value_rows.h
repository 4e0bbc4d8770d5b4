// Rows of programs that return %r, run by the interpreter and by the planner, and of what they have
// to return.
#pragma once

#include <span>
#include <string>

#include "tests/devices/cpu/definition/definition_support.h"

namespace millrace::devices::cpu::testing {

struct Row {
  const char* name;
  const char* type;  // of %r
  const char* body;
  const char* expected;  // between dense< and >
};

inline void check(const Row& row) {
  SCOPED_TRACE(row.name);
  const std::string type = row.type;
  const std::string text = "func.func @main() -> " + type + " {\n" + row.body +
                           "\nreturn %r : " + type + "\n}\nfunc.func @expected() -> " + type +
                           " {\n%r = stablehlo.constant dense<" + row.expected + "> : " + type +
                           "\nreturn %r : " + type + "\n}\n";
  const auto module = stablehlo::text::read_text(text);
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  const Status verdict = stablehlo::verify::verify(*module);
  ASSERT_TRUE(verdict.has_value()) << verdict.error().to_string();
  const auto want = interpreted(*module, "expected", {});
  ASSERT_TRUE(want.has_value()) << want.error().to_string();
  const auto slow = interpreted(*module, "main", {});
  ASSERT_TRUE(slow.has_value()) << slow.error().to_string();
  EXPECT_EQ(difference(*slow, *want), "") << "by the interpreter";
  const auto fast = planned(*module, "main", {});
  ASSERT_TRUE(fast.has_value()) << fast.error().to_string();
  EXPECT_EQ(difference(*fast, *want), "") << "by the planner";
}

inline void check_all(std::span<const Row> rows) {
  for (const Row& row : rows) check(row);
}

}  // namespace millrace::devices::cpu::testing
