// Lowers one operation that is neither a call nor control flow to nodes of the graph.
#pragma once

#include <functional>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/cpu/compile/graph.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::cpu::compiler {

struct OpToLower {
  const ir::Module& module;
  Graph& graph;
  const ir::Op& op;
  std::vector<ValueId> inputs = {};  // what the operands became
  std::vector<Shape> shapes = {};    // of the results
  // What an array of the surroundings became, which the op's bodies may read.
  std::function<ValueId(const ir::Value*)> outer = {};
};

// Appends nodes to `to` and gives the values of the results. What no faster kernel does becomes one
// reference node.
Result<std::vector<ValueId>> lower_op(OpToLower op, Block& to);

}  // namespace millrace::devices::cpu::compiler
