// The floating formats of StableHLO, from f64 down to f4E2M1FN: between their bits and double.
// Used by the reader for literals and by attributes; not meant for loops over tensors.
#pragma once

#include <cstdint>

#include "millrace/devices/shape.h"

namespace millrace::devices::cpu::ir {

// The nearest value of the format, ties to even. Overflow gives infinity where the format has one,
// else NaN, else the largest finite value. type must be a floating type.
std::uint64_t encode_float(DType type, double value);
// The value of the low bit_width(type) bits; exact.
double decode_float(DType type, std::uint64_t bits);

}  // namespace millrace::devices::cpu::ir
