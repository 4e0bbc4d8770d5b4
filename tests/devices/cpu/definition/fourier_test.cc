// Transforms of every kind of length against their definition, and what an inverse makes of them.
#include "millrace/devices/cpu/kernels/fourier/fourier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace millrace::devices::cpu::definition {
namespace {

using Numbers = std::vector<ComplexNumber>;

Numbers made_up(std::int64_t n) {
  std::minstd_rand random(static_cast<unsigned>(n));
  std::uniform_real_distribution<double> between(-1, 1);
  Numbers x(static_cast<std::size_t>(n));
  for (ComplexNumber& v : x) v = {between(random), between(random)};
  return x;
}

Numbers by_definition(const Numbers& x) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<long double> cosines, sines;
  for (std::int64_t k = 0; k < n; ++k) {
    const long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) /
                              static_cast<long double>(n);
    cosines.push_back(std::cos(angle));
    sines.push_back(std::sin(angle));
  }
  Numbers result;
  for (std::int64_t k = 0; k < n; ++k) {
    long double re = 0, im = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto turn = static_cast<std::size_t>(i * k % n), at = static_cast<std::size_t>(i);
      re += x[at].re * cosines[turn] - x[at].im * sines[turn];
      im += x[at].re * sines[turn] + x[at].im * cosines[turn];
    }
    result.push_back({static_cast<double>(re), static_cast<double>(im)});
  }
  return result;
}

Numbers transformed(Numbers x) {
  const FourierTransform transform(static_cast<std::int64_t>(x.size()));
  Numbers memory(static_cast<std::size_t>(transform.memory_elements()));
  transform.run(x, memory);
  return x;
}

double worst_difference(const Numbers& a, const Numbers& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    worst = std::max({worst, std::fabs(a[i].re - b[i].re), std::fabs(a[i].im - b[i].im)});
  return worst;
}

void check(std::int64_t n) {
  const Numbers x = made_up(n);
  // Sums of n numbers below 2, of which each is off by a few units in the last place of a double.
  EXPECT_LT(worst_difference(transformed(x), by_definition(x)), 1e-14 * static_cast<double>(n + 10))
      << "length " << n;
}

TEST(FourierTest, EveryShortLengthIsWhatItsDefinitionSays) {
  for (std::int64_t n = 1; n <= 150; ++n) check(n);
}

TEST(FourierTest, LongLengthsOfAllKindsOfFactorsAreWhatTheirDefinitionSays) {
  // Powers, products of small primes, 31 squared (the largest factor of its own), a prime, 37 * 16.
  for (const std::int64_t n : {1024, 729, 1000, 720, 840, 1001, 961, 1009, 592}) check(n);
}

TEST(FourierTest, RealNumbersHaveTheResultsOfComplexOnesWithoutImaginaryParts) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 30, 62, 74, 96, 101, 1000, 1024}) {
    Numbers x = made_up(n);
    for (ComplexNumber& v : x) v.im = 0;
    Numbers want = by_definition(x), given;
    want.resize(static_cast<std::size_t>(n / 2 + 1));
    const RealFourierTransform transform(n);
    ASSERT_EQ(transform.takes_pairs(), n % 2 == 0);
    const std::size_t step = transform.takes_pairs() ? 2 : 1;
    for (std::size_t i = 0; i < x.size(); i += step)
      given.push_back({x[i].re, step == 2 ? x[i + 1].re : 0});
    Numbers results(want.size()), memory(static_cast<std::size_t>(transform.memory_elements()));
    transform.run(given, results, memory);
    EXPECT_LT(worst_difference(results, want), 1e-14 * static_cast<double>(n + 10))
        << "length " << n;
  }
}

}  // namespace
}  // namespace millrace::devices::cpu::definition
