// What a StableHLO convolution can be for oneDNN: a forward convolution, or one of its two
// gradients as JAX writes them: the weights' gradient is a convolution with batch and features
// exchanged, the input's gradient one with a dilated input and reversed weights. Pure.
#pragma once

#include <vector>

#include "millrace/devices/cpu/kernels/contraction/contraction.h"
#include "millrace/devices/cpu/kernels/contraction/onednn.h"

namespace millrace::devices::cpu::compiler {

enum class WeightsUse : std::uint8_t {
  kAsTheyAre,
  kBeforeReverse,  // what the rhs was before the reverse that made it
  kReverseFirst,   // the rhs, with its spatial dimensions reversed by a copy
};

struct ConvolutionForm {
  ConvolutionSpec spec;
  WeightsUse weights = WeightsUse::kAsTheyAre;
};

// The forms that give the result, the most promising first; none if only the plain loops can.
// reversed: the rhs is a reverse of all spatial dimensions of something that is at hand.
std::vector<ConvolutionForm> convolution_forms(const ConvolutionDims& dims, const Shape& lhs,
                                               const Shape& rhs, const Shape& result,
                                               bool reversed);

}  // namespace millrace::devices::cpu::compiler
