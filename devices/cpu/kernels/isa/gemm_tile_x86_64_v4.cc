// Blocks of products of matrices for x86-64-v4 (CMakeLists.txt sets the flags); see gemm_tile.inc.
#if defined(MILLRACE_HAVE_X86_64_LEVELS)
#define MILLRACE_ISA x86_64_v4
#define MILLRACE_VECTOR_BYTES 64
#define MILLRACE_TILE_ROWS 8
#define MILLRACE_TILE_VECTORS 3
#include "millrace/devices/cpu/kernels/gemm_tile.inc"
#endif
