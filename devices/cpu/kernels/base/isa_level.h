// Which of the compiled instruction sets the kernels use: the best that the processor has.
// MILLRACE_CPU_ISA (baseline, v3, v4) lowers it, for tests and for comparing.
#pragma once

#include <string_view>

#include "millrace/core/base/error.h"

namespace millrace::devices::cpu {

enum class IsaLevel { kBaseline, kX86V3, kX86V4 };

// Decided once, at the first call. Thread-safe.
IsaLevel isa_level();

// kInvalidArgument for a name that MILLRACE_CPU_ISA cannot have; an empty one is none.
Status check_isa_name(std::string_view name);

}  // namespace millrace::devices::cpu

// The sources in kernels/isa are compiled once per instruction set (CMakeLists.txt), each time into
// a namespace of its own.
#if !defined(MILLRACE_ISA)
#define MILLRACE_ISA baseline
#endif
// Declarations in all of these namespaces.
#define MILLRACE_IN_EACH_ISA(...) \
  namespace baseline {            \
  __VA_ARGS__                     \
  }                               \
  namespace x86_64_v3 {           \
  __VA_ARGS__                     \
  }                               \
  namespace x86_64_v4 {           \
  __VA_ARGS__                     \
  }
// A call in the namespace of isa_level(), for sources of this library only.
#if defined(MILLRACE_HAVE_X86_64_LEVELS)
#define MILLRACE_BEST_ISA(call)                        \
  (isa_level() == IsaLevel::kX86V4   ? x86_64_v4::call \
   : isa_level() == IsaLevel::kX86V3 ? x86_64_v3::call \
                                     : baseline::call)
#else
#define MILLRACE_BEST_ISA(call) baseline::call
#endif
