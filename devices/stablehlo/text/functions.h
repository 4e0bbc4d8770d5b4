// func.func and what stands at the top level of a module, from text.
#pragma once

#include "millrace/devices/stablehlo/text/state.h"

namespace millrace::devices::stablehlo::text {

// func.func at the cursor, stepped over already: [private] @name(...) -> ... attributes {...} {...}
bool read_function(State& s, ir::Location where);
// One function or other op of a module's body.
bool read_top_level(State& s);
// "func.func"() <{...}> ({...}) : () -> () has become an op: makes the function of it.
bool function_from_op(State& s, ir::Op& op);

}  // namespace millrace::devices::stablehlo::text
