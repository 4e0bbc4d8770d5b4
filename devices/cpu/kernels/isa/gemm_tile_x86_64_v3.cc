// Blocks of products of matrices for x86-64-v3 (CMakeLists.txt sets the flags); see gemm_tile.inc.
#if defined(MILLRACE_HAVE_X86_64_LEVELS)
#define MILLRACE_ISA x86_64_v3
#define MILLRACE_VECTOR_BYTES 32
#define MILLRACE_TILE_ROWS 4
#define MILLRACE_TILE_VECTORS 3
#include "millrace/devices/cpu/kernels/gemm_tile.inc"
#endif
