#include "millrace/devices/cpu/kernels/functions/special.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace millrace::devices::cpu::definition {
namespace {

// B_2k for k = 1 to 12 (DLMF 24.2).
constexpr long double kBernoulli[] = {1.0L / 6,         -1.0L / 30,      1.0L / 42,
                                      -1.0L / 30,       5.0L / 66,       -691.0L / 2730,
                                      7.0L / 6,         -3617.0L / 510,  43867.0L / 798,
                                      -174611.0L / 330, 854513.0L / 138, -236364091.0L / 2730};

template <class T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();

// The only positive zero of digamma, whose surroundings lose all digits otherwise.
constexpr long double kDigammaRoot = 1.46163214496836234126265954232572133L;
// Its first 53 bits, and the others.
constexpr long double kRootHigh = 1.4616321449683622, kRootLow = 9.5499954299656977152e-17L;

// Asymptotic series (DLMF 5.11.2) after shifting x up by recurrence (DLMF 5.5.2).
long double digamma_positive(long double x) {
  long double shift = 0;
  while (x < 20) {
    shift += 1 / x;
    x += 1;
  }
  const long double inverse = 1 / (x * x);
  long double power = inverse, sum = 0;
  for (int k = 1; k <= 12; ++k, power *= inverse) sum += kBernoulli[k - 1] * power / (2 * k);
  return std::log(x) - 1 / (2 * x) - sum - shift;
}

// Near its zero: psi(x) = sum over k of (x - x0) / ((k + x) (k + x0)), for psi(x0) = 0
// (DLMF 5.7.6); the tail of the sum by Euler and Maclaurin (DLMF 2.10.1).
long double digamma_near_root(long double x) {
  const long double d = x - kRootHigh - kRootLow;
  const int n = 40;
  long double sum = 0;
  for (int k = 0; k < n; ++k) sum += 1 / ((k + x) * (k + kDigammaRoot));
  const long double a = n + x, b = n + kDigammaRoot;
  // The integral of 1 / ((t + x) (t + x0)) from n on is log1p(d / b) / d.
  const long double integral = d == 0 ? 1 / b : std::log1p(d / b) / d;
  const long double f = 1 / (a * b);
  const long double f1 = -(1 / a + 1 / b) * f;
  const long double u = 1 / a, v = 1 / b, cubes = u * u * u + u * u * v + u * v * v + v * v * v;
  const long double f3 = -6 * f * cubes;
  const long double f5 = -120 * f * (u * u * cubes + v * v * v * v * (u + v));
  return d * (sum + integral + f / 2 - f1 / 12 + f3 / 720 - f5 / 30240);
}

}  // namespace

template <class T>
T digamma(T value) {
  const long double x = value;
  if (std::isnan(x)) return value;
  if (x > 0) {
    if (std::isinf(x)) return value;
    return static_cast<T>(std::fabs(x - kDigammaRoot) < 0.25L ? digamma_near_root(x)
                                                              : digamma_positive(x));
  }
  if (x == std::floor(x)) return kNan<T>;  // the poles, as XLA and JAX have them, and -inf
  // Reflection (DLMF 5.5.4), with the angle reduced first.
  const long double r = x - std::round(x);
  const long double angle = std::numbers::pi_v<long double> * r;
  return static_cast<T>(digamma_positive(1 - x) -
                        std::numbers::pi_v<long double> / std::tan(angle));
}

// Euler and Maclaurin (DLMF 25.11.5 with its sum of derivatives).
template <class T>
T hurwitz_zeta(T s_value, T q_value) {
  const long double s = s_value, q = q_value;
  if (std::isnan(s) || std::isnan(q)) return kNan<T>;
  if (s == 1) return kInfinity<T>;
  if (s < 1) return kNan<T>;
  if (std::isinf(s) && q > 0) return q > 1 ? T(0) : q == 1 ? T(1) : kInfinity<T>;
  if (q <= 0) {
    if (q == std::floor(q)) {
      const bool even = s == std::floor(s) && std::fmod(s, 2.0L) == 0;
      return even ? kInfinity<T> : kNan<T>;
    }
    if (s != std::floor(s)) return kNan<T>;
  }
  if (q < -1e6L) return kNan<T>;  // too many terms
  const int n = 24;
  long double sum = 0;
  long double a = q;
  for (int k = 0; k < n || a < n; ++k) {
    const long double term = std::pow(a, -s);
    sum += term;
    a = q + k + 1;
    if (a > 0 && std::fabs(term) < std::fabs(sum) * 1e-24L) return static_cast<T>(sum);
  }
  sum += std::pow(a, 1 - s) / (s - 1) + std::pow(a, -s) / 2;
  long double factor = s * std::pow(a, -s - 1);
  long double factorial = 2;
  for (int k = 1; k <= 12; ++k) {
    sum += kBernoulli[k - 1] * factor / factorial;
    factor *= (s + 2 * k - 1) * (s + 2 * k) / (a * a);
    factorial *= (2 * k + 1) * (2 * k + 2);
  }
  return static_cast<T>(sum);
}

// DLMF 5.15.1.
template <class T>
T polygamma(T n, T x) {
  if (std::isnan(n) || std::isnan(x) || n < 0 || n != std::floor(n)) return kNan<T>;
  if (n == 0) return digamma(x);
  const long double order = n;
  const long double size = std::exp(std::lgamma(order + 1)) *
                           hurwitz_zeta<long double>(order + 1, static_cast<long double>(x));
  return static_cast<T>(std::fmod(order, 2.0L) == 0 ? -size : size);
}

// The power series (DLMF 10.25.2), all of one sign, up to where the asymptotic one (DLMF 10.40.1)
// is exact to the last bit.
template <class T>
T bessel_i1e(T value) {
  const long double x = std::fabs(static_cast<long double>(value));
  if (std::isnan(x)) return value;
  long double result = 0;
  if (x < 50) {
    const long double half = x / 2;
    long double term = half;
    for (int k = 1; k < 400; ++k) {
      result += term;
      term *= half * half / (static_cast<long double>(k) * (k + 1));
      if (term < result * 1e-22L) break;
    }
    result *= std::exp(-x);
  } else if (!std::isinf(x)) {
    long double term = 1;
    for (int k = 1; k < 60; ++k) {
      result += term;
      const long double odd = 2 * k - 1;
      const long double next = -term * (4 - odd * odd) / (k * 8 * x);
      if (std::fabs(next) > std::fabs(term) || std::fabs(next) < 1e-22L) break;
      term = next;
    }
    result /= std::sqrt(2 * std::numbers::pi_v<long double> * x);
  }
  return static_cast<T>(std::copysign(result, static_cast<long double>(value)));
}

#define MILLRACE_SPECIAL(T)      \
  template T digamma(T);         \
  template T hurwitz_zeta(T, T); \
  template T polygamma(T, T);    \
  template T bessel_i1e(T);
MILLRACE_SPECIAL(double)
MILLRACE_SPECIAL(long double)
#undef MILLRACE_SPECIAL

}  // namespace millrace::devices::cpu::definition
