// verify: whether a module means something: types and shapes of every known operation, calls,
// terminators and regions. Runs after read_text and before any pass; passes may rely on what it
// checked.
#pragma once

#include "millrace/core/error.h"
#include "millrace/devices/cpu/ir/module.h"

namespace millrace::devices::cpu::verify {

// The first violation as kInvalidArgument: "line:column: op: what was found, what was expected".
// Operations that it has no rule for (kOther, CHLO and the rarer ones) pass with the generic checks
// only.
Status verify(const ir::Module& module);

}  // namespace millrace::devices::cpu::verify
