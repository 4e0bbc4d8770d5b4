#include "millrace/devices/cpu/kernels/isa_level.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace millrace::devices::cpu {
namespace {

IsaLevel detect() {
#if defined(MILLRACE_HAVE_X86_64_LEVELS)
  __builtin_cpu_init();
  IsaLevel best = IsaLevel::kBaseline;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")) {
    best = IsaLevel::kX86V3;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
      best = IsaLevel::kX86V4;
    }
  }
  if (const char* wanted = std::getenv("MILLRACE_CPU_ISA")) {
    const std::string_view text = wanted;
    if (text == "baseline") return IsaLevel::kBaseline;
    if (text == "v3") return std::min(best, IsaLevel::kX86V3);
  }
  return best;
#else
  return IsaLevel::kBaseline;
#endif
}

}  // namespace

IsaLevel isa_level() {
  static const IsaLevel level = detect();
  return level;
}

}  // namespace millrace::devices::cpu
