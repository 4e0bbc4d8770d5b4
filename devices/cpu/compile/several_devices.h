// A program for several devices as one: spread over them, then planned as any other. Read next:
// device_parts.h, stablehlo/spread/spread.h.
#pragma once

#include <memory>

#include "millrace/devices/cpu/compile/compiled.h"
#include "millrace/devices/cpu/compile/plan.h"

namespace millrace::devices::cpu {

struct DeviceCounts {
  int replicas = 1;
  int partitions = 1;

  int devices() const { return replicas * partitions; }
};

// As a module says of itself (mhlo.num_replicas, mhlo.num_partitions); one of each if it says
// nothing, or no number of devices that there could be.
DeviceCounts device_counts(const ir::Module& module);

// Whether a module names devices by a mesh (sdy.mesh): over several partitions its @main is written
// for whole arrays then, of which each device has a part.
bool has_mesh(const ir::Module& module);

// Which part of the devices of a program are those of this process, of as many each.
struct ProcessPart {
  int process = 0;
  int processes = 1;
};

// What runs for all devices, without collectives, and what is whose.
struct OneProgram {
  ir::Module module;
  DeviceParts parts;
};

// module is verified, and read_to_run() has made its shapes static. kInvalidArgument with the place
// for what does not fit the devices; kUnimplemented for what they cannot do, and for shapes that
// are dynamic after all.
// With several processes: what runs for the devices of this one (stablehlo/spread/divide.h).
Result<OneProgram> for_all_devices(const ir::Module& module, const DeviceCounts& counts,
                                   const ProcessPart& part = {});

Result<std::shared_ptr<const Compiled>> plan_for_devices(const ir::Module& module,
                                                         const DeviceCounts& counts,
                                                         const ProcessPart& part,
                                                         PlanOptions options);

}  // namespace millrace::devices::cpu
