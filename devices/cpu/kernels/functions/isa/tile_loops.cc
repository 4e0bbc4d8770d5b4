// The loops of the common element types, compiled once per instruction set: see tile_loops.inc.
#include "millrace/devices/cpu/kernels/functions/tile_loops.inc"

namespace millrace::devices::cpu::MILLRACE_ISA {

TileLoop find_common_loop(TileOp op, DType in, DType out) { return find_loop<true>(op, in, out); }

}  // namespace millrace::devices::cpu::MILLRACE_ISA
