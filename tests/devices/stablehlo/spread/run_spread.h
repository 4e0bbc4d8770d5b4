// Runs a program for several devices in the tests of spread: text and numbers of each device in,
// numbers of each device out. What spread makes runs by the definitions of operations; and, divided
// among processes, as their plans: all give the same.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/devices/cpu/kernels/base/scalar.h"
#include "millrace/devices/stablehlo/ir/print.h"
#include "millrace/devices/stablehlo/spread/spread.h"
#include "millrace/devices/stablehlo/text/read_text.h"
#include "millrace/devices/stablehlo/verify/verify.h"
#include "tests/support/divided_programs.h"
#include "tests/support/interpreter.h"

namespace millrace::devices::stablehlo::spread::testing {

using Numbers = std::vector<double>;
using PerDevice = std::vector<std::vector<Numbers>>;  // by device, then by array

inline Result<Spread> spread_text(const std::string& text, SpreadOptions options) {
  options.divides = true;
  const auto module = text::read_text(text);
  if (!module) return std::unexpected(module.error());
  MILLRACE_TRY_STATUS(verify::verify(*module));
  return spread(*module, options);
}

// The error of a program that cannot be spread.
inline std::string fault_of(const std::string& text, const SpreadOptions& options) {
  const auto made = spread_text(text, options);
  return made ? "it was spread" : made.error().message();
}

inline cpu::testing::Array array_of(const Shape& shape, const Numbers& numbers) {
  cpu::testing::Array array{shape, std::vector<std::byte>(shape.size_bytes())};
  const std::size_t width = byte_width(shape.dtype());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool real = is_floating(shape.dtype()) || is_complex(shape.dtype());
    const auto s = real ? cpu::definition::from_real(numbers[i])
                        : cpu::definition::from_signed(static_cast<std::int64_t>(numbers[i]));
    cpu::definition::store(shape.dtype(), s, &array.bytes[i * width]);
  }
  return array;
}

inline Numbers numbers_of(const cpu::testing::Array& array) {
  const std::size_t width = byte_width(array.shape.dtype());
  const DType type = array.shape.dtype();
  Numbers numbers;
  for (std::int64_t i = 0; i < array.shape.elements(); ++i) {
    const auto s = cpu::definition::load(type, &array.bytes[static_cast<std::size_t>(i) * width]);
    numbers.push_back(is_floating(type) || is_complex(type) ? s.re
                      : is_signed_integer(type)             ? static_cast<double>(s.i)
                                                            : static_cast<double>(s.u));
  }
  return numbers;
}

// The same by processes, for all numbers of these that the devices can be divided among.
inline void check_divided(const Spread& made, const PerDevice& inputs, const PerDevice& outputs) {
  const int devices = static_cast<int>(made.outputs.size());
  millrace::testing::ArraysOfDevices arrays(inputs.size());
  const ir::Function& main = *made.module.find("main");
  for (std::size_t d = 0; d < inputs.size(); ++d) arrays[d].resize(inputs[d].size());
  for (std::size_t k = 0; k < made.inputs.size(); ++k) {
    const auto argument = static_cast<std::size_t>(made.inputs[k].argument);
    for (const int holder : made.inputs[k].holders) {
      const auto d = static_cast<std::size_t>(holder);
      arrays[d][argument] = array_of(*main.inputs()[k].shape(), inputs[d][argument]);
    }
  }
  for (int processes = 2; processes <= devices; ++processes) {
    if (devices % processes != 0) continue;
    const auto parts = millrace::testing::run_divided(
        made, {processes, devices / processes}, arrays, static_cast<std::uint64_t>(processes));
    if (!parts) {
      ADD_FAILURE() << processes << " processes: " << parts.error().to_string() << "\n"
                    << ir::print(made.module);
      continue;
    }
    PerDevice found;
    for (const auto& device : *parts) {
      auto& out = found.emplace_back();
      for (const cpu::testing::Array& array : device) out.push_back(numbers_of(array));
    }
    EXPECT_EQ(found, outputs) << processes << " processes";
  }
}

// inputs: by device and argument. Fails the test if the program does not run.
inline PerDevice run_spread(const Spread& made, const PerDevice& inputs) {
  const ir::Function& main = *made.module.find("main");
  std::vector<cpu::testing::Array> arrays;
  for (std::size_t k = 0; k < made.inputs.size(); ++k) {
    const auto& [device, argument, holders] = made.inputs[k];
    arrays.push_back(
        array_of(*main.inputs()[k].shape(),
                 inputs[static_cast<std::size_t>(device)][static_cast<std::size_t>(argument)]));
  }
  const auto results = cpu::testing::interpret(made.module, main, std::move(arrays));
  PerDevice outputs;
  if (!results) {
    ADD_FAILURE() << results.error().to_string() << "\n" << ir::print(made.module);
    return outputs;
  }
  for (const auto& device : made.outputs) {
    auto& out = outputs.emplace_back();
    for (const int r : device) out.push_back(numbers_of((*results)[static_cast<std::size_t>(r)]));
  }
  check_divided(made, inputs, outputs);
  return outputs;
}

inline PerDevice run(const std::string& text, const SpreadOptions& options,
                     const PerDevice& inputs) {
  const auto made = spread_text(text, options);
  if (!made) {
    ADD_FAILURE() << made.error().to_string();
    return {};
  }
  return run_spread(*made, inputs);
}

// How many operations of the kind there are in @main, those of regions included.
inline int count(const ir::Block& block, ir::OpKind kind) {
  int n = 0;
  for (const ir::Op& op : block) {
    n += op.kind() == kind ? 1 : 0;
    for (const ir::Region& region : op.regions()) n += count(region.block(), kind);
  }
  return n;
}
inline int count(const Spread& made, ir::OpKind kind) {
  return count(made.module.find("main")->body().block(), kind);
}

}  // namespace millrace::devices::stablehlo::spread::testing
