// The parts of lower() (lower.h). lower_op.cc lowers operations that are neither calls nor control
// flow; lower_region.cc elementwise ones and the bodies of reduce, scatter and sort. one_process.cc
// decides whether a program is for one process: it then runs on one device, and its collectives
// return their operands.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/cpu/compile/graph.h"
#include "millrace/devices/cpu/kernels/functions/tile_op.h"
#include "millrace/devices/cpu/kernels/region.h"
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

struct ElementwiseOp {
  TileOp op;
  std::uint32_t param = 0;
};

// nullopt if op is not elementwise. Says nothing about element types.
std::optional<ElementwiseOp> elementwise_op(const ir::Op& op);

// The body of `op`, whose arguments and results are scalars. kUnimplemented if an op in it is not
// elementwise.
Result<std::shared_ptr<const Region>> lower_region(const ir::Module& module, const ir::Op& op,
                                                   int region_index);

// kUnimplemented if the module says that it is for several replicas or partitions.
Status check_one_process(const ir::Module& module);
// kUnimplemented, with its place, if op is a collective whose groups name another process than the
// first.
Status check_one_process(const ir::Op& op);

}  // namespace millrace::devices::cpu::compiler
