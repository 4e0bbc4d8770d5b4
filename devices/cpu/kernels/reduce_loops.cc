#define MILLRACE_ISA baseline
#include "millrace/devices/cpu/kernels/reduce_loops.inc"

#include "millrace/devices/cpu/kernels/isa_level.h"

namespace millrace::devices::cpu {

ReduceLoops baseline::find_reduce_loops(ReduceKind kind, DType type) {
  return visit(
      type, [kind](auto tag) { return find_for<typename decltype(tag)::type>(kind); },
      [] { return ReduceLoops{}; });
}

ReduceLoops find_reduce_loops(ReduceKind kind, DType type) {
  ReduceLoops loops;
#if defined(MILLRACE_HAVE_X86_64_LEVELS)
  if (isa_level() == IsaLevel::kX86V4) loops = x86_64_v4::find_reduce_loops(kind, type);
  if (isa_level() == IsaLevel::kX86V3) loops = x86_64_v3::find_reduce_loops(kind, type);
#endif
  return loops ? loops : baseline::find_reduce_loops(kind, type);
}

}  // namespace millrace::devices::cpu
