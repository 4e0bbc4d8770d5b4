// What a chlo operation is in StableHLO alone. VHLO has no chlo: a portable artifact holds each of
// them as a composite "chlo.name" with the function that expand_chlo makes as its decomposition, as
// JAX writes them; readers that know the operation take their own. Pure. Read next:
// expression.h, chlo_functions.cc.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "millrace/devices/stablehlo/expand/expression.h"
#include "millrace/devices/stablehlo/ir/op.h"

namespace millrace::devices::stablehlo::expand {

// The body, made in `module`, of a function that takes the operands of op and then the values of
// `outer`, which chlo.scan's region reads of its surroundings. nullptr for operations, element
// types and shapes without an expansion: other operations with regions, open extents. Special
// functions are computed in f64.
ir::Block* expand_chlo(ir::Module& module, const ir::Op& op,
                       std::span<ir::Value* const> outer = {});

// What the region, and all inside of it, reads of its surroundings, each value once.
std::vector<ir::Value*> values_from_outside(const ir::Region& region);

// Special functions as formulas on arrays of f64; sources of their formulas are beside them. Those
// of real numbers are in chlo_functions.cc, those of complex ones in chlo_complex.cc.

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

}  // namespace millrace::devices::stablehlo::expand
