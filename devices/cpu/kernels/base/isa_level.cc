#include "millrace/devices/cpu/kernels/base/isa_level.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

namespace millrace::devices::cpu {
namespace {

std::optional<IsaLevel> level_of(std::string_view name) {
  if (name == "baseline") return IsaLevel::kBaseline;
  if (name == "v3") return IsaLevel::kX86V3;
  if (name == "v4") return IsaLevel::kX86V4;
  return std::nullopt;
}

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
  const char* const wanted = std::getenv("MILLRACE_CPU_ISA");
  return std::min(best, wanted == nullptr ? best : level_of(wanted).value_or(best));
#else
  return IsaLevel::kBaseline;
#endif
}

}  // namespace

Status check_isa_name(std::string_view name) {
  if (name.empty() || level_of(name)) return {};
  return fail(ErrorCode::kInvalidArgument,
              "MILLRACE_CPU_ISA is '" + std::string(name) + "', but must be baseline, v3 or v4");
}

IsaLevel isa_level() {
  static const IsaLevel level = detect();
  return level;
}

}  // namespace millrace::devices::cpu
