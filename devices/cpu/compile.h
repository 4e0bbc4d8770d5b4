// compile: from a program to what the CPU client runs: read, verify, plan.
#pragma once

#include <memory>

#include "millrace/devices/cpu/compiled.h"
#include "millrace/devices/program.h"

namespace millrace::devices::cpu {

// Errors carry line:column: kInvalidArgument for a program that is wrong, kUnimplemented for one
// that the CPU device cannot run.
Result<std::shared_ptr<const Compiled>> compile(const Program& program,
                                                const CompileOptions& options);

}  // namespace millrace::devices::cpu
