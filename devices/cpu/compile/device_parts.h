// DeviceParts: how a program for several devices, which runs as one program without collectives
// (stablehlo/spread), takes its arguments from the devices and gives them its results.
#pragma once

#include <string>
#include <vector>

#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

// Devices are counted as a launch names them: replica * partitions + partition. Pure data.
struct DeviceParts {
  struct Input {
    int device = 0;
    int argument = 0;  // of that device
  };

  // Those of every device, as its caller has them.
  std::vector<Shape> arguments = {};
  std::vector<Shape> results = {};
  std::vector<int> donated = {};  // arguments that the program donates

  // How each lies on the devices (stablehlo/sharding/op_sharding.h), where @main is written for
  // whole arrays of which each device has a part; empty where each has arrays of its own.
  std::vector<std::string> argument_shardings = {};
  std::vector<std::string> result_shardings = {};

  // Argument k of the program that runs is inputs[k]; what stands nowhere is not read.
  std::vector<Input> inputs = {};
  // Result r of device d is result outputs[d][r] of the program that runs; devices of equal numbers
  // share one array.
  std::vector<std::vector<int>> outputs = {};
};

}  // namespace millrace::devices::cpu
