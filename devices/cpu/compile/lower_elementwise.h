// Which TileOp a StableHLO or CHLO operation is, if it is elementwise.
#pragma once

#include <cstdint>
#include <optional>

#include "millrace/devices/cpu/kernels/elementwise/tile_op.h"
#include "millrace/devices/stablehlo/ir/op.h"

namespace millrace::devices::cpu {
namespace ir = stablehlo::ir;
}
namespace millrace::devices::cpu::compiler {

struct ElementwiseOp {
  TileOp op;
  std::uint32_t param = 0;
};

// nullopt if op is not elementwise. Says nothing about element types.
std::optional<ElementwiseOp> elementwise_op(const ir::Op& op);

}  // namespace millrace::devices::cpu::compiler
