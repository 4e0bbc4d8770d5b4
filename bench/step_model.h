// StepModel: the programs of tools/models/resnet18 and decoder (export_steps.py) on one CPU device.
// init makes the tensors; every step takes them, donated, with the same batch, and gives the loss
// and the tensors after it.
#pragma once

#include <string>
#include <vector>

#include "millrace/tools/api/runtime.h"

namespace millrace::bench {

// Element i of a batch's arrays, as step_batch.py has it too: in [0, 1) as f32, below 1000 as i32.
float batch_float(std::uint32_t i);
std::int32_t batch_integer(std::uint32_t i);

// Blocks; gives up (figure.h) where something fails. Thread-safety: confined.
class StepModel {
 public:
  // folder: has init.mlir and step.mlir.
  StepModel(const std::string& folder, int threads);
  ~StepModel();
  StepModel(const StepModel&) = delete;
  StepModel& operator=(const StepModel&) = delete;

  // Milliseconds in which step.mlir compiles, anew.
  double compile_ms() const;
  // Runs a step to its end; its loss.
  float step();

 private:
  devices::Executable compile(const std::string& program) const;
  devices::Buffers run(const devices::Executable& program,
                       const std::vector<devices::Argument>& arguments) const;
  devices::Argument batch_array(const devices::Shape& shape);

  const std::string folder_;
  Runtime runtime_;
  devices::Executable step_;
  std::vector<devices::Buffer> tensors_;
  std::vector<devices::Argument> batch_;
};

}  // namespace millrace::bench
