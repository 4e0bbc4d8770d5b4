// ScalarOp: an elementwise operation as a function of single elements. One table per form of
// element (scalar_integer.cc, scalar_float.cc); the numbers of special functions
// are in special.h. Accuracy: f32 and narrower are computed in double, f64 in long double where a
// function is not exact, and rounded once; so results are within one unit in the last place.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "millrace/devices/cpu/kernels/base/scalar.h"
#include "millrace/devices/stablehlo/ir/op.h"

namespace millrace::devices::cpu {
namespace ir = stablehlo::ir;
}
namespace millrace::devices::cpu::definition {

// What a function may want to know beside its operands.
struct ScalarInfo {
  DType in = DType::kInvalid;  // of the operands; of select: of its values
  DType out = DType::kInvalid;
  ir::ComparisonDirection direction = ir::ComparisonDirection::kEq;
  bool total_order = false;
  int exponent_bits = 0, mantissa_bits = 0;  // reduce_precision
};

// The result need not be rounded to info.out: apply() does that.
using ScalarFunction = Scalar (*)(const Scalar* operands, const ScalarInfo& info);

struct ScalarOp {
  ScalarFunction function = nullptr;
  ScalarInfo info;
  Scalar apply(const Scalar* operands) const { return rounded(info.out, function(operands, info)); }
};

// nullopt if op is not elementwise or not defined for its element types.
std::optional<ScalarOp> find_scalar_op(const ir::Op& op);
// The same for types other than those of op: what a quantised op computes in.
std::optional<ScalarOp> find_scalar_op(const ir::Op& op, DType in, DType out);

// The operand whose elements an elementwise op of this kind is chosen by.
int typical_operand(ir::OpKind kind);

// -1, 0 or 1 as a comes before b, with or after it, in the total order of floats: -NaN, -inf, ...,
// -0, +0, ..., inf, NaN.
int total_order(double a, double b);
bool compares(ir::ComparisonDirection direction, int order);

// One table per form; nullptr for what the form does not have.
ScalarFunction integer_function(ir::OpKind kind, Form form);  // also of booleans
ScalarFunction real_function(ir::OpKind kind, bool wide);     // wide: f64
ScalarFunction complex_function(ir::OpKind kind, bool wide);  // wide: complex<f64>
ScalarFunction convert_function(Form from, Form to);

// Quantised elements (elementwise/quantised.h), of scale and zero point `channel`: the number that
// a stored integer stands for, not rounded to the expressed type, and the integer that is stored
// for a number.
Scalar dequantised(const ir::QuantParameters& q, std::size_t channel, const Scalar& stored);
Scalar quantised(const ir::QuantParameters& q, std::size_t channel, const Scalar& value);

}  // namespace millrace::devices::cpu::definition
