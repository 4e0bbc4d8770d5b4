// chlo.scan: a body that is run along one dimension, with values that it carries from place to
// place. Operands are inputs and initial values, results are outputs and final values; the body
// gets the slices of the inputs and the carried values, and gives the slices of the outputs and the
// next carried values.
#pragma once

#include <cstdint>
#include <optional>

#include "millrace/devices/stablehlo/ir/op.h"

namespace millrace::devices::stablehlo::ir {

struct ScanParts {
  int inputs = 0, outputs = 0;  // the other operands and results are carried
  std::int64_t dimension = 0;
  std::int64_t extent = 0;  // of that dimension
  bool reverse = false;
};

// nullopt if the numbers of operands, results, arguments and returned values do not fit each other,
// or the inputs and outputs differ in the extent of the dimension, or have none.
std::optional<ScanParts> scan_parts_of(const Op& op);

}  // namespace millrace::devices::stablehlo::ir
