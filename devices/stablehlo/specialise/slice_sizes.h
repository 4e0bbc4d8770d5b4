// How long a slice is whose place depends on data: the difference of two vectors of indices that
// are computed from each other.
#pragma once

#include "millrace/devices/stablehlo/ir/module.h"
#include "millrace/devices/stablehlo/specialise/known.h"

namespace millrace::devices::stablehlo::specialise {

// limit - start, element by element; ir::kDynamic where it is not known. Empty if the vectors are
// none of the same length. Both are values of a refined module.
Dims slice_sizes(const ir::Value* start, const ir::Value* limit, const KnownValues& known);

}  // namespace millrace::devices::stablehlo::specialise
