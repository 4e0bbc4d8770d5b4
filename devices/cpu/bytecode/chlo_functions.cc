#include "millrace/devices/cpu/bytecode/chlo_functions.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "millrace/devices/cpu/kernels/error_function.h"

namespace millrace::devices::cpu::bytecode {
namespace {

using K = ir::OpKind;
using V = Lines::V;

// exp(x) / 2 without the overflow of exp(x).
V half_exp(Lines& t, const V& x) {
  return t.one("exponential", t.sum(x, t.number(-0.69314718055994530942)));
}
V sinh(Lines& t, const V& x) {
  const V e = t.one("exponential_minus_one", x);
  const V small = t.product(t.number(0.5), t.sum(e, t.quotient(e, t.sum(e, t.number(1)))));
  const V large = t.difference(half_exp(t, x), half_exp(t, t.one("negate", x)));
  return t.select(t.compare("LT", t.one("abs", x), t.number(1)), small, large);
}
V cosh(Lines& t, const V& x) { return t.sum(half_exp(t, x), half_exp(t, t.one("negate", x))); }
V acos(Lines& t, const V& x) {
  const V one = t.number(1);
  const V root = t.one("sqrt", t.product(t.difference(one, x), t.sum(one, x)));
  const V twice = t.product(t.number(2), t.two("atan2", root, t.sum(one, x)));
  return t.select(t.compare("EQ", x, t.number(-1)), t.number(3.14159265358979323846), twice);
}
V asin(Lines& t, const V& x) {
  const V one = t.number(1);
  const V root = t.one("sqrt", t.product(t.difference(one, x), t.sum(one, x)));
  return t.product(t.number(2), t.two("atan2", x, t.sum(one, root)));
}
V atan(Lines& t, const V& x) { return t.two("atan2", x, t.number(1)); }
// log(2 x), for x whose square overflows.
V log_twice(Lines& t, const V& x) {
  return t.sum(t.one("log", x), t.number(0.69314718055994530942));
}
V acosh(Lines& t, const V& x) {
  const V one = t.number(1);
  const V root = t.one("sqrt", t.product(t.sum(x, one), t.difference(x, one)));
  return t.select(t.compare("GE", x, t.number(1e150)), log_twice(t, x),
                  t.one("log", t.sum(x, root)));
}
V asinh(Lines& t, const V& x) {
  const V size = t.one("abs", x), square = t.product(x, x), one = t.number(1);
  const V root = t.one("sqrt", t.sum(square, one));
  const V small = t.one("log_plus_one", t.sum(size, t.quotient(square, t.sum(one, root))));
  const V value = t.select(t.compare("GE", size, t.number(1e150)), log_twice(t, size), small);
  return t.product(t.one("sign", x), value);
}
V atanh(Lines& t, const V& x) {
  return t.product(t.number(0.5), t.difference(t.one("log_plus_one", x),
                                               t.one("log_plus_one", t.one("negate", x))));
}
V small_erf(Lines& t, const V& x) {
  const V z = t.product(x, x);
  return t.quotient(t.product(x, t.polynomial(error_function::kErfTop, z)),
                    t.polynomial(error_function::kErfBottom, z));
}
V erfc(Lines& t, const V& x) {
  using namespace error_function;
  const V size = t.one("abs", x), zero = t.number(0);
  const V z = t.product(t.one("negate", x), x);
  const V e = t.one("exponential", z);
  const auto part = [&](std::span<const double> top, std::span<const double> bottom) {
    return t.quotient(t.product(e, t.polynomial(top, size)), t.polynomial(bottom, size));
  };
  const V parts = t.select(t.compare("LT", size, t.number(8)), part(kMiddleTop, kMiddleBottom),
                           part(kTailTop, kTailBottom));
  const V ended = t.select(t.compare("LT", z, t.number(-kLargestExponent)), zero, parts);
  const V tail = t.select(t.compare("LT", x, zero), t.difference(t.number(2), ended), ended);
  return t.select(t.compare("LT", size, t.number(1)), t.difference(t.number(1), small_erf(t, x)),
                  tail);
}
V erf(Lines& t, const V& x) {
  const V size = t.one("abs", x);
  const V tail = t.product(t.one("sign", x), t.difference(t.number(1), erfc(t, size)));
  return t.select(t.compare("LT", size, t.number(1)), small_erf(t, x), tail);
}
V erf_inv(Lines& t, const V& x) {
  using namespace error_function;
  const V w = t.one("negate", t.one("log_plus_one", t.product(x, t.one("negate", x))));
  const V root = t.one("sqrt", w);
  const V near = t.polynomial(kNear64, t.difference(w, t.number(3.125))),
          middle = t.polynomial(kMiddle64, t.difference(root, t.number(3.25))),
          far = t.polynomial(kFar64, t.difference(root, t.number(5)));
  const V factor = t.select(t.compare("LT", w, t.number(6.25)), near,
                            t.select(t.compare("LT", w, t.number(16)), middle, far));
  const V end = t.compare("EQ", t.one("abs", x), t.number(1));
  return t.product(x, t.select(end, t.infinity(), factor));
}

// Lanczos' approximation with g = 7 and nine coefficients (as Godfrey computed them): gamma(z + 1)
// is sqrt(2 pi) (z + 7.5)^(z + 0.5) exp(-z - 7.5) times a sum.
constexpr double kLanczos[] = {0.99999999999980993227684700473478,
                               676.520368121885098567009190444019,
                               -1259.13921672240287047156078755283,
                               771.3234287776530788486528258894,
                               -176.61502916214059906584551354,
                               12.507343278686904814458936853,
                               -0.13857109526572011689554707,
                               9.984369578019570859563e-6,
                               1.50563273514931155834e-7};
struct Lanczos {
  V reflects, z, shifted, sum, slope;  // slope: of the sum
};
// By x itself from a half on; below that of 1 - x, to be reflected.
Lanczos lanczos(Lines& t, const V& x) {
  Lanczos made;
  made.reflects = t.compare("LT", x, t.number(0.5));
  made.z = t.select(made.reflects, t.one("negate", x), t.difference(x, t.number(1)));
  made.shifted = t.sum(made.z, t.number(7.5));
  made.sum = t.number(kLanczos[0]);
  made.slope = t.number(0);
  for (int k = 1; k < static_cast<int>(std::size(kLanczos)); ++k) {
    const V under = t.sum(made.z, t.number(k)), term = t.quotient(t.number(kLanczos[k]), under);
    made.sum = t.sum(made.sum, term);
    made.slope = t.difference(made.slope, t.quotient(term, under));
  }
  return made;
}
constexpr double kPi = 3.14159265358979323846;

// log |gamma(x)| = log(pi / |sin(pi x)|) - log gamma(1 - x).
V lgamma(Lines& t, const V& x) {
  const Lanczos l = lanczos(t, x);
  const V scale = t.product(t.sum(l.z, t.number(0.5)), t.one("log", l.shifted));
  const V value = t.sum(t.sum(t.number(0.91893853320467274178), t.difference(scale, l.shifted)),
                        t.one("log", l.sum));
  const V size = t.one("abs", x), part = t.difference(size, t.one("floor", size));
  const V near = t.two("minimum", part, t.difference(t.number(1), part));
  const V sine = t.one("log", t.one("sine", t.product(t.number(kPi), near)));
  const V other = t.difference(t.difference(t.number(1.14472988584940017414), sine), value);
  const V infinite = t.compare("EQ", size, t.infinity());
  return t.select(infinite, t.infinity(), t.select(l.reflects, other, value));
}

// digamma(x) = digamma(1 - x) - pi / tan(pi x).
V digamma(Lines& t, const V& x) {
  const Lanczos l = lanczos(t, x);
  const V value = t.difference(t.sum(t.one("log", l.shifted), t.quotient(l.slope, l.sum)),
                               t.quotient(t.number(7), l.shifted));
  // From -1/2 to 1/2: the tangent repeats.
  const V near = t.difference(x, t.one("floor", t.sum(x, t.number(0.5))));
  const V angle = t.product(t.number(kPi), near);
  const V other = t.difference(
      value, t.quotient(t.product(t.number(kPi), t.one("cosine", angle)), t.one("sine", angle)));
  const V pole =
      t.two("and", t.compare("LE", x, t.number(0)), t.compare("EQ", x, t.one("floor", x)), "i1");
  return t.select(pole, t.nan(), t.select(l.reflects, other, value));
}

// Chebyshev coefficients, the highest order first, of exp(-x) I_1(x) / x from 0 to 8, over x / 4 -
// 1, and of exp(-x) I_1(x) sqrt(x) from 8 on, over 16 / x - 1: computed with forty digits from the
// functions' values at the 80 Chebyshev nodes.
constexpr double kBesselSmall[] = {
    -3.54158177254213621e-19,  2.77791411276104637e-18,  -2.11142121435816608e-17,
    1.55363195773620047e-16,   -1.10559694773538631e-15, 7.60068429473540693e-15,
    -5.04218550472791169e-14,  3.22379336594557471e-13,  -1.98397439776494372e-12,
    1.17361862988909016e-11,   -6.66348972350202774e-11, 3.62559028155211704e-10,
    -1.88724975172282929e-9,   9.38153738649577178e-9,   -4.44505912879632808e-8,
    2.00329475355213526e-7,    -8.56872026469545474e-7,  3.47025130813767848e-6,
    -0.0000132731636560394358, 0.0000478156510755005423, -0.000161760815825896746,
    0.000512285956168575773,   -0.00151357245063125315,  0.00415642294431288816,
    -0.0105640848946261982,    0.0247264490306265168,    -0.0529459812080949914,
    0.102643658689847095,      -0.176416518357834055,    0.252587186443633655};
constexpr double kBesselLarge[] = {
    -9.31417886732688338e-19, 7.51729631084210481e-18,  4.41434832307170795e-18,
    -4.65030536848935833e-17, -3.20952592199342396e-17, 2.96262899764595014e-16,
    3.30820231092092828e-16,  -1.88035477551078245e-15, -3.8144030724370078e-15,
    1.04202769841288028e-14,  4.27244001671195135e-14,  -2.10154184277266431e-14,
    -4.08355111109219732e-13, -7.19855177624590851e-13, 2.03562854414708951e-12,
    1.41258074366137813e-11,  3.25260358301548824e-11,  -1.89749581235054123e-11,
    -5.58974346219658381e-10, -3.83538038596423702e-9,  -2.63146884688951951e-8,
    -2.51223623787020893e-7,  -3.88256480887769039e-6,  -0.000110588938762623716,
    -0.00976109749136146841,  0.77857623501828012};

// Clenshaw's sum of half the last coefficient and the others times the polynomials of their order.
V chebyshev(Lines& t, std::span<const double> coefficients, const V& x) {
  const V twice = t.sum(x, x);
  V b0 = t.number(0), b1 = b0, b2 = b0;
  for (const double c : coefficients) {
    b2 = b1;
    b1 = b0;
    b0 = t.sum(t.difference(t.product(twice, b1), b2), t.number(c));
  }
  return t.product(t.number(0.5), t.difference(b0, b2));
}

V bessel_i1e(Lines& t, const V& x) {
  const V size = t.one("abs", x), eight = t.number(8), one = t.number(1);
  const V near = t.difference(t.product(size, t.number(0.25)), one);
  const V small = t.product(x, chebyshev(t, kBesselSmall, near));
  const V far = t.difference(t.quotient(t.number(16), t.two("maximum", size, eight)), one);
  const V large =
      t.product(t.one("sign", x), t.quotient(chebyshev(t, kBesselLarge, far), t.one("sqrt", size)));
  return t.select(t.compare("LE", size, eight), small, large);
}

struct Unary {
  K kind;
  V (*make)(Lines&, const V&);
};
constexpr Unary kUnary[] = {
    {K::kChloSinh, sinh},       {K::kChloCosh, cosh},           {K::kChloAcos, acos},
    {K::kChloAsin, asin},       {K::kChloAtan, atan},           {K::kChloAcosh, acosh},
    {K::kChloAsinh, asinh},     {K::kChloAtanh, atanh},         {K::kChloErf, erf},
    {K::kChloErfc, erfc},       {K::kChloErfInv, erf_inv},      {K::kChloLgamma, lgamma},
    {K::kChloDigamma, digamma}, {K::kChloBesselI1e, bessel_i1e}};

// B_2k / (2k)! for k = 1 to 12 (DLMF 24.2).
constexpr double kBernoulli[] = {
    8.3333333333333333e-2,   -1.3888888888888889e-3,  3.3068783068783069e-5,
    -8.2671957671957672e-7,  2.0876756987868099e-8,   -5.2841901386874932e-10,
    1.3382536530684679e-11,  -3.3896802963225829e-13, 8.5860620562778446e-15,
    -2.1748686985580619e-16, 5.5090028283602295e-18,  -1.3954464685812523e-19};

}  // namespace

std::optional<V> real_function(K kind, Lines& t, const V& x) {
  const auto* found = std::ranges::find(kUnary, kind, &Unary::kind);
  if (found == std::end(kUnary)) return std::nullopt;
  return found->make(t, x);
}

// Euler and Maclaurin (DLMF 25.11.5 with its sum of derivatives) from where q + k is at least 24.
V zeta(Lines& t, const V& s, const V& q) {
  const V zero = t.number(0), one = t.number(1), enough = t.number(24), most = t.number(-1e6);
  const auto going = [&](const V& k) {
    const V few =
        t.two("or", t.compare("LT", k, enough), t.compare("LT", t.sum(q, k), enough), "i1");
    return t.two("and", few, t.compare("GE", q, most), "i1");
  };
  const auto summed = t.repeat(
      {zero, zero}, [&](const std::vector<V>& c) { return going(c[0]); },
      [&](const std::vector<V>& c) {
        const V goes = going(c[0]);
        const V term = t.two("power", t.sum(q, c[0]), t.one("negate", s));
        return std::vector<V>{t.sum(c[0], t.select(goes, one, zero)),
                              t.sum(c[1], t.select(goes, term, zero))};
      });
  // Of a larger s nothing is left.
  const V order = t.two("minimum", s, t.number(1e4)), a = t.sum(q, summed[0]);
  const V power = t.two("power", a, t.one("negate", order));
  V value = t.sum(summed[1], t.quotient(t.product(a, power), t.difference(order, one)));
  value = t.sum(value, t.product(power, t.number(0.5)));
  V factor = t.quotient(t.product(order, power), a);
  const V square = t.product(a, a);
  for (int k = 1; k <= static_cast<int>(std::size(kBernoulli)); ++k) {
    value = t.sum(value, t.product(factor, t.number(kBernoulli[k - 1])));
    const V next = t.product(t.sum(order, t.number(2 * k - 1)), t.sum(order, t.number(2 * k)));
    factor = t.product(factor, t.quotient(next, square));
  }
  const auto whole = [&](const V& x) { return t.compare("EQ", x, t.one("floor", x)); };
  const V even = whole(t.product(s, t.number(0.5))), below = t.compare("LE", q, zero);
  const V pole = t.select(even, t.infinity(), t.nan());
  value = t.select(t.compare("EQ", s, one), t.infinity(),
                   t.select(t.compare("LT", s, one), t.nan(), value));
  const V under =
      t.select(whole(q), pole,
               t.select(t.two("and", whole(s), t.compare("GE", q, most), "i1"), value, t.nan()));
  const V unordered = t.two("or", t.compare("NE", s, s), t.compare("NE", q, q), "i1");
  const V above = t.compare("GT", s, one);
  return t.select(unordered, t.nan(), t.select(t.two("and", below, above, "i1"), under, value));
}

// DLMF 5.15.1.
V polygamma(Lines& t, const V& n, const V& x) {
  const V one = t.number(1), order = t.sum(n, one), half = t.product(n, t.number(0.5));
  const V size = t.product(t.one("exponential", lgamma(t, order)), zeta(t, order, x));
  const V even = t.compare("EQ", half, t.one("floor", half));
  const V made = t.select(even, t.one("negate", size), size);
  const V known =
      t.two("and", t.compare("GE", n, t.number(0)), t.compare("EQ", n, t.one("floor", n)), "i1");
  return t.select(t.compare("EQ", n, t.number(0)), digamma(t, x), t.select(known, made, t.nan()));
}

}  // namespace millrace::devices::cpu::bytecode
