#include "millrace/core/base/cores.h"

#include <sched.h>

#include <algorithm>
#include <string>
#include <thread>

namespace millrace {

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // It fails on a machine of more cores than a cpu_set_t has.
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Status check_cores(const std::vector<int>& cores) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool known = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  for (const int core : cores) {
    if (core >= 0 && core < CPU_SETSIZE && (!known || CPU_ISSET(core, &allowed))) continue;
    return fail(ErrorCode::kInvalidArgument,
                "core " + std::to_string(core) +
                    " is none that this thread may run on; taskset -cp $$ lists those");
  }
  return {};
}

void keep_on_cores(const std::vector<int>& cores) {
  if (cores.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  static_cast<void>(::sched_setaffinity(0, sizeof set, &set));
}

}  // namespace millrace
