// Loops of the common types for any processor; see tile_loops.inc.
#define MILLRACE_ISA baseline
#include "millrace/devices/cpu/kernels/tile_loops_common.inc"
