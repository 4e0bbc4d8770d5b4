// Special functions as formulas on arrays of f64, for chlo_expansion.h: those of chlo_functions.cc
// of real numbers, those of chlo_complex.cc of complex ones; and the ragged dot
// (chlo_ragged_dot.cc). Sources of their formulas are beside them. Pure.
#pragma once

#include <optional>

#include "millrace/devices/stablehlo/bytecode/expression.h"

namespace millrace::devices::stablehlo::bytecode {

// nullopt for what is no function of one number here.
std::optional<Expression> real_function(ir::OpKind kind, const Expression& x);
// Hurwitz' function of s and q. For q from -1e6 on; NaN below.
Expression zeta(const Expression& s, const Expression& q);
// The derivative of order n of digamma; infinite for n above 170.
Expression polygamma(const Expression& n, const Expression& x);

// The parts of complex numbers.
struct ComplexExpression {
  Expression re, im;
};
std::optional<ComplexExpression> complex_function(ir::OpKind kind, const ComplexExpression& z);

// As many contractions of the operands `in` as there are groups. nullopt for dimension numbers that
// do not fit.
std::optional<Expression> ragged_dot(const ir::Op& op, const Expressions& in);

}  // namespace millrace::devices::stablehlo::bytecode
