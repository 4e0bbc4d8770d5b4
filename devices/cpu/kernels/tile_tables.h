// The tables behind find_tile_loop: one per instruction set for the common types, one for all
// others; and what f16 and bf16 have beside it where there are vectors for them.
#pragma once

#include "millrace/devices/cpu/kernels/tile_op.h"

namespace millrace::devices::cpu {

namespace baseline {
TileLoop find_common_loop(TileOp op, DType in, DType out);
TileLoop find_other_loop(TileOp op, DType in, DType out);
}  // namespace baseline
namespace x86_64_v3 {
TileLoop find_common_loop(TileOp op, DType in, DType out);
TileLoop find_half_loop(TileOp op, DType in, DType out);
}  // namespace x86_64_v3
namespace x86_64_v4 {
TileLoop find_common_loop(TileOp op, DType in, DType out);
TileLoop find_half_loop(TileOp op, DType in, DType out);
}  // namespace x86_64_v4

}  // namespace millrace::devices::cpu
