// read_text: StableHLO text (what JAX's as_text() and mlir-opt print) to ir::Module. Generic and
// pretty forms, locations skipped. Read next: state.h, how the pieces of the reader share one
// state.
#pragma once

#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::text {

// Linear in the size of the text; allocates at most a small multiple of it, whatever the text says.
// The text need not outlive the module. kInvalidArgument with "line:column: op: what was found,
// what was expected". Checks the form only: what shapes and types mean is verify/verify.h's part.
// Bytecode is read by bytecode/read_bytecode.h; read_program.h distinguishes the two.
Result<ir::Module> read_text(std::string_view text);

}  // namespace millrace::devices::stablehlo::text
