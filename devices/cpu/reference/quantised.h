// Quantised elements (StableHLO, "Quantized types"): integers of storage type that stand for
// (stored - zero point) * scale.
#pragma once

#include "millrace/devices/cpu/reference/kernel.h"

namespace millrace::devices::cpu::reference {

// Runs an op with quantised operands or results: operands are dequantised to the expressed type,
// `function` runs on those, results are quantised. Movement of elements and uniform_quantize and
// uniform_dequantize are the same with functions that only move.
// takes_scratch: the function does.
Status run_quantised(const Call& call, Function function, bool takes_scratch);

}  // namespace millrace::devices::cpu::reference
