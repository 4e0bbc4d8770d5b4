// Functions of real and complex numbers. In each template T is double for f32 and what is narrower,
// and long double for f64, alone or as the parts of a complex number: one rounding is left that
// counts, and squares in between do not overflow.
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#include "millrace/devices/cpu/kernels/functions/reduce_precision.h"
#include "millrace/devices/cpu/kernels/functions/scalar_op.h"
#include "millrace/devices/cpu/kernels/functions/special.h"
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

Scalar greater(S x, I) {
  const double a = x[0].re, b = x[1].re;
  if (std::isnan(a) || std::isnan(b)) return real(std::numeric_limits<double>::quiet_NaN());
  if (a == b) return real(std::signbit(a) ? b : a);
  return real(a > b ? a : b);
}
Scalar smaller(S x, I) {
  const double a = x[0].re, b = x[1].re;
  if (std::isnan(a) || std::isnan(b)) return real(std::numeric_limits<double>::quiet_NaN());
  if (a == b) return real(std::signbit(a) ? a : b);
  return real(a < b ? a : b);
}
// Its operands: low, value and high.
template <ScalarFunction kMaximum, ScalarFunction kMinimum>
Scalar clamp(S x, I info) {
  const Scalar low[] = {x[1], x[0]};
  const Scalar high[] = {kMaximum(low, info), x[2]};
  return kMinimum(high, info);
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

// erfc of f64 and the inverse of erf as chlo expands them.
Scalar erfc(S x, I info) {
  return real(info.out == DType::kF64 ? stablehlo::expand::chlo_erfc(x[0].re) : std::erfc(x[0].re));
}
Scalar erf_inverse(S x, I info) {
  if (info.out == DType::kF64) return real(stablehlo::expand::chlo_erf_inv(x[0].re));
  return real(stablehlo::expand::chlo_erf_inv(static_cast<float>(x[0].re)));
}
// f32 by chlo's own formulas with their roundings, which far from 0 cost some ULP: results are
// compared with those of others who expand them. ln(1/2) keeps exp from its overflow.
template <class T>
Scalar real_cosh(S x, I info) {
  if (info.out != DType::kF32) return real(std::cosh(static_cast<T>(x[0].re)));
  const auto a = static_cast<float>(x[0].re);
  const float log_half = std::log(0.5F);
  return real(std::exp(a + log_half) + std::exp(log_half - a));
}
template <class T>
Scalar real_sinh(S x, I info) {
  if (info.out != DType::kF32) return real(std::sinh(static_cast<T>(x[0].re)));
  const auto a = static_cast<float>(x[0].re);
  if (std::abs(a) < 1) {
    const float e = std::expm1(a);
    return real(0.5F * (e + e / (e + 1)));
  }
  const float log_half = std::log(0.5F);
  return real(std::exp(a + log_half) - std::exp(log_half - a));
}

template <class T>
using C = std::complex<T>;

Scalar compare_complex(S x, I info) {
  const bool equal = x[0].re == x[1].re && x[0].im == x[1].im;
  return truth((info.direction == ir::ComparisonDirection::kEq) == equal);
}
// The order of the real parts, then of the imaginary ones.
bool before(const Scalar& a, const Scalar& b) {
  return a.re < b.re || (a.re == b.re && a.im < b.im);
}
Scalar maximum(S x, I) { return before(x[0], x[1]) ? x[1] : x[0]; }
Scalar minimum(S x, I) { return before(x[1], x[0]) ? x[1] : x[0]; }
template <class T>
T absolute(const C<T>& a) {
  // Squares of f32 are far from the ends of double.
  if constexpr (std::is_same_v<T, double>) {
    if (std::isfinite(a.real()) && std::isfinite(a.imag()))
      return std::sqrt(a.real() * a.real() + a.imag() * a.imag());
  }
  return std::hypot(a.real(), a.imag());
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

// A number as T or C<T>, and back.
template <class N>
N of(const Scalar& x) {
  if constexpr (std::is_floating_point_v<N>) {
    return static_cast<N>(x.re);
  } else {
    return {static_cast<typename N::value_type>(x.re), static_cast<typename N::value_type>(x.im)};
  }
}
Scalar scalar(bool x) { return truth(x); }
Scalar scalar(const std::floating_point auto& x) { return real(x); }
template <class T>
Scalar scalar(const C<T>& x) {
  return from_complex(static_cast<double>(x.real()), static_cast<double>(x.imag()));
}
// F, a function of one or two numbers.
template <class N, class F>
Scalar apply(S x, I) {
  if constexpr (std::is_invocable_v<F, N, N>) {
    return scalar(F{}(of<N>(x[0]), of<N>(x[1])));
  } else {
    return scalar(F{}(of<N>(x[0])));
  }
}

struct Row {
  OpKind kind;
  ScalarFunction real, real_wide;                            // wide: f64
  ScalarFunction complex = nullptr, complex_wide = nullptr;  // wide: complex<f64>
};
// The same functions for both widths.
constexpr Row any_width(OpKind kind, ScalarFunction real, ScalarFunction complex = nullptr) {
  return {kind, real, real, complex, complex};
}
// F of real numbers and G of complex ones; exact: rounded well in double. Sums, products, quotients
// and roots of numbers with at most half of its digits stay right when they are rounded again.
template <class F>
constexpr Row real_only(OpKind kind, F) {
  return {kind, apply<double, F>, apply<long double, F>};
}
template <class F>
constexpr Row exact_real(OpKind kind, F) {
  return any_width(kind, apply<double, F>);
}
template <class F, class G = F>
constexpr Row exact(OpKind kind, F, G = {}) {
  return any_width(kind, apply<double, F>, apply<C<double>, G>);
}
template <class G>
constexpr Row with_complex(Row row, G) {
  row.complex = apply<C<double>, G>;
  row.complex_wide = apply<C<long double>, G>;
  return row;
}
template <class F, class G = F>
constexpr Row both(OpKind kind, F f, G g = {}) {
  return with_complex(real_only(kind, f), g);
}

using enum OpKind;
constexpr Row kRows[] = {
    any_width(kCompare, compare, compare_complex),
    any_width(kMaximum, greater, maximum),
    any_width(kMinimum, smaller, minimum),
    any_width(kClamp, clamp<greater, smaller>, clamp<maximum, minimum>),
    any_width(kChloNextAfter, next_after),
    any_width(kReducePrecision, reduce_precision),
    any_width(kChloErfc, erfc),
    any_width(kChloErfInv, erf_inverse),
    exact(kAdd, [](const auto& a, const auto& b) { return a + b; }),
    exact(kSubtract, [](const auto& a, const auto& b) { return a - b; }),
    exact(kNegate, [](const auto& a) { return -a; }),
    exact(
        kChloConj, [](auto a) { return a; }, [](const auto& a) { return std::conj(a); }),
    exact(kReal, [](const auto& a) { return std::real(a); }),
    exact(kImag, [](const auto& a) { return std::imag(a); }),
    exact(kIsFinite,
          [](const auto& a) { return std::isfinite(std::real(a)) && std::isfinite(std::imag(a)); }),
    exact_real(kComplex, [](auto a, auto b) { return C<double>(a, b); }),
    exact_real(kRemainder, [](auto a, auto b) { return std::fmod(a, b); }),
    exact_real(kFloor, [](auto a) { return std::floor(a); }),
    exact_real(kCeil, [](auto a) { return std::ceil(a); }),
    exact_real(kRoundNearestAfz, [](auto a) { return std::round(a); }),
    exact_real(kRoundNearestEven, [](auto a) { return std::nearbyint(a); }),
    exact_real(kChloIsInf, [](auto a) { return std::isinf(a); }),
    exact_real(kChloIsPosInf, [](auto a) { return std::isinf(a) && a > 0; }),
    exact_real(kChloIsNegInf, [](auto a) { return std::isinf(a) && a < 0; }),
    with_complex(exact_real(kMultiply, [](auto a, auto b) { return a * b; }),
                 [](const auto& a, const auto& b) { return product(a, b); }),
    with_complex(exact_real(kDivide, [](auto a, auto b) { return a / b; }),
                 [](const auto& a, const auto& b) { return a / b; }),
    with_complex(exact_real(kChloSquare, [](auto a) { return a * a; }),
                 [](const auto& a) { return square(a); }),
    with_complex(exact_real(kSqrt, [](auto a) { return std::sqrt(a); }),
                 [](const auto& a) { return std::sqrt(a); }),
    // Zeros and NaN as they are.
    with_complex(exact_real(kSign, [](auto a) { return a > 0   ? 1.0
                                                       : a < 0 ? -1.0
                                                               : a; }),
                 [](const auto& a) { return sign(a); }),
    with_complex(exact_real(kAbs, [](auto a) { return std::fabs(a); }),
                 [](const auto& a) { return absolute(a); }),
    with_complex({kChloSinh, real_sinh<double>, real_sinh<long double>},
                 [](const auto& a) { return std::sinh(a); }),
    with_complex({kChloCosh, real_cosh<double>, real_cosh<long double>},
                 [](const auto& a) { return std::cosh(a); }),
    both(
        kExponential, [](auto a) { return std::exp(a); },
        [](const auto& a) { return exponential(a); }),
    both(
        kExponentialMinusOne, [](auto a) { return std::expm1(a); },
        [](const auto& a) { return exponential_minus_one(a); }),
    both(
        kLogPlusOne, [](auto a) { return std::log1p(a); },
        [](const auto& a) { return log_plus_one(a); }),
    both(
        kCbrt, [](auto a) { return std::cbrt(a); }, [](const auto& a) { return cube_root(a); }),
    both(
        kPower, [](auto a, auto b) { return std::pow(a, b); },
        [](const auto& a, const auto& b) { return power(a, b); }),
    both(
        kAtan2, [](auto a, auto b) { return std::atan2(a, b); },
        [](const auto& a, const auto& b) { return atan2(a, b); }),
    both(kLog, [](const auto& a) { return std::log(a); }),
    both(kLogistic, []<class N>(const N& a) { return N(1) / (N(1) + std::exp(-a)); }),
    both(kRsqrt, []<class N>(const N& a) { return N(1) / std::sqrt(a); }),
    both(kSine, [](const auto& a) { return std::sin(a); }),
    both(kCosine, [](const auto& a) { return std::cos(a); }),
    both(kTan, [](const auto& a) { return std::tan(a); }),
    both(kChloTan, [](const auto& a) { return std::tan(a); }),
    both(kTanh, [](const auto& a) { return std::tanh(a); }),
    both(kChloAsin, [](const auto& a) { return std::asin(a); }),
    both(kChloAcos, [](const auto& a) { return std::acos(a); }),
    both(kChloAtan, [](const auto& a) { return std::atan(a); }),
    both(kChloAsinh, [](const auto& a) { return std::asinh(a); }),
    both(kChloAcosh, [](const auto& a) { return std::acosh(a); }),
    both(kChloAtanh, [](const auto& a) { return std::atanh(a); }),
    real_only(kChloErf, [](auto a) { return std::erf(a); }),
    real_only(kChloLgamma, [](auto a) { return log_gamma(a); }),
    real_only(kChloDigamma, [](auto a) { return digamma(a); }),
    real_only(kChloBesselI1e, [](auto a) { return bessel_i1e(a); }),
    real_only(kChloZeta, [](auto a, auto b) { return hurwitz_zeta(a, b); }),
    real_only(kChloPolygamma, [](auto a, auto b) { return polygamma(a, b); }),
};

const Row* row_of(OpKind kind) {
  const auto* const row = std::ranges::find(kRows, kind, &Row::kind);
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace

ScalarFunction real_function(OpKind kind, bool wide) {
  const Row* const row = row_of(kind);
  return row == nullptr ? nullptr : wide ? row->real_wide : row->real;
}

ScalarFunction complex_function(OpKind kind, bool wide) {
  const Row* const row = row_of(kind);
  return row == nullptr ? nullptr : wide ? row->complex_wide : row->complex;
}

}  // namespace millrace::devices::cpu::definition
