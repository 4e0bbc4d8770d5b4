// TileOp: the elementwise operations of the tile interpreter, and the table of their loops. A loop
// works on a tile, at most kTileElements consecutive elements that stay in the first-level cache.
// The loops of the common types are compiled for three instruction sets (tile_loops.inc) and picked
// at start. Read next: tile_program.h, which strings loops together.
#pragma once

#include <cstdint>
#include <string_view>

#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

inline constexpr int kTileElements = 512;

// StableHLO's elementwise operations. Comparisons and kIsFinite give booleans; kConvert and
// kBitcast change the type; kSelect takes a boolean and two values; kClamp takes low, value, high.
enum class TileOp : std::uint8_t {
  kNegate,
  kAbs,
  kSign,
  kNot,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kSqrt,
  kRsqrt,
  kCbrt,
  kTanh,
  kLogistic,
  kSin,
  kCos,
  kTan,
  kFloor,
  kCeil,
  kRoundAfz,
  kRoundEven,
  kPopcnt,
  kClz,
  kErf,
  kErfc,
  kIsFinite,
  kReducePrecision,
  kCopy,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRem,
  kMax,
  kMin,
  kPow,
  kAtan2,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRightLogical,
  kShiftRightArithmetic,
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
  kSelect,
  kClamp,
  kConvert,
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

}  // namespace millrace::devices::cpu
