// The loops of the less common element types and their conversions, for any processor.
#include "millrace/devices/cpu/kernels/functions/tile_loops.inc"

namespace millrace::devices::cpu::baseline {

TileLoop find_other_loop(TileOp op, DType in, DType out) { return find_loop<false>(op, in, out); }

}  // namespace millrace::devices::cpu::baseline
