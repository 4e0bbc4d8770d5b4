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

Scalar compare(S x, I info) {
  const bool equal = x[0].re == x[1].re && x[0].im == x[1].im;
  return from_unsigned((info.direction == ir::ComparisonDirection::kEq) == equal ? 1 : 0);
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

// The principal root: its angle is a third of that of a.
template <class T>
C<T> cube_root(const C<T>& a) {
  if (a == C<T>(0)) return a;
  return std::polar(std::cbrt(std::abs(a)), std::arg(a) / 3);
}

// log((a + ib) / sqrt(a^2 + b^2)) has this imaginary part for real a, b.
template <class T>
C<T> atan2(const C<T>& y, const C<T>& x) {
  const C<T> i(0, 1);
  return -i * std::log((x + i * y) / std::sqrt(square(x) + square(y)));
}

// Rows of a function of C<T>, given as F.
template <class T, class F>
Scalar unary_as(S x, I) {
  return scalar<T>(F{}(of<T>(x[0])));
}
template <class F>
constexpr ScalarRow unary(OpKind kind, F) {
  return {kind, unary_as<double, F>, unary_as<long double, F>};
}
template <class T, class F>
Scalar binary_as(S x, I) {
  return scalar<T>(F{}(of<T>(x[0]), of<T>(x[1])));
}
template <class F>
constexpr ScalarRow binary(OpKind kind, F) {
  return {kind, binary_as<double, F>, binary_as<long double, F>};
}

using enum OpKind;
constexpr ScalarRow kRows[] = {
    any_width(kAdd, [](S x, I) { return from_complex(x[0].re + x[1].re, x[0].im + x[1].im); }),
    any_width(kSubtract, [](S x, I) { return from_complex(x[0].re - x[1].re, x[0].im - x[1].im); }),
    any_width(kNegate, [](S x, I) { return from_complex(-x[0].re, -x[0].im); }),
    any_width(kChloConj, [](S x, I) { return from_complex(x[0].re, -x[0].im); }),
    any_width(kReal, [](S x, I) { return from_real(x[0].re); }),
    any_width(kImag, [](S x, I) { return from_real(x[0].im); }),
    any_width(kIsFinite,
              [](S x, I) {
                return from_unsigned(std::isfinite(x[0].re) && std::isfinite(x[0].im) ? 1 : 0);
              }),
    any_width(kCompare, compare),
    any_width(kMaximum, maximum),
    any_width(kMinimum, minimum),
    any_width(kClamp, clamp),
    {kAbs, absolute<double>, absolute<long double>},
    unary(kSign, [](const auto& a) { return sign(a); }),
    unary(kChloSquare, [](const auto& a) { return square(a); }),
    unary(kExponential, [](const auto& a) { return exponential(a); }),
    unary(kExponentialMinusOne, [](const auto& a) { return exponential_minus_one(a); }),
    unary(kLog, [](const auto& a) { return std::log(a); }),
    unary(kLogPlusOne, [](const auto& a) { return log_plus_one(a); }),
    unary(kSqrt, [](const auto& a) { return std::sqrt(a); }),
    unary(kRsqrt, []<class T>(const C<T>& a) { return C<T>(1) / std::sqrt(a); }),
    unary(kCbrt, [](const auto& a) { return cube_root(a); }),
    unary(kLogistic, []<class T>(const C<T>& a) { return C<T>(1) / (C<T>(1) + std::exp(-a)); }),
    unary(kSine, [](const auto& a) { return std::sin(a); }),
    unary(kCosine, [](const auto& a) { return std::cos(a); }),
    unary(kTan, [](const auto& a) { return std::tan(a); }),
    unary(kChloTan, [](const auto& a) { return std::tan(a); }),
    unary(kChloSinh, [](const auto& a) { return std::sinh(a); }),
    unary(kChloCosh, [](const auto& a) { return std::cosh(a); }),
    unary(kTanh, [](const auto& a) { return std::tanh(a); }),
    unary(kChloAsin, [](const auto& a) { return std::asin(a); }),
    unary(kChloAcos, [](const auto& a) { return std::acos(a); }),
    unary(kChloAtan, [](const auto& a) { return std::atan(a); }),
    unary(kChloAsinh, [](const auto& a) { return std::asinh(a); }),
    unary(kChloAcosh, [](const auto& a) { return std::acosh(a); }),
    unary(kChloAtanh, [](const auto& a) { return std::atanh(a); }),
    binary(kMultiply, [](const auto& a, const auto& b) { return product(a, b); }),
    binary(kDivide, [](const auto& a, const auto& b) { return a / b; }),
    binary(kPower, [](const auto& a, const auto& b) { return power(a, b); }),
    binary(kAtan2, [](const auto& a, const auto& b) { return atan2(a, b); }),
};

}  // namespace

ScalarFunction complex_function(OpKind kind, bool wide) { return find_function(kRows, kind, wide); }

}  // namespace millrace::devices::cpu::definition
