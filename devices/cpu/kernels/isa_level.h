// Which of the compiled instruction sets the kernels use: the best that the processor has.
// MILLRACE_CPU_ISA (baseline, v3, v4) lowers it, for tests and for comparing.
#pragma once

namespace millrace::devices::cpu {

enum class IsaLevel { kBaseline, kX86V3, kX86V4 };

// Decided once, at the first call. Thread-safe.
IsaLevel isa_level();

}  // namespace millrace::devices::cpu
