// read_bytecode: a StableHLO portable artifact (MLIR bytecode of the VHLO dialect, as jax.export
// and PJRT clients make it) to ir::Module. A room of its own beside text/: it shares nothing with
// the reader of text but ir/, and has a writer. Read next: container.h (the outer form), entries.h
// (attributes and types), op_attributes.h; version.h and vhlo_ops.h are the tables.
#pragma once

#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::bytecode {

// Whether the bytes begin as MLIR bytecode does.
bool is_bytecode(std::string_view bytes);

// Versions 0.9.0 to 1.20.0; operations of earlier ones become those of the newest. Linear in the
// size of the bytes; allocates at most a small multiple of it, whatever they say. The bytes need
// not outlive the module. kInvalidArgument with "byte N: op: what was found, what was expected";
// kUnimplemented for bytecode that is newer or no portable artifact. Locations in the module are
// 0:N, the op's place in the bytes. Checks the form only: what shapes and types mean is
// verify/verify.h's part.
Result<ir::Module> read_bytecode(std::string_view bytes);

}  // namespace millrace::devices::stablehlo::bytecode
