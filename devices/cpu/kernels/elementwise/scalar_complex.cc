// Functions of complex numbers. As in scalar_real.cc, T is double for complex<f32> and long double
// for complex<f64>; both have more exponent too, so that squares in between do not overflow.
#include <cmath>
#include <complex>
#include <limits>

#include "millrace/devices/cpu/kernels/elementwise/scalar_op.h"

namespace millrace::devices::cpu::definition {
namespace {

using ir::OpKind;
using S = const Scalar*;
using I = const ScalarInfo&;

template <class T>
using C = std::complex<T>;

template <class T>
C<T> of(const Scalar& x) {
  return {static_cast<T>(x.re), static_cast<T>(x.im)};
}
template <class T>
Scalar scalar(const C<T>& x) {
  return from_complex(static_cast<double>(x.real()), static_cast<double>(x.imag()));
}

Scalar add(S x, I) { return from_complex(x[0].re + x[1].re, x[0].im + x[1].im); }
Scalar subtract(S x, I) { return from_complex(x[0].re - x[1].re, x[0].im - x[1].im); }
Scalar negate(S x, I) { return from_complex(-x[0].re, -x[0].im); }
Scalar conj(S x, I) { return from_complex(x[0].re, -x[0].im); }
Scalar real_part(S x, I) { return from_real(x[0].re); }
Scalar imaginary_part(S x, I) { return from_real(x[0].im); }
Scalar compare(S x, I info) {
  const bool equal = x[0].re == x[1].re && x[0].im == x[1].im;
  return from_unsigned((info.direction == ir::ComparisonDirection::kEq) == equal ? 1 : 0);
}
Scalar is_finite(S x, I) {
  return from_unsigned(std::isfinite(x[0].re) && std::isfinite(x[0].im) ? 1 : 0);
}
// The order of the real parts, then of the imaginary ones.
bool before(const Scalar& a, const Scalar& b) {
  return a.re < b.re || (a.re == b.re && a.im < b.im);
}
Scalar maximum(S x, I) { return before(x[0], x[1]) ? x[1] : x[0]; }
Scalar minimum(S x, I) { return before(x[1], x[0]) ? x[1] : x[0]; }
Scalar clamp(S x, I info) {
  const Scalar low[] = {x[1], x[0]};
  const Scalar high[] = {maximum(low, info), x[2]};
  return minimum(high, info);
}

template <class T>
Scalar absolute(S x, I) {
  // Squares of f32 are far from the ends of double.
  if constexpr (std::is_same_v<T, double>) {
    if (std::isfinite(x[0].re) && std::isfinite(x[0].im))
      return from_real(std::sqrt(x[0].re * x[0].re + x[0].im * x[0].im));
  }
  return from_real(
      static_cast<double>(std::hypot(static_cast<T>(x[0].re), static_cast<T>(x[0].im))));
}

template <class T>
C<T> product(const C<T>& a, const C<T>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// x^2 by (re - im)(re + im), which does not cancel.
template <class T>
C<T> square(const C<T>& a) {
  return {(a.real() - a.imag()) * (a.real() + a.imag()), 2 * a.real() * a.imag()};
}

template <class T>
C<T> quotient(const C<T>& a, const C<T>& b) {
  return a / b;
}

template <class T>
C<T> sign(const C<T>& a) {
  if (std::isnan(a.real()) || std::isnan(a.imag())) {
    constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
    return {kNan, kNan};
  }
  const T size = std::hypot(a.real(), a.imag());
  return size == 0 ? a : C<T>(a.real() / size, a.imag() / size);
}

// exp(x) - 1 = expm1(re) cos(im) - 2 sin(im/2)^2 + i exp(re) sin(im).
template <class T>
C<T> exponential_minus_one(const C<T>& a) {
  const T half = std::sin(a.imag() / 2);
  const T re = std::expm1(a.real()) * std::cos(a.imag()) - 2 * half * half;
  const T im = a.imag() == 0 ? a.imag() : std::exp(a.real()) * std::sin(a.imag());
  return {re, im};
}

// log |1 + x| = log1p(re (2 + re) + im^2) / 2 near the circle |1 + x| = 1.
template <class T>
C<T> log_plus_one(const C<T>& a) {
  const T one_plus = 1 + a.real();
  const T angle = std::atan2(a.imag(), one_plus);
  const T size = std::hypot(one_plus, a.imag());
  if (!(size > T(0.5)) || !(size < T(2))) return {std::log(size), angle};
  return {std::log1p(a.real() * (2 + a.real()) + a.imag() * a.imag()) / 2, angle};
}

template <class T>
C<T> exponential(const C<T>& a) {
  // A real argument stays real, and what vanishes does so whatever the angle.
  if (a.imag() == 0) return {std::exp(a.real()), a.imag()};
  return std::exp(a);
}

template <class T>
C<T> power(const C<T>& a, const C<T>& b) {
  if (a == C<T>(0)) {
    if (b == C<T>(0)) return {1, 0};
    if (b.real() > 0) return {0, 0};
  }
  // |a|^re(b) exp(-im(b) angle), at the angle re(b) angle + im(b) log |a|.
  const C<T> l = std::log(a);
  return std::exp(product(l, b));
}

// The angle that one may forget: a multiple of two pi of the result.
template <class T>
C<T> cube_root(const C<T>& a) {
  if (a == C<T>(0)) return a;
  return std::polar(std::cbrt(std::abs(a)), std::arg(a) / 3);
}

template <class T>
C<T> reciprocal_root(const C<T>& a) {
  return C<T>(1) / std::sqrt(a);
}

template <class T>
C<T> logistic(const C<T>& a) {
  return C<T>(1) / (C<T>(1) + std::exp(-a));
}

// log((a + ib) / sqrt(a^2 + b^2)) has this imaginary part for real a, b.
template <class T>
C<T> atan2(const C<T>& y, const C<T>& x) {
  const C<T> i(0, 1);
  return -i * std::log((x + i * y) / std::sqrt(square(x) + square(y)));
}

// Their names are those of the kinds that they are of.
#define MILLRACE_UNARY_FUNCTIONS(X)                 \
  X(kSign, sign(a))                                 \
  X(kChloSquare, square(a))                         \
  X(kExponential, exponential(a))                   \
  X(kExponentialMinusOne, exponential_minus_one(a)) \
  X(kLog, std::log(a))                              \
  X(kLogPlusOne, log_plus_one(a))                   \
  X(kSqrt, std::sqrt(a))                            \
  X(kRsqrt, reciprocal_root(a))                     \
  X(kCbrt, cube_root(a))                            \
  X(kLogistic, logistic(a))                         \
  X(kSine, std::sin(a))                             \
  X(kCosine, std::cos(a))                           \
  X(kTan, std::tan(a))                              \
  X(kChloTan, std::tan(a))                          \
  X(kChloSinh, std::sinh(a))                        \
  X(kChloCosh, std::cosh(a))                        \
  X(kTanh, std::tanh(a))                            \
  X(kChloAsin, std::asin(a))                        \
  X(kChloAcos, std::acos(a))                        \
  X(kChloAtan, std::atan(a))                        \
  X(kChloAsinh, std::asinh(a))                      \
  X(kChloAcosh, std::acosh(a))                      \
  X(kChloAtanh, std::atanh(a))
#define MILLRACE_BINARY_FUNCTIONS(X) \
  X(kMultiply, product(a, b))        \
  X(kDivide, quotient(a, b))         \
  X(kPower, power(a, b))             \
  X(kAtan2, atan2(a, b))
#define MILLRACE_UNARY(kind, expression) \
  template <class T>                     \
  Scalar kind(S x, I) {                  \
    const C<T> a = of<T>(x[0]);          \
    return scalar<T>(expression);        \
  }
#define MILLRACE_BINARY(kind, expression) \
  template <class T>                      \
  Scalar kind(S x, I) {                   \
    const C<T> a = of<T>(x[0]);           \
    const C<T> b = of<T>(x[1]);           \
    return scalar<T>(expression);         \
  }
MILLRACE_UNARY_FUNCTIONS(MILLRACE_UNARY)
MILLRACE_BINARY_FUNCTIONS(MILLRACE_BINARY)
#undef MILLRACE_UNARY
#undef MILLRACE_BINARY

constexpr ScalarRow kRows[] = {
    {OpKind::kAdd, add, add},
    {OpKind::kSubtract, subtract, subtract},
    {OpKind::kNegate, negate, negate},
    {OpKind::kChloConj, conj, conj},
    {OpKind::kReal, real_part, real_part},
    {OpKind::kImag, imaginary_part, imaginary_part},
    {OpKind::kCompare, compare, compare},
    {OpKind::kIsFinite, is_finite, is_finite},
    {OpKind::kMaximum, maximum, maximum},
    {OpKind::kMinimum, minimum, minimum},
    {OpKind::kClamp, clamp, clamp},
    {OpKind::kAbs, absolute<double>, absolute<long double>},
#define MILLRACE_ROW(kind, expression) {OpKind::kind, kind<double>, kind<long double>},
    MILLRACE_UNARY_FUNCTIONS(MILLRACE_ROW) MILLRACE_BINARY_FUNCTIONS(MILLRACE_ROW)
#undef MILLRACE_ROW
};

}  // namespace

ScalarFunction complex_function(OpKind kind, bool wide) { return find_function(kRows, kind, wide); }

}  // namespace millrace::devices::cpu::definition
