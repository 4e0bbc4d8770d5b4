// The programs that the memory plugin runs: a few lines of StableHLO text over f32 arrays, one
// operation after the other: constant, add, subtract, multiply, and all_reduce over all replicas,
// which adds. Arguments may be donated (tf.aliasing_output, jax.buffer_donor).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::memory_plugin {

struct Type {
  std::vector<std::int64_t> dims;
  std::size_t elements() const;
  bool operator==(const Type&) const = default;
};

struct Operation {
  enum class Kind { kConstant, kAdd, kSubtract, kMultiply, kAllReduce } kind;
  std::size_t result = 0, a = 0, b = 0;  // numbers of values
  float constant = 0;
};

struct Program {
  std::string name;
  std::vector<Type> inputs;
  std::vector<bool> donated;
  std::vector<Type> types;  // of every value; the inputs come first
  std::vector<Operation> operations;
  std::vector<std::size_t> outputs;  // numbers of values

  // False, with a reason, for whatever it does not know.
  static bool parse(std::string_view text, Program& program, std::string& problem);
  // Values of each device, inputs given, the others sized.
  using Values = std::vector<std::vector<float>>;
  void run(std::span<Values> devices) const;
};

}  // namespace millrace::memory_plugin
