// Pooling for x86-64-v4 (CMakeLists.txt sets the flags); see pool_rows.inc.
#if defined(MILLRACE_HAVE_X86_64_LEVELS)
#define MILLRACE_ISA x86_64_v4
#include "millrace/devices/cpu/kernels/pool_rows.inc"
#endif
