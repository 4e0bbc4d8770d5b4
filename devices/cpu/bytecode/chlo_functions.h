// Special functions as lines of StableHLO on arrays of f64, for chlo_expansion.h: those of
// chlo_functions.cc of real numbers, those of chlo_complex.cc of complex ones; and the ragged dot
// (chlo_ragged_dot.cc). Sources of their formulas are beside them. Pure.
#pragma once

#include <optional>
#include <span>

#include "millrace/devices/cpu/bytecode/chlo_lines.h"
#include "millrace/devices/cpu/ir/op.h"

namespace millrace::devices::cpu::bytecode {

// nullopt for what is no function of one number here.
std::optional<Lines::V> real_function(ir::OpKind kind, Lines& t, const Lines::V& x);
// Hurwitz' function of s and q. For q from -1e6 on; NaN below.
Lines::V zeta(Lines& t, const Lines::V& s, const Lines::V& q);
// The derivative of order n of digamma; infinite for n above 170.
Lines::V polygamma(Lines& t, const Lines::V& n, const Lines::V& x);

// The parts of complex numbers.
struct ComplexLines {
  Lines::V re, im;
};
std::optional<ComplexLines> complex_function(ir::OpKind kind, Lines& t, const ComplexLines& z);

// Of the operands `in`, as many contractions as there are groups. nullopt for dimension numbers
// that do not fit.
std::optional<Lines::V> ragged_dot(const ir::Op& op, Lines& t, std::span<const Lines::V> in);

}  // namespace millrace::devices::cpu::bytecode
