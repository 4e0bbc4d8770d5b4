#include "millrace/devices/cpu/kernels/functions/tile_op.h"

namespace millrace::devices::cpu {

namespace {

struct Info {
  std::string_view name;
  int inputs;
};
constexpr Info kInfo[] = {
#define MILLRACE_OP_LOOP(kind, name, operands) {name, operands},
#include "millrace/devices/stablehlo/ir/ops.inc"
    {"copy", 1},
    {"compare EQ", 2},
    {"compare NE", 2},
    {"compare GE", 2},
    {"compare GT", 2},
    {"compare LE", 2},
    {"compare LT", 2},
    {"compare EQ total", 2},
    {"compare NE total", 2},
    {"compare GE total", 2},
    {"compare GT total", 2},
    {"compare LE total", 2},
    {"compare LT total", 2},
};

}  // namespace

int tile_op_inputs(TileOp op) { return kInfo[static_cast<int>(op)].inputs; }
bool is_comparison(TileOp op) { return op >= TileOp::kEq && op <= TileOp::kTotalLt; }
std::string_view to_string(TileOp op) { return kInfo[static_cast<int>(op)].name; }

TileLoop find_tile_loop(TileOp op, DType in, DType out) {
  TileLoop loop = MILLRACE_BEST_ISA(find_common_loop(op, in, out));
  if (loop == nullptr) loop = MILLRACE_BEST_ISA(find_half_loop(op, in, out));
  return loop != nullptr ? loop : baseline::find_other_loop(op, in, out);
}

}  // namespace millrace::devices::cpu
