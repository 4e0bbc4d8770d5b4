// What a program says of its own arguments and results besides shapes: memories and layouts. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"

namespace millrace::pjrt_plugin {

struct ProgramFacts {
  std::string name;  // of the module: "jit_step"
  // Per argument and result: an index into kMemoryKinds (client.h).
  std::vector<int> argument_kinds, result_kinds;
  // Those that are tokens, which order calls and have no bytes: the CPU client does not see them.
  std::vector<char> argument_is_token, result_is_token;
};

// Errors: those of reading StableHLO; kInvalidArgument for a memory that no device has,
// kUnimplemented for a layout that is not row-major; both name the argument or result.
Result<ProgramFacts> read_program_facts(std::string_view code);

}  // namespace millrace::pjrt_plugin
