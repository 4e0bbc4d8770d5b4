#include "millrace/devices/stablehlo/expand/error_function.h"

#include <cmath>
#include <limits>
#include <span>

namespace millrace::devices::stablehlo::expand {

using namespace error_function;

namespace {

// The highest power first.
template <class T>
T polynomial(std::span<const T> coefficients, T x) {
  T sum = 0;
  for (const T c : coefficients) sum = sum * x + c;
  return sum;
}

constexpr float kNear[] = {2.81022636e-08F,  3.43273939e-07F, -3.5233877e-06F,
                           -4.39150654e-06F, 0.00021858087F,  -0.00125372503F,
                           -0.00417768164F,  0.246640727F,    1.50140941F};
constexpr float kFar[] = {-0.000200214257F, 0.000100950558F, 0.00134934322F,
                          -0.00367342844F,  0.00573950773F,  -0.0076224613F,
                          0.00943887047F,   1.00167406F,     2.83297682F};
template <class T>
T ended(T x, T factor) {
  return std::fabs(x) == 1 ? x * std::numeric_limits<T>::infinity() : factor * x;
}

}  // namespace

double chlo_erfc(double x) {
  const double size = std::fabs(x);
  if (size < 1) {
    const double z = x * x;
    return 1 - x * polynomial<double>(kErfTop, z) / polynomial<double>(kErfBottom, z);
  }
  const double z = -x * x;
  const double top = size < 8 ? polynomial<double>(kMiddleTop, size)
                              : polynomial<double>(kTailTop, size),
               bottom = size < 8 ? polynomial<double>(kMiddleBottom, size)
                                 : polynomial<double>(kTailBottom, size);
  const double y = z < -kLargestExponent ? 0 : std::exp(z) * top / bottom;
  return x < 0 ? 2 - y : y;
}

float chlo_erf_inv(float x) {
  const float w = -std::log1p(x * -x);
  return ended(
      x, w < 5 ? polynomial<float>(kNear, w - 2.5F) : polynomial<float>(kFar, std::sqrt(w) - 3));
}

double chlo_erf_inv(double x) {
  const double w = -std::log1p(x * -x);
  if (w < 6.25) return ended(x, polynomial<double>(kNear64, w - 3.125));
  if (w < 16) return ended(x, polynomial<double>(kMiddle64, std::sqrt(w) - 3.25));
  return ended(x, polynomial<double>(kFar64, std::sqrt(w) - 5));
}

}  // namespace millrace::devices::stablehlo::expand
