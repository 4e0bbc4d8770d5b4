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
#include "millrace/devices/stablehlo/bytecode/error_function.h"
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

// Exact, or rounded well, in double: sums, products, quotients and roots of numbers with at most
// half of its digits stay right when they are rounded again.
Scalar add(S x, I) { return real(x[0].re + x[1].re); }
Scalar subtract(S x, I) { return real(x[0].re - x[1].re); }
Scalar multiply(S x, I) { return real(x[0].re * x[1].re); }
Scalar divide(S x, I) { return real(x[0].re / x[1].re); }
Scalar remainder(S x, I) { return real(std::fmod(x[0].re, x[1].re)); }
Scalar negate(S x, I) { return real(-x[0].re); }
Scalar abs(S x, I) { return real(std::fabs(x[0].re)); }
Scalar square(S x, I) { return real(x[0].re * x[0].re); }
Scalar sqrt(S x, I) { return real(std::sqrt(x[0].re)); }
Scalar floor(S x, I) { return real(std::floor(x[0].re)); }
Scalar ceil(S x, I) { return real(std::ceil(x[0].re)); }
Scalar round_afz(S x, I) { return real(std::round(x[0].re)); }
Scalar round_even(S x, I) { return real(std::nearbyint(x[0].re)); }
Scalar same(S x, I) { return x[0]; }
Scalar zero(S, I) { return real(0.0); }
Scalar complex(S x, I) { return from_complex(x[0].re, x[1].re); }
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
Scalar maximum(S x, I) { return real(greater(x[0].re, x[1].re)); }
Scalar minimum(S x, I) { return real(smaller(x[0].re, x[1].re)); }
Scalar clamp(S x, I) { return real(smaller(greater(x[1].re, x[0].re), x[2].re)); }
Scalar compare(S x, I info) {
  const double a = x[0].re, b = x[1].re;
  if (info.total_order) return truth(compares(info.direction, total_order(a, b)));
  if (std::isnan(a) || std::isnan(b)) return truth(info.direction == ir::ComparisonDirection::kNe);
  return truth(compares(info.direction, (a > b) - (a < b)));
}
Scalar is_finite(S x, I) { return truth(std::isfinite(x[0].re)); }
Scalar is_inf(S x, I) { return truth(std::isinf(x[0].re)); }
Scalar is_positive_inf(S x, I) { return truth(std::isinf(x[0].re) && x[0].re > 0); }
Scalar is_negative_inf(S x, I) { return truth(std::isinf(x[0].re) && x[0].re < 0); }

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

// Their names are those of the kinds that they are of.
#define MILLRACE_UNARY_FUNCTIONS(X)      \
  X(kExponential, std::exp(a))           \
  X(kExponentialMinusOne, std::expm1(a)) \
  X(kLog, std::log(a))                   \
  X(kLogPlusOne, std::log1p(a))          \
  X(kLogistic, 1 / (1 + std::exp(-a)))   \
  X(kRsqrt, 1 / std::sqrt(a))            \
  X(kCbrt, std::cbrt(a))                 \
  X(kSine, std::sin(a))                  \
  X(kCosine, std::cos(a))                \
  X(kTan, std::tan(a))                   \
  X(kChloTan, std::tan(a))               \
  X(kTanh, std::tanh(a))                 \
  X(kChloAsin, std::asin(a))             \
  X(kChloAcos, std::acos(a))             \
  X(kChloAtan, std::atan(a))             \
  X(kChloAsinh, std::asinh(a))           \
  X(kChloAcosh, std::acosh(a))           \
  X(kChloAtanh, std::atanh(a))           \
  X(kChloErf, std::erf(a))               \
  X(kChloLgamma, log_gamma(a))           \
  X(kChloDigamma, digamma(a))            \
  X(kChloBesselI1e, bessel_i1e(a))
