// bottleneck_sentence(): what limits a training, in one sentence with the figures that say so.
// report.cc makes the evidence from what was recorded.
#pragma once

#include <string>

#include "millrace/tools/train/cpu_usage.h"

namespace millrace::train {

// Shares are of the time of the steps, mean over the devices, 0 to 1. Stages in milliseconds.
struct BottleneckEvidence {
  double waited_for_data = 0;
  double idle = 0;
  double bare_all_reduce = 0;  // an all-reduce was open and no device ran a program
  std::string slowest_loading_stage;
  double slowest_loading_ms = 0;  // per batch of a device
  double step_ms = 0;             // median
  double execute_ms = 0;
  double update_ms = 0;
  double all_reduce_ms = 0;
  Duration time{};  // of the steps
  CpuUsage cpu;     // over the steps
};

enum class Bottleneck {
  kLoading,         // devices waited for their batches
  kCores,           // this process used all of its cores
  kOtherProcesses,  // they had the cores that this process was ready to use
  kExecution,       // devices ran programs all the time
  kAllReduce,       // devices waited for the reduction of gradients
  kCoordination,    // none of these
};

// Pure. The first of them, in the order of the enumeration, that the evidence shows.
Bottleneck find_bottleneck(const BottleneckEvidence& evidence);
std::string bottleneck_sentence(const BottleneckEvidence& evidence);

}  // namespace millrace::train
