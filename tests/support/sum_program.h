// A scripted program for several devices, so that tests of the client need no compiler.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/support/cpu_programs.h"

namespace millrace::testing {

// Each device: (a) -> (the sum of all a, which is one array for all; its own a + 1). Floats.
inline ScriptedProgram sum_over_devices(std::size_t devices, std::size_t elements) {
  const devices::Shape shape(devices::DType::kF32, {static_cast<std::int64_t>(elements)});
  ScriptedProgram program{.inputs = std::vector(devices, shape),
                          .outputs = std::vector(devices + 1, shape)};
  program.parts = devices::cpu::DeviceParts{.arguments = {shape}, .results = {shape, shape}};
  for (std::size_t d = 0; d < devices; ++d) {
    program.parts->inputs.push_back({.device = static_cast<int>(d), .argument = 0});
    program.parts->outputs.push_back({0, static_cast<int>(d) + 1});
  }
  program.body = [devices, elements](const devices::cpu::RunCall& call) -> Status {
    for (std::size_t i = 0; i < elements; ++i) {
      float sum = 0;
      for (std::size_t d = 0; d < devices; ++d) {
        const float a = static_cast<const float*>(call.inputs[d])[i];
        static_cast<float*>(call.outputs[d + 1])[i] = a + 1;
        sum += a;
      }
      static_cast<float*>(call.outputs[0])[i] = sum;
    }
    for (std::size_t o = 0; o <= devices; ++o) call.output_written(static_cast<int>(o));
    return {};
  };
  return program;
}

}  // namespace millrace::testing
