// Special functions of real numbers that the C library does not have, for double and long double:
// both forms exist so that f64 is computed with bits to spare. Formulas are those of the Digital
// Library of Mathematical Functions (DLMF), by number in special.cc.
#pragma once

namespace millrace::devices::cpu::definition {

template <class T>
T digamma(T x);  // NaN at the poles 0, -1, -2, ...
template <class T>
T hurwitz_zeta(T s, T q);  // sum over k >= 0 of (k + q)^-s
template <class T>
T polygamma(T n, T x);
template <class T>
T bessel_i1e(T x);  // exp(-|x|) I_1(x)

}  // namespace millrace::devices::cpu::definition