#define MILLRACE_BINARY_FUNCTIONS(X) \
  X(kPower, std::pow(a, b))          \
  X(kAtan2, std::atan2(a, b))        \
  X(kChloZeta, hurwitz_zeta(a, b))   \
  X(kChloPolygamma, polygamma(a, b))
#define MILLRACE_UNARY(kind, expression) \
  template <class T>                     \
  Scalar kind(S x, I) {                  \
    const T a = static_cast<T>(x[0].re); \
    return real(expression);             \
  }
#define MILLRACE_BINARY(kind, expression) \
  template <class T>                      \
  Scalar kind(S x, I) {                   \
    const T a = static_cast<T>(x[0].re);  \
    const T b = static_cast<T>(x[1].re);  \
    return real(expression);              \
  }
MILLRACE_UNARY_FUNCTIONS(MILLRACE_UNARY)
MILLRACE_BINARY_FUNCTIONS(MILLRACE_BINARY)
#undef MILLRACE_UNARY
#undef MILLRACE_BINARY
// erfc of f64 and the inverse of erf as chlo expands them.
template <class T>
Scalar erfc(S x, I info) {
  return real(info.out == DType::kF64 ? stablehlo::chlo_erfc(x[0].re) : std::erfc(x[0].re));
}
template <class T>
Scalar erf_inverse(S x, I info) {
  if (info.out == DType::kF64) return real(stablehlo::chlo_erf_inv(x[0].re));
  return real(stablehlo::chlo_erf_inv(static_cast<float>(x[0].re)));
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

constexpr ScalarRow kRows[] = {
    {OpKind::kAdd, add, add},
    {OpKind::kSubtract, subtract, subtract},
    {OpKind::kMultiply, multiply, multiply},
    {OpKind::kDivide, divide, divide},
    {OpKind::kRemainder, remainder, remainder},
    {OpKind::kNegate, negate, negate},
    {OpKind::kAbs, abs, abs},
    {OpKind::kChloSquare, square, square},
    {OpKind::kSqrt, sqrt, sqrt},
    {OpKind::kFloor, floor, floor},
    {OpKind::kCeil, ceil, ceil},
    {OpKind::kRoundNearestAfz, round_afz, round_afz},
    {OpKind::kRoundNearestEven, round_even, round_even},
    {OpKind::kReal, same, same},
    {OpKind::kChloConj, same, same},
    {OpKind::kImag, zero, zero},
    {OpKind::kComplex, complex, complex},
    {OpKind::kSign, sign, sign},
    {OpKind::kMaximum, maximum, maximum},
    {OpKind::kMinimum, minimum, minimum},
    {OpKind::kClamp, clamp, clamp},
    {OpKind::kCompare, compare, compare},
    {OpKind::kIsFinite, is_finite, is_finite},
    {OpKind::kChloIsInf, is_inf, is_inf},
    {OpKind::kChloIsPosInf, is_positive_inf, is_positive_inf},
    {OpKind::kChloIsNegInf, is_negative_inf, is_negative_inf},
    {OpKind::kChloNextAfter, next_after, next_after},
    {OpKind::kReducePrecision, reduce_precision, reduce_precision},
    {OpKind::kChloSinh, sinh<double>, sinh<long double>},
    {OpKind::kChloCosh, cosh<double>, cosh<long double>},
    {OpKind::kChloErfc, erfc<double>, erfc<long double>},
    {OpKind::kChloErfInv, erf_inverse<double>, erf_inverse<long double>},
#define MILLRACE_ROW(kind, expression) {OpKind::kind, kind<double>, kind<long double>},
    MILLRACE_UNARY_FUNCTIONS(MILLRACE_ROW) MILLRACE_BINARY_FUNCTIONS(MILLRACE_ROW)
#undef MILLRACE_ROW
};

}  // namespace

ScalarFunction real_function(OpKind kind, bool wide) { return find_function(kRows, kind, wide); }

}  // namespace millrace::devices::cpu::definition
