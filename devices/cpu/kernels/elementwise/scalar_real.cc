// Functions of real numbers. In each template T is double for f32 and what is narrower, and long
// double for f64, so that one rounding is left that counts.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "millrace/devices/cpu/kernels/elementwise/reduce_precision.h"
#include "millrace/devices/cpu/kernels/elementwise/scalar_op.h"
#include "millrace/devices/cpu/kernels/elementwise/special.h"
#include "millrace/devices/stablehlo/expand/error_function.h"
#include "millrace/devices/stablehlo/ir/float_format.h"

namespace millrace::devices::cpu::definition {
namespace {

using ir::OpKind;
using S = const Scalar*;
using I = const ScalarInfo&;

template <class T>
Scalar real(T x) {
  return from_real(static_cast<double>(x));
}
Scalar truth(bool x) { return from_unsigned(x ? 1 : 0); }

Scalar sign(S x, I) {
  const double a = x[0].re;
  return real(a > 0 ? 1.0 : a < 0 ? -1.0 : a);  // zeros and NaN as they are
}
double greater(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
double smaller(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
Scalar compare(S x, I info) {
  const double a = x[0].re, b = x[1].re;
  if (info.total_order) return truth(compares(info.direction, total_order(a, b)));
  if (std::isnan(a) || std::isnan(b)) return truth(info.direction == ir::ComparisonDirection::kNe);
  return truth(compares(info.direction, (a > b) - (a < b)));
}

// The neighbour of x[0] towards x[1], by the bits of the format: their order as integers is that of
// the numbers.
Scalar next_after(S x, I info) {
  const double from = x[0].re, to = x[1].re;
  if (std::isnan(from) || std::isnan(to)) return real(std::numeric_limits<double>::quiet_NaN());
  if (from == to) return x[1];
  const std::uint64_t sign = std::uint64_t{1} << (bit_width(info.in) - 1);
  std::uint64_t bits = ir::encode_float(info.in, from);
  if (from == 0)
    bits = to > 0 ? 1 : sign | 1;
  else
    bits = (from > 0) == (to > from) ? bits + 1 : bits - 1;
  return real(ir::decode_float(info.in, bits));
}

Scalar reduce_precision(S x, I info) {
  const double a = x[0].re;
  if (std::isnan(a)) return x[0];
  const ir::FloatLayout in = ir::float_layout(info.in);
  const FloatBits<std::uint64_t> of = {in.exponent_bits, in.mantissa_bits, in.bias, in.above};
  const std::uint64_t magnitude = std::min(ir::encode_float(info.in, std::fabs(a)), of.infinity);
  const std::uint64_t reduced =
      reduce_magnitude(magnitude, of, info.exponent_bits, info.mantissa_bits);
  const double value = reduced == of.infinity ? std::numeric_limits<double>::infinity()
                                              : ir::decode_float(info.in, reduced);
  return real(std::copysign(value, a));
}

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}
long double log_gamma(long double x) {
  int sign = 0;
  return ::lgammal_r(x, &sign);
}

// Rows of a function of T, given as F.
template <class T, class F>
Scalar unary_as(S x, I) {
  return real(F{}(static_cast<T>(x[0].re)));
}
template <class F>
constexpr ScalarRow unary(OpKind kind, F) {
  return {kind, unary_as<double, F>, unary_as<long double, F>};
}
template <class T, class F>
Scalar binary_as(S x, I) {
  return real(F{}(static_cast<T>(x[0].re), static_cast<T>(x[1].re)));
}
template <class F>
constexpr ScalarRow binary(OpKind kind, F) {
  return {kind, binary_as<double, F>, binary_as<long double, F>};
}

// erfc of f64 and the inverse of erf as chlo expands them.
template <class T>
Scalar erfc(S x, I info) {
  return real(info.out == DType::kF64 ? stablehlo::expand::chlo_erfc(x[0].re) : std::erfc(x[0].re));
}
template <class T>
Scalar erf_inverse(S x, I info) {
  if (info.out == DType::kF64) return real(stablehlo::expand::chlo_erf_inv(x[0].re));
  return real(stablehlo::expand::chlo_erf_inv(static_cast<float>(x[0].re)));
}
// f32 by chlo's own formulas with their roundings, which far from 0 cost some ULP: results are
// compared with those of others who expand them. ln(1/2) keeps exp from its overflow.
template <class T>
Scalar cosh(S x, I info) {
  if (info.out != DType::kF32) return real(std::cosh(static_cast<T>(x[0].re)));
  const auto a = static_cast<float>(x[0].re);
  const float log_half = std::log(0.5F);
  return real(std::exp(a + log_half) + std::exp(log_half - a));
}
template <class T>
Scalar sinh(S x, I info) {
  if (info.out != DType::kF32) return real(std::sinh(static_cast<T>(x[0].re)));
  const auto a = static_cast<float>(x[0].re);
  if (std::abs(a) < 1) {
    const float e = std::expm1(a);
    return real(0.5F * (e + e / (e + 1)));
  }
  const float log_half = std::log(0.5F);
  return real(std::exp(a + log_half) - std::exp(log_half - a));
}

using enum OpKind;
constexpr ScalarRow kRows[] = {
    // Exact, or rounded well, in double: sums, products, quotients and roots of numbers with at
    // most half of its digits stay right when they are rounded again.
    any_width(kAdd, [](S x, I) { return real(x[0].re + x[1].re); }),
    any_width(kSubtract, [](S x, I) { return real(x[0].re - x[1].re); }),
    any_width(kMultiply, [](S x, I) { return real(x[0].re * x[1].re); }),
    any_width(kDivide, [](S x, I) { return real(x[0].re / x[1].re); }),
    any_width(kRemainder, [](S x, I) { return real(std::fmod(x[0].re, x[1].re)); }),
    any_width(kNegate, [](S x, I) { return real(-x[0].re); }),
    any_width(kAbs, [](S x, I) { return real(std::fabs(x[0].re)); }),
    any_width(kChloSquare, [](S x, I) { return real(x[0].re * x[0].re); }),
    any_width(kSqrt, [](S x, I) { return real(std::sqrt(x[0].re)); }),
    any_width(kFloor, [](S x, I) { return real(std::floor(x[0].re)); }),
    any_width(kCeil, [](S x, I) { return real(std::ceil(x[0].re)); }),
    any_width(kRoundNearestAfz, [](S x, I) { return real(std::round(x[0].re)); }),
    any_width(kRoundNearestEven, [](S x, I) { return real(std::nearbyint(x[0].re)); }),
    any_width(kReal, [](S x, I) { return x[0]; }),
    any_width(kChloConj, [](S x, I) { return x[0]; }),
    any_width(kImag, [](S, I) { return real(0.0); }),
    any_width(kComplex, [](S x, I) { return from_complex(x[0].re, x[1].re); }),
    any_width(kMaximum, [](S x, I) { return real(greater(x[0].re, x[1].re)); }),
    any_width(kMinimum, [](S x, I) { return real(smaller(x[0].re, x[1].re)); }),
    any_width(kClamp, [](S x, I) { return real(smaller(greater(x[1].re, x[0].re), x[2].re)); }),
    any_width(kIsFinite, [](S x, I) { return truth(std::isfinite(x[0].re)); }),
    any_width(kChloIsInf, [](S x, I) { return truth(std::isinf(x[0].re)); }),
    any_width(kChloIsPosInf, [](S x, I) { return truth(std::isinf(x[0].re) && x[0].re > 0); }),
    any_width(kChloIsNegInf, [](S x, I) { return truth(std::isinf(x[0].re) && x[0].re < 0); }),
    any_width(kSign, sign),
    any_width(kCompare, compare),
    any_width(kChloNextAfter, next_after),
    any_width(kReducePrecision, reduce_precision),
    {kChloSinh, sinh<double>, sinh<long double>},
    {kChloCosh, cosh<double>, cosh<long double>},
    {kChloErfc, erfc<double>, erfc<long double>},
    {kChloErfInv, erf_inverse<double>, erf_inverse<long double>},
    unary(kExponential, [](auto a) { return std::exp(a); }),
    unary(kExponentialMinusOne, [](auto a) { return std::expm1(a); }),
    unary(kLog, [](auto a) { return std::log(a); }),
    unary(kLogPlusOne, [](auto a) { return std::log1p(a); }),
    unary(kLogistic, [](auto a) { return 1 / (1 + std::exp(-a)); }),
    unary(kRsqrt, [](auto a) { return 1 / std::sqrt(a); }),
    unary(kCbrt, [](auto a) { return std::cbrt(a); }),
    unary(kSine, [](auto a) { return std::sin(a); }),
    unary(kCosine, [](auto a) { return std::cos(a); }),
    unary(kTan, [](auto a) { return std::tan(a); }),
    unary(kChloTan, [](auto a) { return std::tan(a); }),
    unary(kTanh, [](auto a) { return std::tanh(a); }),
    unary(kChloAsin, [](auto a) { return std::asin(a); }),
    unary(kChloAcos, [](auto a) { return std::acos(a); }),
    unary(kChloAtan, [](auto a) { return std::atan(a); }),
    unary(kChloAsinh, [](auto a) { return std::asinh(a); }),
    unary(kChloAcosh, [](auto a) { return std::acosh(a); }),
    unary(kChloAtanh, [](auto a) { return std::atanh(a); }),
    unary(kChloErf, [](auto a) { return std::erf(a); }),
    unary(kChloLgamma, [](auto a) { return log_gamma(a); }),
    unary(kChloDigamma, [](auto a) { return digamma(a); }),
    unary(kChloBesselI1e, [](auto a) { return bessel_i1e(a); }),
    binary(kPower, [](auto a, auto b) { return std::pow(a, b); }),
    binary(kAtan2, [](auto a, auto b) { return std::atan2(a, b); }),
    binary(kChloZeta, [](auto a, auto b) { return hurwitz_zeta(a, b); }),
    binary(kChloPolygamma, [](auto a, auto b) { return polygamma(a, b); }),
};

}  // namespace

ScalarFunction real_function(OpKind kind, bool wide) { return find_function(kRows, kind, wide); }

}  // namespace millrace::devices::cpu::definition
