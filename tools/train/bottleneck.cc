#include "millrace/tools/train/bottleneck.h"

#include <cstdio>

namespace millrace::train {
namespace {

// Loading: that much of the time at least, and of what the devices were idle.
constexpr double kWaitsForData = 0.1;
constexpr double kOfTheIdleTime = 0.5;
// The cores are used up from here on: a training never fills the last of them evenly.
constexpr double kCoresFull = 0.85;
// Others are to blame from these on: their share of the cores, and the share of the time that our
// threads were ready in which they had no core. The second alone may be our own doing: a burst of
// more threads than cores.
constexpr double kOthersShare = 0.2;
constexpr double kWaitsForCore = 0.2;
// A device with less idle time is busy.
constexpr double kIdleOfABusyDevice = 0.35;

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}
std::string percent(double share) { return format("%.1f %%", share * 100); }
std::string ms(double value) { return format("%.2f ms", value); }

// Of the time that threads of this process were ready to run.
double waited_for_core(const BottleneckEvidence& e) {
  const Duration ready = e.cpu.process + e.cpu.waiting;
  return ready > Duration()
             ? static_cast<double>(e.cpu.waiting.count()) / static_cast<double>(ready.count())
             : 0;
}

// "1.93 of 2 cores".
std::string cores_text(const BottleneckEvidence& e, double used) {
  return format("%.2f", used) + " of " + std::to_string(e.cpu.cores) +
         (e.cpu.cores == 1 ? " core" : " cores");
}

// Ends every sentence, so that the cores can be ruled out or suspected.
std::string cpu_clause(const BottleneckEvidence& e) {
  if (e.cpu.cores == 0) return "";
  return "; the process used " + cores_text(e, e.cpu.process_cores(e.time));
}

std::string busy_text(const BottleneckEvidence& e) {
  return "the devices ran programs " + percent(1 - e.idle) + " of the time (grad " +
         ms(e.execute_ms) + " and update " + ms(e.update_ms) + " of a " + ms(e.step_ms) +
         " step) and waited for data " + percent(e.waited_for_data) + " of it";
}

std::string idle_text(const BottleneckEvidence& e) {
  return "the devices were idle " + percent(e.idle) + " of the time but waited for data only " +
         percent(e.waited_for_data) + " of it";
}

}  // namespace

Bottleneck find_bottleneck(const BottleneckEvidence& e) {
  if (e.waited_for_data > kWaitsForData && e.waited_for_data > e.idle * kOfTheIdleTime) {
    return Bottleneck::kLoading;
  }
  if (e.cpu.cores > 0 && e.time > Duration()) {
    const double cores = e.cpu.cores;
    if (e.cpu.process_cores(e.time) >= kCoresFull * cores) return Bottleneck::kCores;
    if (e.cpu.others_cores(e.time) >= kOthersShare * cores && waited_for_core(e) >= kWaitsForCore) {
      return Bottleneck::kOtherProcesses;
    }
  }
  if (e.idle <= kIdleOfABusyDevice) return Bottleneck::kExecution;
  if (e.bare_all_reduce >= e.idle * kOfTheIdleTime) return Bottleneck::kAllReduce;
  return Bottleneck::kCoordination;
}

std::string bottleneck_sentence(const BottleneckEvidence& e) {
  switch (find_bottleneck(e)) {
    case Bottleneck::kLoading:
      return "Loading is the bottleneck: the devices waited for data " +
             percent(e.waited_for_data) + " of the time; its slowest stage is " +
             e.slowest_loading_stage + " with " + ms(e.slowest_loading_ms) +
             " per batch, while a step computes " + ms(e.execute_ms + e.update_ms) + cpu_clause(e) +
             ".";
    case Bottleneck::kCores:
      return "The cores are the bottleneck: the process used " +
             cores_text(e, e.cpu.process_cores(e.time)) + ", all that there is; " + busy_text(e) +
             ".";
    case Bottleneck::kOtherProcesses:
      return "Other processes are the bottleneck: they used " +
             cores_text(e, e.cpu.others_cores(e.time)) + " and this one " +
             format("%.2f", e.cpu.process_cores(e.time)) +
             ", whose threads were without a core for " + percent(waited_for_core(e)) +
             " of the time that they were ready to run; " + busy_text(e) + ".";
    case Bottleneck::kExecution:
      return "Execution is the bottleneck: " + busy_text(e) + cpu_clause(e) + ".";
    case Bottleneck::kAllReduce:
      return "All-reduce is the bottleneck: for " + percent(e.bare_all_reduce) +
             " of the time gradients were being reduced while no device ran a program (" +
             ms(e.all_reduce_ms) + " of all-reduce in a step of " + ms(e.step_ms) + "); " +
             idle_text(e) + cpu_clause(e) + ".";
    case Bottleneck::kCoordination:
      break;
  }
  return "Coordination is the bottleneck: " + idle_text(e) + ", and " + percent(e.bare_all_reduce) +
         " went to all-reduce alone; a step of " + ms(e.step_ms) + " has " +
         ms(e.execute_ms + e.update_ms) + " of execution" + cpu_clause(e) + ".";
}

}  // namespace millrace::train
