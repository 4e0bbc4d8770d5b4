// Cases of StableHLO's interpreter tests (tests/interpret) as programs that compile: parts between
// "// -----" lines, checks in the short form of their own dialect, and programs that run on a grid
// of processes (interpreter.run_parallel). Read next: main.cc.
#pragma once

#include <string>
#include <string_view>

#include "millrace/core/base/error.h"

namespace millrace::conformance {

// Part i of a text, from 0; kNotFound if there are fewer.
Result<std::string> part_of(std::string_view text, int i);

// check.expect_*'s in their short form become custom calls, with constants of their own.
std::string with_called_checks(std::string_view text);

// Each interpreter.run_parallel becomes a call of one function that does what all processes do. The
// text as it is if there is none. kUnimplemented for processes with different programs.
Result<std::string> in_one_process(const std::string& text);

}  // namespace millrace::conformance
