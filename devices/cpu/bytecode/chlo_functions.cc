#include "millrace/devices/cpu/bytecode/chlo_functions.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "millrace/devices/cpu/kernels/error_function.h"

namespace millrace::devices::cpu::bytecode {
namespace {

using K = ir::OpKind;
using V = Lines::V;

// exp(x) / 2 without the overflow of exp(x): what x is more than 709 is a factor of its own.
V half_exp(Lines& t, const V& x) {
  const V most = t.number(709);
  const V bounded = t.one("exponential", t.two("minimum", x, most)),
          rest = t.one("exponential", t.difference(t.two("maximum", x, most), most));
  return t.product(t.product(bounded, t.number(0.5)), rest);
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
  // Near one by what x is more.
  const V one = t.number(1), more = t.difference(x, one);
  const V root = t.one("sqrt", t.product(t.sum(x, one), more));
  const V made = t.select(t.compare("GE", x, t.number(1e150)), log_twice(t, x),
                          t.one("log_plus_one", t.sum(more, root)));
  return t.select(t.compare("LT", x, one), t.nan(), made);
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

// Chebyshev coefficients, the highest order first: of log gamma(1 + y) / y from -1/2 to 1/2, of
// log gamma(2 + y) / y from -1/2 to 1, and of digamma(x) by the distance of x from its zero, for x
// from 1 to 2. Computed with fifty digits from the functions' values at the 80 Chebyshev nodes.
constexpr double kLgammaOne[] = {
    -6.69867474095857043e-18, 2.58964185653841508e-17,  -1.00241881866403608e-16,
    3.88561464842830586e-16,  -1.50840711839686017e-15, 5.86514671522211981e-15,
    -2.28454959350908015e-14, 8.91562243276770792e-14,  -3.4866600398851611e-13,
    1.36666881005458575e-12,  -5.37050765379438062e-12, 2.11633866616069411e-11,
    -8.36590256774621868e-11, 3.31866985544504931e-10,  -1.32171357521661568e-9,
    5.28777809146361392e-9,   -2.1265109124786878e-8,   8.60382301676375328e-8,
    -3.50606905757611787e-7,  1.44106161802930535e-6,   -5.9860144980268197e-6,
    0.0000252011552995302758, -0.000107996445280994281, 0.000474440233872465779,
    -0.0021639890920917151,   0.0105139736902678112,    -0.0578574094499124435,
    0.44056755746789629,      -1.26602285255006202};
constexpr double kLgammaTwo[] = {
    3.80102189203195657e-18,  -2.32082527864051741e-17, 1.42031704174194529e-16,
    -8.71442750070461557e-16, 5.36208719118586662e-15,  -3.3099983265058285e-14,
    2.0507506001786822e-13,   -1.27593207074668668e-12, 7.97760750894476013e-12,
    -5.01689022552670412e-11, 3.17701940411265229e-10,  -2.02911743191915948e-9,
    1.30987061783703612e-8,   -8.57232441585347057e-8,  5.71260023878298785e-7,
    -3.90243206439517167e-6,  0.0000276194825876989036, -0.000206207082576848004,
    0.00167963510055045376,   -0.0160616113647256188,   0.224083513376969092,
    0.967255273196850318};
constexpr double kDigamma[] = {
    1.39170776947415407e-17,  -8.11148420346509003e-17, 4.72773617860191139e-16,
    -2.75554313774388131e-15, 1.60606463629507501e-14,  -9.36099313103643816e-14,
    5.45614757032279418e-13,  -3.18023536582553001e-12, 1.85373519205363789e-11,
    -1.08059302888326601e-10, 6.29971723610893091e-10,  -3.67329591856517904e-9,
    2.14250093223594737e-8,   -1.25028868135595955e-7,  7.30276927246592305e-7,
    -4.27210340299933221e-6,  0.0000250605434683591444, -0.000147734926506060433,
    0.000878865693782050533,  -0.00532007727159654744,  0.033368899023930109,
    -0.227064086334644397,    1.96714052088313398};
// Where digamma is zero, and what that is more.
constexpr double kDigammaZero = 1.4616321449683622, kDigammaZeroRest = 9.5499954299656977e-17;

// B_2k / (2k (2k - 1)) and B_2k / (2k) for k = 10 down to 1 (DLMF 24.2).
constexpr double kStirling[] = {-1.39243221690590112,     0.179644372368830573,
                                -0.0295506535947712418,   0.00641025641025641026,
                                -0.00191752691752691753,  0.000841750841750841751,
                                -0.000595238095238095238, 0.000793650793650793651,
                                -0.00277777777777777778,  0.0833333333333333333};
constexpr double kDigammaTail[] = {-26.4562121212121212,    3.05395433027011974,
                                   -0.443259803921568627,   0.0833333333333333333,
                                   -0.0210927960927960928,  0.00757575757575757576,
                                   -0.00416666666666666667, 0.00396825396825396825,
                                   -0.00833333333333333333, 0.0833333333333333333};
constexpr double kPi = 3.14159265358979323846;

// What is left of x when one is taken away `most` times at the most, as long as it is not less than
// `least`; each time `take` is told what is left and whether it has become less.
template <class Take>
V stepped_down(Lines& t, const V& x, double least, int most, Take take) {
  V left = x;
  for (int k = 0; k < most; ++k) {
    const V goes = t.compare("GE", left, t.number(least)), less = t.difference(left, t.number(1));
    take(goes, less);
    left = t.select(goes, less, left);
  }
  return left;
}

// Of x >= 0: by the series around 1 and 2, whose zeros are factors; below 1/2 as that of x + 1,
// from 3 on with the factors of gamma down to it, from 8 on by Stirling's series (DLMF 5.11.1).
V lgamma_positive(Lines& t, const V& x) {
  const V one = t.number(1), half = t.number(0.5), log = t.one("log", x);
  const V small = t.compare("LT", x, half);
  const V y = t.select(small, x, t.difference(x, one));
  const V around_one = t.product(y, chebyshev(t, kLgammaOne, t.sum(y, y)));
  const V near = t.select(small, t.difference(around_one, log), around_one);
  V factors = one;
  const V left = stepped_down(t, x, 3, 5, [&](const V& goes, const V& less) {
    factors = t.select(goes, t.product(factors, less), factors);
  });
  const V z = t.difference(left, t.number(2));
  const V place = t.quotient(t.difference(z, t.number(0.25)), t.number(0.75));
  const V around_two = t.sum(t.one("log", factors), t.product(z, chebyshev(t, kLgammaTwo, place)));
  const V inverse = t.quotient(one, x);
  const V series = t.product(inverse, t.polynomial(kStirling, t.product(inverse, inverse)));
  const V far = t.sum(t.product(t.difference(x, half), t.difference(log, one)),
                      t.sum(t.number(0.41893853320467274178), series));
  return t.select(t.compare("LT", x, t.number(1.5)), near,
                  t.select(t.compare("LT", x, t.number(8)), around_two, far));
}

// log |gamma(-x)| = log(pi / (x |sin(pi x)|)) - log gamma(x), for the smallest x, whose product
// with pi may have few bits, log gamma(x). Near the zeros of gamma's logarithm below 0 its error is
// one of the terms.
V lgamma(Lines& t, const V& x) {
  const V size = t.one("abs", x), value = lgamma_positive(t, size);
  const V part = t.difference(size, t.one("floor", size));
  const V near = t.two("minimum", part, t.difference(t.number(1), part));
  const V logs =
      t.sum(t.one("log", t.one("sine", t.product(t.number(kPi), near))), t.one("log", size));
  const V other = t.difference(t.difference(t.number(1.14472988584940017414), logs), value);
  const V infinite = t.compare("EQ", size, t.infinity());
  const V reflects = t.compare("LT", x, t.number(-1e-17));
  return t.select(infinite, t.infinity(), t.select(reflects, other, value));
}

// Of x > 0: that of x + 1 and a term below 1, from 2 to 10 with the terms down to 1, and then by
// its own series (DLMF 5.11.2).
V digamma_positive(Lines& t, const V& x) {
  const V one = t.number(1), zero = t.number(0), inverse = t.quotient(one, x);
  const V small = t.compare("LT", x, one);
  V terms = t.select(small, t.one("negate", inverse), zero);
  const V left =
      stepped_down(t, t.select(small, t.sum(x, one), x), 2, 8, [&](const V& goes, const V& less) {
        terms = t.sum(terms, t.select(goes, t.quotient(one, less), zero));
      });
  const V place = t.difference(t.sum(left, left), t.number(3));
  const V distance =
      t.difference(t.difference(left, t.number(kDigammaZero)), t.number(kDigammaZeroRest));
  const V near = t.sum(t.product(distance, chebyshev(t, kDigamma, place)), terms);
  const V square = t.product(inverse, inverse);
  const V series = t.product(square, t.polynomial(kDigammaTail, square));
  const V far =
      t.difference(t.difference(t.one("log", x), t.product(inverse, t.number(0.5))), series);
  return t.select(t.compare("LT", x, t.number(10)), near, far);
}

// digamma(x) = digamma(1 - x) - pi / tan(pi x).
V digamma(Lines& t, const V& x) {
  const V reflects = t.compare("LT", x, t.number(0));
  const V value = digamma_positive(t, t.select(reflects, t.difference(t.number(1), x), x));
  // From -1/2 to 1/2: the tangent repeats. From 1/4 on by the angle to its pole, where it is exact.
  const V half = t.number(0.5), near = t.difference(x, t.one("floor", t.sum(x, half)));
  const V size = t.one("abs", near), far = t.compare("GT", size, t.number(0.25));
  const V angle = t.product(t.number(kPi), t.select(far, t.difference(half, size), size));
  const V sine = t.one("sine", angle), cosine = t.one("cosine", angle);
  const V cotangent = t.quotient(t.select(far, sine, cosine), t.select(far, cosine, sine));
  const V other =
      t.difference(value, t.product(t.number(kPi), t.product(t.one("sign", near), cotangent)));
  const V pole =
      t.two("and", t.compare("LE", x, t.number(0)), t.compare("EQ", x, t.one("floor", x)), "i1");
  return t.select(pole, t.nan(), t.select(reflects, other, value));
}

// Chebyshev coefficients, the highest order first, of exp(-x) I_1(x) sqrt(x) from 8 on, over 16 / x
// - 1: computed with forty digits from the function's values at the 80 Chebyshev nodes.
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

// I_1(x) / x in powers of x^2 / 4, all of one sign (DLMF 10.25.2), for x up to 8.
V bessel_series(Lines& t, const V& x) {
  constexpr int kTerms = 26;
  double coefficients[kTerms];
  double c = 0.5;
  for (int k = 0; k < kTerms; ++k) {
    coefficients[kTerms - 1 - k] = c;
    c /= (k + 1.0) * (k + 2.0);
  }
  return t.polynomial(coefficients, t.product(t.product(x, x), t.number(0.25)));
}

V bessel_i1e(Lines& t, const V& x) {
  const V size = t.one("abs", x), eight = t.number(8), one = t.number(1);
  const V decay = t.one("exponential", t.one("negate", size));
  const V small = t.product(t.product(x, decay), bessel_series(t, t.two("minimum", size, eight)));
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

namespace {

constexpr double kMostOrder = 1e4;  // of a larger one nothing is left

// scale / (q + k)^s, where the power alone may be nothing. What q + k has lost by its rounding is
// made good, as the power has it s times.
V scaled_power(Lines& t, const V& s, const V& q, const V& k, const V& scale) {
  const V zero = t.number(0), one = t.number(1), half_s = t.product(s, t.number(0.5));
  const V sum = t.sum(q, k), of_k = t.difference(sum, q);
  const V lost = t.sum(t.difference(q, t.difference(sum, of_k)), t.difference(k, of_k));
  const V root = t.two("power", t.one("abs", sum), t.one("negate", half_s));
  const V odd = t.compare("NE", half_s, t.one("floor", half_s));
  const V negative = t.two("and", odd, t.compare("LT", sum, zero), "i1");
  const V value = t.product(t.product(scale, root), root);
  const V bounded = t.two("minimum", s, t.number(kMostOrder));
  const V more = t.difference(one, t.quotient(t.product(bounded, lost), sum));
  return t.product(t.select(negative, t.one("negate", value), value), more);
}

// Euler and Maclaurin (DLMF 25.11.5 with its sum of derivatives) from where q + k is at least 24.
// Times `scale`.
V scaled_zeta(Lines& t, const V& s, const V& q, const V& scale) {
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
        const V term = scaled_power(t, s, q, c[0], scale);
        return std::vector<V>{t.sum(c[0], t.select(goes, one, zero)),
                              t.sum(c[1], t.select(goes, term, zero))};
      });
  const V order = t.two("minimum", s, t.number(kMostOrder)), a = t.sum(q, summed[0]);
  const V power = scaled_power(t, order, q, summed[0], scale);
  V value = t.sum(summed[1], t.quotient(t.product(a, power), t.difference(order, one)));
  value = t.sum(value, t.product(power, t.number(0.5)));
  V factor = t.quotient(t.product(order, power), a);
  const V square = t.product(a, a);
  for (int k = 1; k <= static_cast<int>(std::size(kBernoulli)); ++k) {
    value = t.sum(value, t.product(factor, t.number(kBernoulli[k - 1])));
    const V next = t.product(t.sum(order, t.number(2 * k - 1)), t.sum(order, t.number(2 * k)));
    factor = t.product(factor, t.quotient(next, square));
  }
  value = t.select(t.compare("EQ", q, t.infinity()), zero, value);
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

// n! for n up to 170, and infinity.
std::vector<double> factorials() {
  std::vector<double> all;
  long double product = 1;
  for (int n = 0; n <= 170; product *= ++n) all.push_back(static_cast<double>(product));
  return all;
}

}  // namespace

V zeta(Lines& t, const V& s, const V& q) { return scaled_zeta(t, s, q, t.number(1)); }

// DLMF 5.15.1.
V polygamma(Lines& t, const V& n, const V& x) {
  const V one = t.number(1), order = t.sum(n, one), half = t.product(n, t.number(0.5));
  const V factorial =
      t.select(t.compare("GT", n, t.number(170)), t.infinity(), t.look_up(factorials(), n));
  const V size = scaled_zeta(t, order, x, factorial);
  const V even = t.compare("EQ", half, t.one("floor", half));
  const V made = t.select(even, t.one("negate", size), size);
  const V known =
      t.two("and", t.compare("GE", n, t.number(0)), t.compare("EQ", n, t.one("floor", n)), "i1");
  return t.select(t.compare("EQ", n, t.number(0)), digamma(t, x), t.select(known, made, t.nan()));
}

}  // namespace millrace::devices::cpu::bytecode
