// Shape patterns: the parameters and results of a program whose shapes are known at a launch only:
// Shapes some of whose dimensions are kUnknownDimension. Only users of such programs need them.
#pragma once

#include <span>
#include <string>

#include "millrace/devices/shape.h"

namespace millrace::devices {

bool is_complete(const Shape& shape);
bool are_complete(std::span<const Shape> shapes);
// Whether an array of this shape fits the pattern: same element type, same rank, and same
// dimensions where the pattern knows them.
bool admits(const Shape& pattern, const Shape& shape);
// "should be tensor<?x4xf32>: dimension 1 is 5, not 4", for one that does not fit.
std::string misfit(const Shape& pattern, const Shape& shape);

}  // namespace millrace::devices
