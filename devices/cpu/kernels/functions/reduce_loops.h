// ReduceLoops: the loops of a reduction by a common body (Region::kind) for one
// element type. Sums and products of floats are kept in double between blocks of 16 lanes, so a
// long sum loses little. Read next: loop_kernel.h, which drives them.
#pragma once

#include <cstdint>

#include "millrace/devices/cpu/kernels/base/isa_level.h"
#include "millrace/devices/cpu/kernels/functions/tile_op.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

// An accumulator takes acc_bytes, a lane lane_bytes. "op=" combines by the reduction's body.
struct ReduceLoops {
  int acc_bytes = 0;
  int lane_bytes = 0;
  void (*acc_identity)(void* acc, std::int64_t n) = nullptr;
  void (*row)(void* acc, const void* data, int n) = nullptr;  // *acc op= data[0] ... data[n-1]
  // out[r] = *init op data[r * n] op ...; count * n is at most kTileElements.
  void (*rows)(void* out, const void* data, const void* init, int count, int n) = nullptr;
  void (*lane_identity)(void* lanes, int n) = nullptr;
  void (*column)(void* lanes, const void* data, int n) = nullptr;         // lanes[i] op= data[i]
  void (*flush)(void* acc, const void* lanes, int n) = nullptr;           // acc[i] op= lanes[i]
  void (*merge)(void* acc, const void* other, std::int64_t n) = nullptr;  // acc[i] op= other[i]
  // out[i] = *init op acc[i]
  void (*finish)(void* out, const void* acc, const void* init, std::int64_t n) = nullptr;

  explicit operator bool() const { return row != nullptr; }
};

MILLRACE_IN_EACH_ISA(ReduceLoops reduce_loops(TileOp kind, DType type);)

// All null if the kind is none of Region::kind, or does not exist for the type (bitwise ones of
// floats, complex types).
ReduceLoops find_reduce_loops(TileOp kind, DType type);

}  // namespace millrace::devices::cpu
