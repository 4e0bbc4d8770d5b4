// Hyperbolic functions of complex numbers by their parts, and the inverse ones by W. Kahan, "Branch
// cuts for complex elementary functions" (1987), whose signs of zeros hold on the cuts.
#include "millrace/devices/cpu/bytecode/chlo_functions.h"

namespace millrace::devices::cpu::bytecode {
namespace {

using K = ir::OpKind;
using V = Lines::V;
using Z = ComplexLines;

V real(K kind, Lines& t, const V& x) { return *real_function(kind, t, x); }
V minus(Lines& t, const V& x) { return t.one("negate", x); }
Z times_i(Lines& t, const Z& z) { return {minus(t, z.im), z.re}; }
Z over_i(Lines& t, const Z& z) { return {z.im, minus(t, z.re)}; }

// A zero stays one, whatever it is multiplied by.
V zero_or(Lines& t, const V& a, const V& b) {
  const V zero = t.number(0), product = t.product(a, b);
  const V either = t.two("or", t.compare("EQ", a, zero), t.compare("EQ", b, zero), "i1");
  return t.select(either, t.product(t.one("sign", a), t.one("sign", b)), product);
}
Z sinh(Lines& t, const Z& z) {
  return {zero_or(t, real(K::kChloSinh, t, z.re), t.one("cosine", z.im)),
          zero_or(t, real(K::kChloCosh, t, z.re), t.one("sine", z.im))};
}
Z cosh(Lines& t, const Z& z) {
  return {zero_or(t, real(K::kChloCosh, t, z.re), t.one("cosine", z.im)),
          zero_or(t, real(K::kChloSinh, t, z.re), t.one("sine", z.im))};
}

Z root(Lines& t, const V& re, const V& im) {
  const std::string parts = t.type("f64"), whole = t.type("complex<f64>");
  const V z = t.add("stablehlo.complex " + re + ", " + im + " : (" + parts + ", " + parts +
                    ") -> " + whole);
  const V made = t.add("stablehlo.sqrt " + z + " : " + whole);
  const auto part = [&](const char* name) {
    return t.add("stablehlo." + std::string(name) + " " + made + " : (" + whole + ") -> " + parts);
  };
  const V left = part("real");
  return {left, part("imag")};
}
// Large numbers in the place of infinities, of which differences would be none.
Z bounded(Lines& t, const Z& z) {
  const V least = t.number(-1e300), most = t.number(1e300);
  const auto clamp = [&](const V& x) { return t.two("maximum", least, t.two("minimum", x, most)); };
  const V re = clamp(z.re);
  return {re, clamp(z.im)};
}
// The logarithm that grows with z: infinite with it.
V grown(Lines& t, const Z& z, const V& value) {
  const V end = t.infinity();
  const V infinite = t.two("or", t.compare("EQ", t.one("abs", z.re), end),
                           t.compare("EQ", t.one("abs", z.im), end), "i1");
  return t.select(infinite, t.product(t.one("sign", value), end), value);
}
// a.re b.im - a.im b.re.
V cross(Lines& t, const Z& a, const Z& b) {
  return t.difference(t.product(a.re, b.im), t.product(a.im, b.re));
}

struct Roots {
  Z minus, plus;  // of 1 - z and of 1 + z
};
Roots roots(Lines& t, const Z& z) {
  const V one = t.number(1);
  const Z a = root(t, t.difference(one, z.re), minus(t, z.im));
  return {a, root(t, t.sum(one, z.re), z.im)};
}
Z acos(Lines& t, const Z& z) {
  const Roots r = roots(t, bounded(t, z));
  const V re = t.product(t.number(2), t.two("atan2", r.minus.re, r.plus.re));
  return {re, grown(t, z, real(K::kChloAsinh, t, cross(t, r.plus, r.minus)))};
}
Z asin(Lines& t, const Z& z) {
  const Z b = bounded(t, z);
  const Roots r = roots(t, b);
  const V beside = t.difference(t.product(r.minus.re, r.plus.re), t.product(r.minus.im, r.plus.im));
  const V re = t.two("atan2", b.re, beside);
  return {re, grown(t, z, real(K::kChloAsinh, t, cross(t, r.minus, r.plus)))};
}
Z asinh(Lines& t, const Z& z) { return over_i(t, asin(t, times_i(t, z))); }
Z acosh(Lines& t, const Z& z) {
  const Z b = bounded(t, z);
  const V one = t.number(1);
  const Z p = root(t, t.difference(b.re, one), b.im), q = root(t, t.sum(b.re, one), b.im);
  const V along = t.sum(t.product(p.re, q.re), t.product(p.im, q.im));
  return {grown(t, z, real(K::kChloAsinh, t, along)),
          t.product(t.number(2), t.two("atan2", p.im, q.re))};
}

// log1p(4 x / ((1 - x)^2 + y^2)) / 4 for the real part; it is x / (x^2 + y^2) where squares would
// overflow.
Z atanh(Lines& t, const Z& z) {
  const Z b = bounded(t, z);
  const V one = t.number(1), size = t.one("abs", b.re), less = t.difference(one, size);
  const V squares = t.sum(t.product(less, less), t.product(b.im, b.im));
  const V near = t.product(
      t.number(0.25), t.one("log_plus_one", t.quotient(t.product(t.number(4), size), squares)));
  const V largest = t.two("maximum", size, t.one("abs", b.im));
  const V u = t.quotient(size, largest), v = t.quotient(b.im, largest);
  const V far = t.quotient(t.quotient(u, largest), t.sum(t.product(u, u), t.product(v, v)));
  const V value = t.select(t.compare("GT", largest, t.number(1e100)), far, near);
  const V beside = t.difference(t.product(less, t.sum(one, size)), t.product(b.im, b.im));
  return {t.product(t.one("sign", b.re), value),
          t.product(t.number(0.5), t.two("atan2", t.product(t.number(2), b.im), beside))};
}
Z atan(Lines& t, const Z& z) { return over_i(t, atanh(t, times_i(t, z))); }

}  // namespace

std::optional<Z> complex_function(K kind, Lines& t, const Z& z) {
  switch (kind) {
    case K::kChloSinh:
      return sinh(t, z);
    case K::kChloCosh:
      return cosh(t, z);
    case K::kChloAcos:
      return acos(t, z);
    case K::kChloAsin:
      return asin(t, z);
    case K::kChloAtan:
      return atan(t, z);
    case K::kChloAcosh:
      return acosh(t, z);
    case K::kChloAsinh:
      return asinh(t, z);
    case K::kChloAtanh:
      return atanh(t, z);
    default:
      return std::nullopt;
  }
}

}  // namespace millrace::devices::cpu::bytecode
