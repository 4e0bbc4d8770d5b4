#include "millrace/devices/cpu/kernels/tile_op.h"

#include "millrace/devices/cpu/kernels/isa_level.h"
#include "millrace/devices/cpu/kernels/tile_tables.h"

namespace millrace::devices::cpu {

int tile_op_inputs(TileOp op) {
  if (op == TileOp::kSelect || op == TileOp::kClamp) return 3;
  return op >= TileOp::kAdd && op <= TileOp::kTotalLt ? 2 : 1;
}

bool is_comparison(TileOp op) { return op >= TileOp::kEq && op <= TileOp::kTotalLt; }

std::string_view to_string(TileOp op) {
  static constexpr std::string_view kNames[] = {"negate",
                                                "abs",
                                                "sign",
                                                "not",
                                                "exponential",
                                                "exponential_minus_one",
                                                "log",
                                                "log_plus_one",
                                                "sqrt",
                                                "rsqrt",
                                                "cbrt",
                                                "tanh",
                                                "logistic",
                                                "sine",
                                                "cosine",
                                                "tan",
                                                "floor",
                                                "ceil",
                                                "round_nearest_afz",
                                                "round_nearest_even",
                                                "popcnt",
                                                "count_leading_zeros",
                                                "erf",
                                                "erfc",
                                                "is_finite",
                                                "reduce_precision",
                                                "copy",
                                                "add",
                                                "subtract",
                                                "multiply",
                                                "divide",
                                                "remainder",
                                                "maximum",
                                                "minimum",
                                                "power",
                                                "atan2",
                                                "and",
                                                "or",
                                                "xor",
                                                "shift_left",
                                                "shift_right_logical",
                                                "shift_right_arithmetic",
                                                "compare EQ",
                                                "compare NE",
                                                "compare GE",
                                                "compare GT",
                                                "compare LE",
                                                "compare LT",
                                                "compare EQ total",
                                                "compare NE total",
                                                "compare GE total",
                                                "compare GT total",
                                                "compare LE total",
                                                "compare LT total",
                                                "select",
                                                "clamp",
                                                "convert"};
  return kNames[static_cast<int>(op)];
}

TileLoop find_tile_loop(TileOp op, DType in, DType out) {
  TileLoop loop = nullptr;
  switch (isa_level()) {
#if defined(MILLRACE_HAVE_X86_64_LEVELS)
    case IsaLevel::kX86V4:
      loop = x86_64_v4::find_common_loop(op, in, out);
      if (loop == nullptr) loop = x86_64_v4::find_half_loop(op, in, out);
      break;
    case IsaLevel::kX86V3:
      loop = x86_64_v3::find_common_loop(op, in, out);
      if (loop == nullptr) loop = x86_64_v3::find_half_loop(op, in, out);
      break;
#endif
    default:
      loop = baseline::find_common_loop(op, in, out);
      break;
  }
  return loop != nullptr ? loop : baseline::find_other_loop(op, in, out);
}

}  // namespace millrace::devices::cpu
