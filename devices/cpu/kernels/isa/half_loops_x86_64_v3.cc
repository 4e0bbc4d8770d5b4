// Loops of f16 and bf16 for x86-64-v3 (CMakeLists.txt sets the flags); see half_loops.inc.
#if defined(MILLRACE_HAVE_X86_64_LEVELS)
#define MILLRACE_ISA x86_64_v3
#include "millrace/devices/cpu/kernels/half_loops.inc"
#endif
