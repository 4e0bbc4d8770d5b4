#include "millrace/devices/stablehlo/expand/chlo_expansion.h"

#include <algorithm>
#include <iterator>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

#include "millrace/devices/stablehlo/expand/error_function.h"

namespace millrace::devices::stablehlo::expand {
namespace {

using K = ir::OpKind;
using X = Expression;

// exp(x) / 2 without the overflow of exp(x): what x is more than 709 is a factor of its own.
X half_exp(const X& x) { return exp(min(x, 709)) * 0.5 * exp(max(x, 709) - 709); }
X sinh(const X& x) {
  const X e = expm1(x);
  return select(abs(x) < 1, 0.5 * (e + e / (e + 1)), half_exp(x) - half_exp(-x));
}
X cosh(const X& x) { return half_exp(x) + half_exp(-x); }
X acos(const X& x) {
  const X root = sqrt((1 - x) * (1 + x));
  return select(equals(x, -1), std::numbers::pi, 2 * atan2(root, 1 + x));
}
X asin(const X& x) { return 2 * atan2(x, 1 + sqrt((1 - x) * (1 + x))); }
X atan(const X& x) { return atan2(x, 1); }
// log(2 x), for x whose square overflows.
X log_twice(const X& x) { return log(x) + std::numbers::ln2; }
X acosh(const X& x) {
  // Near one by what x is more.
  const X more = x - 1;
  const X root = sqrt((x + 1) * more);
  return select(x < 1, kNan, select(x >= 1e150, log_twice(x), log1p(more + root)));
}
X asinh(const X& x) {
  const X size = abs(x), square = x * x;
  const X small = log1p(size + square / (1 + sqrt(square + 1)));
  return sign(x) * select(size >= 1e150, log_twice(size), small);
}
X atanh(const X& x) { return 0.5 * (log1p(x) - log1p(-x)); }
X small_erf(const X& x) {
  const X z = x * x;
  return x * polynomial(error_function::kErfTop, z) / polynomial(error_function::kErfBottom, z);
}
X erfc(const X& x) {
  using namespace error_function;
  const X size = abs(x), z = -x * x, e = exp(z);
  const auto part = [&](std::span<const double> top, std::span<const double> bottom) {
    return e * polynomial(top, size) / polynomial(bottom, size);
  };
  const X parts = select(size < 8, part(kMiddleTop, kMiddleBottom), part(kTailTop, kTailBottom));
  const X ended = select(z < -kLargestExponent, 0, parts);
  const X tail = select(x < 0, 2 - ended, ended);
  return select(size < 1, 1 - small_erf(x), tail);
}
X erf(const X& x) {
  const X size = abs(x);
  return select(size < 1, small_erf(x), sign(x) * (1 - erfc(size)));
}
X erf_inv(const X& x) {
  using namespace error_function;
  const X w = -log1p(x * -x), root = sqrt(w);
  const X near = polynomial(kNear64, w - 3.125), middle = polynomial(kMiddle64, root - 3.25),
          far = polynomial(kFar64, root - 5);
  const X factor = select(w < 6.25, near, select(w < 16, middle, far));
  return x * select(equals(abs(x), 1), kInfinity, factor);
}

// Clenshaw's sum of half the last coefficient and the others times the polynomials of their order.
X chebyshev(std::span<const double> coefficients, const X& x) {
  const X twice = x + x;
  X b0 = X(0).like(x), b1 = b0, b2 = b0;
  for (const double c : coefficients) {
    b2 = b1;
    b1 = b0;
    b0 = twice * b1 - b2 + c;
  }
  return 0.5 * (b0 - b2);
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

// What is left of x when one is taken away `most` times at the most, as long as it is not less than
// `least`; each time `take` gets what is left and whether it has become less.
template <class Take>
X stepped_down(const X& x, double least, int most, Take take) {
  X left = x;
  for (int k = 0; k < most; ++k) {
    const X goes = left >= least, less = left - 1;
    take(goes, less);
    left = select(goes, less, left);
  }
  return left;
}

// x >= 0: by the series around 1 and 2, whose zeros are factors; below 1/2 as that of x + 1,
// from 3 on with the factors of gamma down to it, from 8 on by Stirling's series (DLMF 5.11.1).
X lgamma_positive(const X& x) {
  const X small = x < 0.5, logarithm = log(x);
  const X y = select(small, x, x - 1);
  const X around_one = y * chebyshev(kLgammaOne, y + y);
  const X near = select(small, around_one - logarithm, around_one);
  X factors = X(1).like(x);
  const X left = stepped_down(x, 3, 5, [&](const X& goes, const X& less) {
    factors = select(goes, factors * less, factors);
  });
  const X z = left - 2;
  const X around_two = log(factors) + z * chebyshev(kLgammaTwo, (z - 0.25) / 0.75);
  const X inverse = 1 / x;
  const X series = inverse * polynomial(kStirling, inverse * inverse);
  const X far = (x - 0.5) * (logarithm - 1) + (0.41893853320467274178 + series);
  return select(x < 1.5, near, select(x < 8, around_two, far));
}

// log |gamma(-x)| = log(pi / (x |sin(pi x)|)) - log gamma(x), for the smallest x, whose product
// with pi may have few bits, log gamma(x). Near the zeros of gamma's logarithm below 0 its error is
// one of the terms.
X lgamma(const X& x) {
  const X size = abs(x), value = lgamma_positive(size);
  const X part = size - floor(size);
  const X logs = log(sin(std::numbers::pi * min(part, 1 - part))) + log(size);
  const X other = 1.14472988584940017414 - logs - value;
  return select(equals(size, kInfinity), kInfinity, select(x < -1e-17, other, value));
}

// x > 0: that of x + 1 and a term below 1, from 2 to 10 with the terms down to 1, and then by
// its own series (DLMF 5.11.2).
X digamma_positive(const X& x) {
  const X inverse = 1 / x, small = x < 1;
  X terms = select(small, -inverse, 0);
  const X left = stepped_down(select(small, x + 1, x), 2, 8, [&](const X& goes, const X& less) {
    terms = terms + select(goes, 1 / less, 0);
  });
  const X distance = left - kDigammaZero - kDigammaZeroRest;
  const X near = distance * chebyshev(kDigamma, left + left - 3) + terms;
  const X square = inverse * inverse;
  const X far = log(x) - inverse * 0.5 - square * polynomial(kDigammaTail, square);
  return select(x < 10, near, far);
}

// digamma(x) = digamma(1 - x) - pi / tan(pi x).
X digamma(const X& x) {
  const X reflects = x < 0;
  const X value = digamma_positive(select(reflects, 1 - x, x));
  // From -1/2 to 1/2: the tangent repeats. From 1/4 on by the angle to its pole, where it is exact.
  const X near = x - floor(x + 0.5), size = abs(near), far = size > 0.25;
  const X angle = std::numbers::pi * select(far, 0.5 - size, size);
  const X sine = sin(angle), cosine = cos(angle);
  const X cotangent = select(far, sine, cosine) / select(far, cosine, sine);
  const X other = value - std::numbers::pi * (sign(near) * cotangent);
  const X pole = (x <= 0) & is_whole(x);
  return select(pole, kNan, select(reflects, other, value));
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
X bessel_series(const X& x) {
  constexpr int kTerms = 26;
  double coefficients[kTerms];
  double c = 0.5;
  for (int k = 0; k < kTerms; ++k) {
    coefficients[kTerms - 1 - k] = c;
    c /= (k + 1.0) * (k + 2.0);
  }
  return polynomial(coefficients, x * x * 0.25);
}

X bessel_i1e(const X& x) {
  const X size = abs(x);
  const X small = x * exp(-size) * bessel_series(min(size, 8));
  const X large = sign(x) * (chebyshev(kBesselLarge, 16 / max(size, 8) - 1) / sqrt(size));
  return select(size <= 8, small, large);
}

struct Unary {
  K kind;
  X (*make)(const X&);
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

constexpr double kMostOrder = 1e4;  // of a larger one nothing is left

// scale / (q + k)^s, where the power alone may be nothing. What q + k has lost by its rounding is
// made good, as the power has it s times.
X scaled_power(const X& s, const X& q, const X& k, const X& scale) {
  const X half_s = s * 0.5, sum = q + k, of_k = sum - q;
  const X lost = q - (sum - of_k) + (k - of_k);
  const X root = binary(K::kPower, abs(sum), -half_s);
  const X negative = differs(half_s, floor(half_s)) & (sum < 0);
  const X value = scale * root * root;
  const X more = 1 - min(s, kMostOrder) * lost / sum;
  return select(negative, -value, value) * more;
}

// Euler and Maclaurin (DLMF 25.11.5 with its sum of derivatives) from where q + k is at least 24.
// Times `scale`.
X scaled_zeta(const X& s, const X& q, const X& scale) {
  Builder& t = s.builder();
  const X enough = q >= -1e6, zero = X(0).like(q);
  const auto going = [&](const X& k) { return ((k < 24) | (q + k < 24)) & enough; };
  const auto any_goes = [&](const Expressions& c) {
    Numbers all(static_cast<std::size_t>(q.type().rank()));
    std::iota(all.begin(), all.end(), 0);
    return t.reduce(K::kOr, going(c[0]), all, t.module().types().tensor({}, DType::kI1));
  };
  const Expressions summed = t.loop({zero, zero}, any_goes, [&](const Expressions& c) {
    const X goes = going(c[0]), term = scaled_power(s, q, c[0], scale);
    return Expressions{c[0] + select(goes, 1, 0), c[1] + select(goes, term, 0)};
  });
  const X order = min(s, kMostOrder), a = q + summed[0];
  const X power = scaled_power(order, q, summed[0], scale);
  X value = summed[1] + a * power / (order - 1);
  value = value + power * 0.5;
  X factor = order * power / a;
  const X square = a * a;
  for (int k = 1; k <= static_cast<int>(std::size(kBernoulli)); ++k) {
    value = value + factor * kBernoulli[k - 1];
    factor = factor * ((order + (2 * k - 1)) * (order + 2 * k) / square);
  }
  value = select(equals(q, kInfinity), 0, value);
  const X pole = select(is_whole(s * 0.5), kInfinity, kNan);
  const X under = select(is_whole(q), pole, select(is_whole(s) & enough, value, kNan));
  value = select(equals(s, 1), kInfinity, select(s < 1, kNan, value));
  const X unordered = differs(s, s) | differs(q, q);
  return select(unordered, kNan, select((q <= 0) & (s > 1), under, value));
}

// n! for n up to 170, and infinity.
std::vector<double> factorials() {
  std::vector<double> all;
  long double product = 1;
  for (int n = 0; n <= 170; product *= ++n) all.push_back(static_cast<double>(product));
  return all;
}

}  // namespace

std::optional<X> real_function(K kind, const X& x) {
  const auto* found = std::ranges::find(kUnary, kind, &Unary::kind);
  if (found == std::end(kUnary)) return std::nullopt;
  return found->make(x);
}

X zeta(const X& s, const X& q) { return scaled_zeta(s, q, X(1).like(q)); }

// DLMF 5.15.1.
X polygamma(const X& n, const X& x) {
  const X factorial = select(n > 170, kInfinity, n.builder().look_up(factorials(), n));
  const X size = scaled_zeta(n + 1, x, factorial);
  const X made = select(is_whole(n * 0.5), -size, size);
  const X known = (n >= 0) & is_whole(n);
  return select(equals(n, 0), digamma(x), select(known, made, kNan));
}

}  // namespace millrace::devices::stablehlo::expand
