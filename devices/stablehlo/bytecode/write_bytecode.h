// write_bytecode: ir::Module to a StableHLO portable artifact, which JAX, XLA and our own reader
// take. Read next: entry_pool.h (attributes and types), op_attributes.h (an operation's
// attributes).
#pragma once

#include <optional>
#include <string>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/bytecode/version.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::bytecode {

// Writes the version that is asked for, else the oldest from 1.0.0 on that has all of the program:
// readers promise to take artifacts of versions before their own. chlo operations become composites
// with a decomposition (chlo_expansion.h). kUnimplemented with the operation if something has no
// form in the version, as chlo operations without an expansion and other dialects in any.
// kInvalidArgument for a version that VHLO does not have or an operation without an attribute that
// it needs. Locations are not written.
Result<std::string> write_bytecode(const ir::Module& module,
                                   std::optional<Version> version = std::nullopt);

}  // namespace millrace::devices::stablehlo::bytecode
