// Hyperbolic functions of complex numbers by their parts, and the inverse ones by W. Kahan, "Branch
// cuts for complex elementary functions" (1987), whose signs of zeros hold on the cuts.
#include <algorithm>
#include <iterator>

#include "millrace/devices/stablehlo/expand/chlo_expansion.h"

namespace millrace::devices::stablehlo::expand {
namespace {

using K = ir::OpKind;
using X = Expression;
using Z = ComplexExpression;

X real(K kind, const X& x) { return *real_function(kind, x); }
Z times_i(const Z& z) { return {-z.im, z.re}; }
Z over_i(const Z& z) { return {z.im, -z.re}; }

// A zero stays one, whatever it is multiplied by.
X zero_or(const X& a, const X& b) {
  return select(equals(a, 0) | equals(b, 0), sign(a) * sign(b), a * b);
}
Z sinh(const Z& z) {
  return {zero_or(real(K::kChloSinh, z.re), cos(z.im)),
          zero_or(real(K::kChloCosh, z.re), sin(z.im))};
}
Z cosh(const Z& z) {
  return {zero_or(real(K::kChloCosh, z.re), cos(z.im)),
          zero_or(real(K::kChloSinh, z.re), sin(z.im))};
}

Z root(const X& re, const X& im) {
  Builder& t = re.builder();
  const ir::Type whole = t.like(re.type(), DType::kC128);
  const X made = sqrt(t.make(K::kComplex, {re, im}, whole));
  return {t.make(K::kReal, {made}, re.type()), t.make(K::kImag, {made}, re.type())};
}
// Large numbers in the place of infinities, of which differences would be none.
Z bounded(const Z& z) {
  const auto clamp = [](const X& x) { return max(-1e300, min(x, 1e300)); };
  return {clamp(z.re), clamp(z.im)};
}
// The logarithm that grows with z: infinite with it.
X grown(const Z& z, const X& value) {
  const X infinite = equals(abs(z.re), kInfinity) | equals(abs(z.im), kInfinity);
  return select(infinite, sign(value) * kInfinity, value);
}
// a.re b.im - a.im b.re.
X cross(const Z& a, const Z& b) { return a.re * b.im - a.im * b.re; }

struct Roots {
  Z minus, plus;  // of 1 - z and of 1 + z
};
Roots roots(const Z& z) { return {root(1 - z.re, -z.im), root(1 + z.re, z.im)}; }
Z acos(const Z& z) {
  const Roots r = roots(bounded(z));
  return {2 * atan2(r.minus.re, r.plus.re), grown(z, real(K::kChloAsinh, cross(r.plus, r.minus)))};
}
Z asin(const Z& z) {
  const Z b = bounded(z);
  const Roots r = roots(b);
  const X beside = r.minus.re * r.plus.re - r.minus.im * r.plus.im;
  return {atan2(b.re, beside), grown(z, real(K::kChloAsinh, cross(r.minus, r.plus)))};
}
Z asinh(const Z& z) { return over_i(asin(times_i(z))); }
Z acosh(const Z& z) {
  const Z b = bounded(z);
  const Z p = root(b.re - 1, b.im), q = root(b.re + 1, b.im);
  const X along = p.re * q.re + p.im * q.im;
  return {grown(z, real(K::kChloAsinh, along)), 2 * atan2(p.im, q.re)};
}

// log1p(4 x / ((1 - x)^2 + y^2)) / 4 for the real part; it is x / (x^2 + y^2) where squares would
// overflow.
Z atanh(const Z& z) {
  const Z b = bounded(z);
  const X size = abs(b.re), less = 1 - size;
  const X near = 0.25 * log1p(4 * size / (less * less + b.im * b.im));
  const X largest = max(size, abs(b.im));
  const X u = size / largest, v = b.im / largest;
  const X far = u / largest / (u * u + v * v);
  const X value = select(largest > 1e100, far, near);
  const X beside = less * (1 + size) - b.im * b.im;
  return {sign(b.re) * value, 0.5 * atan2(2 * b.im, beside)};
}
Z atan(const Z& z) { return over_i(atanh(times_i(z))); }

struct Row {
  K kind;
  Z (*make)(const Z&);
};
constexpr Row kRows[] = {{K::kChloSinh, sinh},   {K::kChloCosh, cosh},  {K::kChloAcos, acos},
                         {K::kChloAsin, asin},   {K::kChloAtan, atan},  {K::kChloAcosh, acosh},
                         {K::kChloAsinh, asinh}, {K::kChloAtanh, atanh}};

}  // namespace

std::optional<Z> complex_function(K kind, const Z& z) {
  const auto* found = std::ranges::find(kRows, kind, &Row::kind);
  if (found == std::end(kRows)) return std::nullopt;
  return found->make(z);
}

}  // namespace millrace::devices::stablehlo::expand
