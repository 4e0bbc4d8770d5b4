// The interpreter of unfused operations: runs a function op by op, every op by its definition
// (devices/cpu/kernels/call.h), each result in memory of its own. Slow and plain: the oracle
// that compiled programs are tested against.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/shape.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::cpu::testing {

namespace ir = stablehlo::ir;

struct Array {
  Shape shape;
  std::vector<std::byte> bytes;
};

// Runs `function` of a verified module. Tuples among arguments and results stand as their members
// in a row, tokens not at all. kUnimplemented with line, column and op for what is not known;
// kInvalidArgument if the inputs are not those of the function.
Result<std::vector<Array>> interpret(const ir::Module& module, const ir::Function& function,
                                     std::vector<Array> inputs);

}  // namespace millrace::devices::cpu::testing
