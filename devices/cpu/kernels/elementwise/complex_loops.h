// Loops over complex numbers for the operations that most programs have, over whole arrays: the
// same bits as the functions of scalar_float.cc give one element at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "millrace/devices/shape.h"
#include "millrace/devices/stablehlo/ir/op_kind.h"

namespace millrace::devices::cpu {
namespace ir = stablehlo::ir;
}
namespace millrace::devices::cpu::definition {

// n elements of each; b: nullptr where the operation takes one operand.
using ComplexLoop = void (*)(const std::byte* a, const std::byte* b, std::byte* to, std::int64_t n);
// in, out: of the operands and the result; nullptr if there is none, or none that is as exact.
ComplexLoop find_complex_loop(ir::OpKind kind, DType in, DType out);

}  // namespace millrace::devices::cpu::definition
