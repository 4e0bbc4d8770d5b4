// TileOp: the elementwise operations of the tile interpreter, and the table of their loops. A loop
// works on a tile, at most kTileElements consecutive elements that stay in the first-level cache.
// The loops of the common types are compiled for three instruction sets (tile_loops.inc) and picked
// at start. Read next: tile_program.h, which strings loops together.
#pragma once

#include <cstdint>
#include <string_view>

#include "millrace/devices/cpu/kernels/base/isa_level.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

inline constexpr int kTileElements = 512;

// StableHLO's elementwise operations (stablehlo/ir/ops.inc), a copy and each comparison.
// Comparisons and kIsFinite give booleans; kConvert changes the type; kSelect takes a boolean and
// two values; kClamp takes low, value, high.
enum class TileOp : std::uint8_t {
#define MILLRACE_OP_LOOP(kind, name, operands) kind,
#include "millrace/devices/stablehlo/ir/ops.inc"
  kCopy,
  kEq,
  kNe,
  kGe,
  kGt,
  kLe,
  kLt,
  kTotalEq,
  kTotalNe,
  kTotalGe,
  kTotalGt,
  kTotalLe,
  kTotalLt,
};

// out, ins and their element types are those asked for; out overlaps no input unless it is one of
// them exactly. param: kReducePrecision's exponent bits << 8 | mantissa bits, else 0.
using TileLoop = void (*)(void* out, const void* const* ins, int n, std::uint32_t param);

// How many inputs an op takes.
int tile_op_inputs(TileOp op);
bool is_comparison(TileOp op);
std::string_view to_string(TileOp op);

// The loop of op with operands of type `in` (kSelect: the type of the values) and results of type
// `out`, or nullptr if the op does not exist for these types.
TileLoop find_tile_loop(TileOp op, DType in, DType out);

// Two operations on one type in one loop, which spares what lies between them its way through
// memory. Each rounds its result, as in loops of their own.
struct TilePair {
  TileOp first, second;
  bool swapped = false;  // the result of the first is the second operand of the second
};
// second(first(ins[0], ins[1]), ins[2]), or nullptr if there is no such loop.
TileLoop find_pair_loop(const TilePair& pair, DType type);
// ins[0] << ins[1] | ins[0] >> ins[2], without a sign: a rotation. nullptr: there is none.
TileLoop find_rotation_loop(DType type);
// The same ^ ins[3]: a step of counter-based generators (Threefry).
TileLoop find_rotation_xor_loop(DType type);

// Where it looks: for complex numbers among theirs alone; else among the common types, then what
// f16 and bf16 have where there are vectors for them, then all others.
MILLRACE_IN_EACH_ISA(TileLoop find_common_loop(TileOp op, DType in, DType out);
                     TileLoop find_half_loop(TileOp op, DType in, DType out);
                     TileLoop find_complex_loop(TileOp op, DType in, DType out);
                     TileLoop find_common_pair(const TilePair& pair, DType type);
                     TileLoop find_common_rotation(DType type);
                     TileLoop find_common_rotation_xor(DType type);)
namespace baseline {
TileLoop find_other_loop(TileOp op, DType in, DType out);
}

}  // namespace millrace::devices::cpu
