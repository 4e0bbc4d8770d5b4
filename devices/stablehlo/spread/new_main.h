// NewMain: the @main that spread makes: whose arguments its arguments are, which of its results
// each device gets, and what may be overwritten.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "millrace/devices/stablehlo/ir/module.h"
#include "millrace/devices/stablehlo/spread/one_program.h"

namespace millrace::devices::stablehlo::spread {

// What an argument of @main says of the result that may take its memory.
inline constexpr std::string_view kAlias = "tf.aliasing_output";
inline constexpr std::string_view kDonor = "jax.buffer_donor";

// First the arguments, then begin, then the results, then finish. Thread-safety: confined.
class NewMain {
 public:
  NewMain(const ir::Module& from, const ir::Function& main, int devices);

  ir::Module& module() { return made_.module; }
  // An argument of main as these devices have it, the first of which gives it. Returns its number.
  int add_argument(int argument, ir::Type type, std::vector<int> devices);
  // The block of the new @main.
  ir::Block& begin();
  // The next result of main as the device has it; values that are equal are one result.
  void add_result(int device, ir::Value* value);
  Spread finish();

 private:
  struct Argument {
    int argument;
    ir::Type type;
    std::vector<int> devices;
  };
  std::vector<ir::NamedAttribute> attributes_of(const Argument& argument);

  const ir::Function& main_;
  Spread made_;
  ir::Block* body_ = nullptr;
  std::vector<Argument> arguments_;
  std::vector<ir::Value*> values_;                // the results
  std::vector<std::vector<int>> users_;           // of each result: devices, each once
  std::vector<std::vector<int>> places_;          // by device: of each result of main, its value
  std::unordered_map<const ir::Value*, int> at_;  // among values_
};

}  // namespace millrace::devices::stablehlo::spread
