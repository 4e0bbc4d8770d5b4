// write_bytecode: ir::Module to a StableHLO portable artifact, which JAX, XLA and our own reader
// take. Read next: entry_pool.h (attributes and types), to_vhlo.h (an operation's attributes).
#pragma once

#include <optional>
#include <string>

#include "millrace/core/error.h"
#include "millrace/devices/cpu/bytecode/version.h"
#include "millrace/devices/cpu/ir/module.h"

namespace millrace::devices::cpu::bytecode {

// Of the version that is asked for, else of the oldest from 1.0.0 on that has all of the program:
// readers promise to take artifacts of versions before their own. chlo operations become composites
// with a decomposition (chlo_expansion.h). kUnimplemented with the operation if something has no
// form in the version, as chlo operations without an expansion and other dialects in any.
// kInvalidArgument for a version that VHLO does not have or an operation without an attribute that
// it needs. Locations are not written.
Result<std::string> write_bytecode(const ir::Module& module,
                                   std::optional<Version> version = std::nullopt);

}  // namespace millrace::devices::cpu::bytecode
