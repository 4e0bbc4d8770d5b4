#include "millrace/tools/train/cpu_usage.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "millrace/core/base/cores.h"

namespace millrace::train {
namespace {

Duration of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

// The second number of a task's schedstat: nanoseconds in the run queue.
Duration waiting_of_threads() {
  std::error_code error;
  Duration sum{};
  std::filesystem::directory_iterator task("/proc/self/task", error);
  const std::filesystem::directory_iterator end;
  for (; !error && task != end; task.increment(error)) {
    std::ifstream file(task->path() / "schedstat");  // a thread may be gone by now
    Duration::rep ran = 0;
    Duration::rep waited = 0;
    if (file >> ran >> waited) sum += Duration(waited);
  }
  return sum;
}

// The ticks of a line of /proc/stat: "cpu3 user nice system idle iowait irq softirq steal ..."; 0
// for a line that is not one of a core in the set.
long long busy_ticks(const std::string& line, const cpu_set_t& set) {
  int core = -1;
  long long user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0;
  if (line.starts_with("cpu ") ||  // the sum of all
      std::sscanf(line.c_str(), "cpu%d %lld %lld %lld %lld %lld %lld %lld %lld", &core, &user,
                  &nice, &system, &idle, &wait, &irq, &softirq, &steal) != 9) {
    return 0;
  }
  if (core < 0 || core >= CPU_SETSIZE || !CPU_ISSET(static_cast<std::size_t>(core), &set)) return 0;
  return user + nice + system + irq + softirq + steal;
}

Duration busy_of(const cpu_set_t& set) {
  std::ifstream file("/proc/stat");
  std::string line;
  long long ticks = 0;
  while (std::getline(file, line)) ticks += busy_ticks(line, set);
  const long per_second = sysconf(_SC_CLK_TCK);
  if (per_second <= 0) return {};
  return std::chrono::nanoseconds(std::chrono::seconds(1)) / per_second * ticks;
}

}  // namespace

CpuUsage used_between(const CpuUsage& before, const CpuUsage& after) {
  const auto more = [](Duration first, Duration second) {
    return std::max(second - first, Duration());
  };
  return {.cores = after.cores,
          .process = more(before.process, after.process),
          .waiting = more(before.waiting, after.waiting),
          .cores_busy = more(before.cores_busy, after.cores_busy)};
}

CpuUsage process_cpu_usage() {
  CpuUsage usage;
  usage.cores = usable_cores();  // fewer than the machine's where the process is bound to some
  rusage process{};
  if (getrusage(RUSAGE_SELF, &process) == 0) {
    usage.process = of(process.ru_utime) + of(process.ru_stime);
  }
  usage.waiting = waiting_of_threads();
  cpu_set_t set;
  CPU_ZERO(&set);
  // On a machine of more cores than a cpu_set_t has, the set stays unknown.
  if (sched_getaffinity(0, sizeof set, &set) == 0) usage.cores_busy = busy_of(set);
  return usage;
}

}  // namespace millrace::train
