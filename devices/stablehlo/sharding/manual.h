// What a manual computation says: how its operands and results lie outside, and by which axes of
// the mesh its body sees parts of them. Read next: sharding.h.
#pragma once

#include <string>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/module.h"
#include "millrace/devices/stablehlo/sharding/read_sharding.h"

namespace millrace::devices::stablehlo::sharding {

struct Manual {
  std::vector<Sharding> in;
  std::vector<Sharding> out;
  std::vector<std::string> axes;
};

// Reads an operation sdy.manual_computation: one sharding for each operand and result, on a mesh
// that has the manual axes, which come before others in a dimension and divide it. Errors as
// kInvalidArgument with the place.
Result<Manual> read_manual(const ir::Op& op, const Meshes& meshes);

// The types of the body's arguments and of what it returns: parts by the manual axes.
std::vector<ir::Type> local_types(const ir::Module& module, const std::vector<ir::Type>& types,
                                  const std::vector<Sharding>& shardings,
                                  const std::vector<std::string>& axes);

}  // namespace millrace::devices::stablehlo::sharding
