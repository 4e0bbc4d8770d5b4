// verify: whether a module means something: types and shapes of every known operation, calls,
// terminators and regions. Runs after read_text and before any pass; passes may rely on what it
// checked.
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::verify {

// The first violation as kInvalidArgument: "line:column: op: what was found, what was expected".
// Operations of dialects that it does not know pass with the generic checks only (types, and what
// their regions hold); Shardy's and casts have rules.
Status verify(const ir::Module& module);

// What the rule of `op`, an operation of `module` with operands of static shape, says of its
// results: per result its dimensions, ir::kDynamic where it says nothing. Errors as above.
Result<std::vector<std::vector<std::int64_t>>> infer(const ir::Module& module, const ir::Op& op);

}  // namespace millrace::devices::stablehlo::verify
