// Spread: one program that stands for several devices', and which arrays of theirs it takes and
// gives. Read next: spread.h, which makes it.
#pragma once

#include <vector>

#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::spread {

// Arrays are counted as a caller sees them: members of tuples in a row, tokens not at all.
struct Spread {
  struct Part {
    int device = 0;                 // in the launch: the one that gives it
    int argument = 0;               // of the program as it was
    std::vector<int> holders = {};  // all devices that have it, this one first
  };
  // @main alone, for one device: no collectives, no ids of devices, no calls. Arguments that may be
  // overwritten keep the attributes that say so, where no two devices get the same result.
  ir::Module module;
  std::vector<Part> inputs;  // what array k of the arguments of module's @main is
  // outputs[device][r]: the result of module's @main that is result r of the device. Equal numbers
  // are one array, which devices share.
  std::vector<std::vector<int>> outputs;
  // By id of an operation of module: the devices for which it computes, where each of them would
  // compute it for itself; empty where that is not known. All of it is left out where nothing is
  // divided.
  std::vector<std::vector<int>> made_for = {};
};

}  // namespace millrace::devices::stablehlo::spread
