// Programs of one call of LAPACK, as JAX writes it.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/devices/cpu/definition/definition_support.h"

namespace millrace::devices::cpu::testing {

// What the call gives of these inputs, planned and run. Types as text: "tensor<2x3xf32>".
inline Arrays run_lapack(const std::string& target, const std::string& config, const Arrays& inputs,
                         const std::vector<std::string>& input_types,
                         const std::vector<std::string>& result_types) {
  std::string arguments, names, types, returned, values;
  for (std::size_t i = 0; i < input_types.size(); ++i) {
    const std::string comma = i == 0 ? "" : ", ", name = "%a" + std::to_string(i);
    arguments += comma + name + ": " + input_types[i];
    names += comma + name;
    types += comma + input_types[i];
  }
  const bool several = result_types.size() > 1;
  for (std::size_t i = 0; i < result_types.size(); ++i) {
    const std::string comma = i == 0 ? "" : ", ";
    returned += comma + result_types[i];
    values += comma + "%r" + (several ? "#" + std::to_string(i) : "");
  }
  const std::string text = "func.func @main(" + arguments + ") -> (" + returned + ") {\n%r" +
                           (several ? ":" + std::to_string(result_types.size()) : "") +
                           " = stablehlo.custom_call @" + target + "(" + names +
                           ") {mhlo.backend_config = {" + config + "}} : (" + types + ") -> (" +
                           returned + ")\nreturn " + values + " : " + returned + "\n}\n";
  const auto module = stablehlo::text::read_text(text);
  if (!module) throw std::runtime_error(module.error().to_string() + text);
  const auto run = planned(*module, "main", inputs);
  if (!run) throw std::runtime_error(run.error().to_string());
  return *run;
}

}  // namespace millrace::devices::cpu::testing
