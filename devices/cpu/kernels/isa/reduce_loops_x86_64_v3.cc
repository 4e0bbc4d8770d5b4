// Reductions of the common types for x86-64-v3 (CMakeLists.txt sets the flags); see
// reduce_loops.inc.
#if defined(MILLRACE_HAVE_X86_64_LEVELS)
#define MILLRACE_ISA x86_64_v3
#include "millrace/devices/cpu/kernels/reduce_loops.inc"

namespace millrace::devices::cpu::x86_64_v3 {

ReduceLoops find_reduce_loops(ReduceKind kind, DType type) {
  switch (type) {
    case DType::kI1:
      return find_for<Bool>(kind);
    case DType::kI32:
      return find_for<std::int32_t>(kind);
    case DType::kI64:
      return find_for<std::int64_t>(kind);
    case DType::kU32:
      return find_for<std::uint32_t>(kind);
    case DType::kF16:
      return find_for<Half>(kind);
    case DType::kBF16:
      return find_for<BFloat16>(kind);
    case DType::kF32:
      return find_for<float>(kind);
    case DType::kF64:
      return find_for<double>(kind);
    default:
      return {};
  }
}

}  // namespace millrace::devices::cpu::x86_64_v3
#endif
