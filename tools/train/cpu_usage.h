// CpuUsage: how much of the machine's cores went to this process and to others, as far as the
// system reports. report.cc says what it means for a training.
#pragma once

#include <functional>

#include "millrace/core/base/clock.h"

namespace millrace::train {

// Either sums since some fixed moment, or the difference of two such snapshots. Value type.
struct CpuUsage {
  int cores = 0;          // that this process may run on; 0: nothing is known
  Duration process{};     // CPU time of all its threads
  Duration waiting{};     // time that its threads were ready to run but had no core; 0 if unknown
  Duration cores_busy{};  // CPU time of these cores in all processes; 0 if unknown

  // What others used of these cores.
  Duration others() const { return cores_busy > process ? cores_busy - process : Duration(); }
};

// What was used between two snapshots; never negative, although threads that have ended take
// their waiting with them.
CpuUsage used_between(const CpuUsage& before, const CpuUsage& after);

using CpuMeter = std::function<CpuUsage()>;

// The usage of this process, from getrusage and, on Linux, /proc/self/task and /proc/stat.
CpuUsage process_cpu_usage();

}  // namespace millrace::train
