// Quantised elements (StableHLO, "Quantized types"): integers of storage type that stand for
// (stored - zero point) * scale.
#pragma once

#include "millrace/devices/cpu/kernels/call.h"

namespace millrace::devices::cpu::definition {

// Runs an op with quantised operands or results: operands are dequantised to the expressed type,
// `function` runs on those, results are quantised. Movement of elements and uniform_quantize and
// uniform_dequantize are the same with functions that only move.
// takes_scratch: the function does.
Status run_quantised(const Call& call, Function function, bool takes_scratch);

// Whether the op runs on the stored integers as they are: select, which passes them on, and those
// with a body, which knows what they stand for (body.h).
bool runs_on_stored(const ir::Op& op);

}  // namespace millrace::devices::cpu::definition
