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

namespace {

// Whether the bits of the result are the same for numbers with and without a sign.
bool takes_any_sign(TileOp op) {
  using enum TileOp;
  return op == kAdd || op == kSubtract || op == kMultiply || op == kAnd || op == kOr ||
         op == kXor || op == kNot || op == kNegate || op == kShiftLeft ||
         op == kShiftRightLogical || op == kSelect || op == kCopy || op == kEq || op == kNe;
}
bool is_integer(DType type) { return is_signed_integer(type) || is_unsigned_integer(type); }

}  // namespace

TileLoop find_tile_loop(TileOp op, DType in, DType out) {
  if (is_complex(in) || is_complex(out)) return MILLRACE_BEST_ISA(find_complex_loop(op, in, out));
  // A choice moves bits.
  if (op == TileOp::kSelect && is_floating(in) && byte_width(in) <= 2)
    in = out = byte_width(in) == 2 ? DType::kU16 : DType::kU8;
  // There are vectors for numbers of 64 bits that have a sign.
  const auto signed_where_alike = [&](DType& type, bool alike) {
    if (type == DType::kU64 && alike) type = DType::kI64;
  };
  if (op == TileOp::kConvert) {
    const DType from = in;
    signed_where_alike(in, is_integer(out));
    signed_where_alike(out, is_integer(from));
  } else {
    signed_where_alike(in, takes_any_sign(op));
    signed_where_alike(out, takes_any_sign(op));
  }
  TileLoop loop = MILLRACE_BEST_ISA(find_common_loop(op, in, out));
  if (loop == nullptr) loop = MILLRACE_BEST_ISA(find_half_loop(op, in, out));
  return loop != nullptr ? loop : baseline::find_other_loop(op, in, out);
}
TileLoop find_pair_loop(const TilePair& pair, DType type) {
  return MILLRACE_BEST_ISA(find_common_pair(pair, type));
}
TileLoop find_rotation_loop(DType type) { return MILLRACE_BEST_ISA(find_common_rotation(type)); }
TileLoop find_rotation_xor_loop(DType type) {
  return MILLRACE_BEST_ISA(find_common_rotation_xor(type));
}

}  // namespace millrace::devices::cpu
