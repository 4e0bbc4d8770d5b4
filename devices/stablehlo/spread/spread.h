// spread: a program for several devices becomes one program without collectives, which computes
// what all of them would. All devices of a process share one memory: a collective is an operation
// on the values of the devices in its group. What differs between devices is there once for each
// (a clone), what is equal on some of them is computed once for these. Pure. Read next:
// one_program.h, walk.h.
#pragma once

#include <span>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/module.h"
#include "millrace/devices/stablehlo/sharding/sharding.h"
#include "millrace/devices/stablehlo/spread/one_program.h"

namespace millrace::devices::stablehlo::spread {

// Device r * partitions + p of a launch is replica r of partition p.
struct SpreadOptions {
  int replicas = 1;
  int partitions = 1;
  bool divides = false;  // for divide.h: gives Spread::made_for
};

// A local program: each device runs @main on arguments of its own. module is verified and is not
// changed. kInvalidArgument with line, column and op for groups that do not fit the devices;
// kUnimplemented for what no device of a process can do: transfers to the host, infeed, outfeed.
Result<Spread> spread(const ir::Module& module, const SpreadOptions& options);
// The same of a function of the module in the place of @main.
Result<Spread> spread(const ir::Module& module, const ir::Function& main,
                      const SpreadOptions& options);

// Where the arguments and results of @main lie, one sharding for each.
struct Layouts {
  std::span<const sharding::Sharding> arguments;
  std::span<const sharding::Sharding> results;
};

// A global program: @main computes with whole arrays, of which the devices have the parts that
// layouts say; only what sdy.manual_computation holds is there for each device. A part that several
// devices have is the argument of the first of them, and one result for all.
Result<Spread> spread_global(const ir::Module& module, int devices, const Layouts& layouts,
                             bool divides = false);

}  // namespace millrace::devices::stablehlo::spread
