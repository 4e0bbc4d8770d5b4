// RandomProgram: a StableHLO program of one function, as data: what random_program makes from a
// seed, what shrink makes smaller, and what text a reader gets. Pure. Read next: oracle.h, which
// runs them on two devices, and shrink.h.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "millrace/devices/buffer.h"
#include "millrace/devices/shape.h"

namespace millrace::testing {

struct TensorType {
  devices::DType dtype = devices::DType::kF32;
  std::vector<std::int64_t> dims;

  devices::Shape shape() const { return devices::Shape(dtype, dims); }
  std::string text() const { return shape().to_string(); }
  std::int64_t elements() const;
  bool operator==(const TensorType&) const = default;
};

struct ProgramAttribute {
  enum class Kind {
    kText,     // as it is
    kArray,    // array<i64: 1, 2>
    kPairs,    // dense<[[1, 2]]> : tensor<1x2xi64>
    kInteger,  // 1 : i64
    kSplat,    // dense<text> of the step's result type
  };
  std::string name;
  Kind kind = Kind::kText;
  std::vector<std::int64_t> numbers = {};
  std::string text = {};
  bool sizes = false;  // numbers are sizes of dimensions
};

struct ProgramStep;

// Values are named by numbers, which are unique in the whole program.
struct ProgramBlock {
  std::vector<int> parameters;
  std::vector<ProgramStep> steps;
  std::vector<int> results;
};

struct ProgramStep {
  std::string op;  // without its dialect: "add"
  std::vector<int> operands;
  std::vector<int> results;
  std::vector<ProgramAttribute> attributes = {};
  std::vector<ProgramBlock> blocks = {};
};

struct RandomProgram {
  std::uint64_t seed = 0;
  // Each of these runs it on arguments of its own: they are replicas, or places along the axis "x"
  // of a mesh.
  int devices = 1;
  bool is_manual = false;         // places along an axis
  std::vector<TensorType> types;  // by value
  std::set<int> special;          // parameters with NaN, infinities and zeros of both signs
  ProgramBlock main;

  const TensorType& type(int value) const { return types[static_cast<std::size_t>(value)]; }
  int add_value(TensorType type);  // a copy: it may be of types itself
  // Steps, those of inner blocks included.
  std::size_t size() const;
  // Names of the operations in it, without their dialect.
  std::set<std::string> ops() const;
  std::string to_text() const;
  // A global program, whose arrays have the devices as a dimension in front: what each does stands
  // in sdy.manual_computation.
  std::string to_manual_text() const;
};

// Valid by the rules of the specification; the same for the same seed, on any machine. Its results
// do not hang on the order of additions but for rounding: what jumps (comparisons, floor, sort) is
// applied to values without rounding only.
RandomProgram random_program(std::uint64_t seed);
// The same with collectives, for several devices.
RandomProgram random_program(std::uint64_t seed, int devices, bool is_manual);

// One array per parameter, from the seed and the parameter's number: small numbers, of which sums
// and products stay small.
std::vector<devices::HostArray> random_inputs(const RandomProgram& program, int device = 0);

}  // namespace millrace::testing
