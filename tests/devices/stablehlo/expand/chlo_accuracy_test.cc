// How far from the CPU device's own kernels the decompositions of chlo operations in portable
// artifacts are: a few units in the last place, also where terms cancel, and the same where a
// result is no number or infinite. Only the zeros of log gamma and digamma below 0, each between
// two poles, have errors of a few units of the terms that cancel there; in f32, which is computed
// in f64, none.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "millrace/devices/stablehlo/bytecode/read_bytecode.h"
#include "millrace/devices/stablehlo/bytecode/write_bytecode.h"
#include "tests/devices/cpu/definition/definition_support.h"

namespace millrace::devices::stablehlo::expand {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Numbers = std::vector<double>;

template <class T>
cpu::testing::Array array_of(const Numbers& x) {
  const std::vector<T> rounded(x.begin(), x.end());
  constexpr DType kType = sizeof(T) == 8 ? DType::kF64 : DType::kF32;
  cpu::testing::Array a{Shape(kType, {static_cast<std::int64_t>(x.size())}), {}};
  a.bytes.resize(x.size() * sizeof(T));
  std::memcpy(a.bytes.data(), rounded.data(), a.bytes.size());
  return a;
}

// What the operation gives of these by the kernel, and as its artifact has it.
struct Both {
  Numbers kernel, artifact;
};
template <class T = double>
Both both_of(const std::string& name, const std::vector<Numbers>& in) {
  const std::string type =
      "tensor<" + std::to_string(in[0].size()) + (sizeof(T) == 8 ? "xf64>" : "xf32>");
  const bool two = in.size() == 2;
  const std::string text = "func.func @main(%x: " + type + (two ? ", %y: " + type : "") + ") -> " +
                           type + " {\n%0 = chlo." + name + " %x" + (two ? ", %y" : "") + " : " +
                           type + (two ? ", " + type : "") + " -> " + type +
                           "\nreturn %0 : " + type + "\n}\n";
  const auto module = text::read_text(text).value();
  const auto again = bytecode::read_bytecode(bytecode::write_bytecode(module).value()).value();
  std::vector<cpu::testing::Array> arrays;
  for (const Numbers& x : in) arrays.push_back(array_of<T>(x));
  const auto numbers_of = [&](const ir::Module& m) {
    const auto made = cpu::testing::interpret(m, *m.find("main"), arrays).value();
    std::vector<T> x(in[0].size());
    std::memcpy(x.data(), made[0].bytes.data(), made[0].bytes.size());
    return Numbers(x.begin(), x.end());
  };
  return {numbers_of(module), numbers_of(again)};
}

// Units in the last place of want, or of a number that is larger.
template <class T = double>
double ulps(double got, double want, double larger = 0) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  if (!std::isfinite(got) || !std::isfinite(want)) return kInfinity;
  const T size = static_cast<T>(std::max(std::fabs(want), larger));
  return std::fabs(got - want) /
         static_cast<double>(std::nextafter(size, static_cast<T>(kInfinity)) - size);
}

void expect_close(const std::string& name, const std::vector<Numbers>& in, double most) {
  const Both both = both_of(name, in);
  for (std::size_t i = 0; i < in[0].size(); ++i) {
    ASSERT_LE(ulps(both.artifact[i], both.kernel[i]), most)
        << name << "(" << in[0][i] << (in.size() > 1 ? ", " + std::to_string(in[1][i]) : "")
        << ") = " << both.artifact[i] << ", not " << both.kernel[i];
  }
}

Numbers some(std::mt19937_64& random, double low, double high, bool whole = false) {
  Numbers x(2000);
  for (double& v : x) {
    v = low + (high - low) * std::ldexp(static_cast<double>(random() >> 11), -53);
    if (whole) v = std::round(v);
  }
  return x;
}

TEST(ChloAccuracy, FunctionsOfOneNumberAreWithinAFewUlp) {
  struct Range {
    const char* name;
    double low, high;
  };
  std::mt19937_64 random(3);
  for (const Range& r : {Range{"acos", -1, 1},
                         Range{"acosh", 1, 50},
                         Range{"acosh", 1, 1.0001},
                         Range{"asin", -1, 1},
                         Range{"asinh", -1, 1},
                         Range{"asinh", -50, 50},
                         Range{"atan", -50, 50},
                         Range{"atanh", -1, 1},
                         Range{"atanh", -1e-3, 1e-3},
                         Range{"cosh", -710.4, 710.4},
                         Range{"cosh", -2, 2},
                         Range{"sinh", -710.4, 710.4},
                         Range{"sinh", -2, 2},
                         Range{"erf", -3, 3},
                         Range{"erfc", -3, 26},
                         Range{"erf_inv", -1, 1},
                         Range{"lgamma", 1e-8, 0.5},
                         Range{"lgamma", 0.5, 1.5},
                         Range{"lgamma", 0.9999, 1.0001},
                         Range{"lgamma", 1.5, 3},
                         Range{"lgamma", 1.9999, 2.0001},
                         Range{"lgamma", 3, 100},
                         Range{"lgamma", 100, 1e6},
                         Range{"lgamma", -0.9, -0.1},
                         Range{"digamma", 1e-3, 1},
                         Range{"digamma", 1, 2},
                         Range{"digamma", 1.461, 1.462},
                         Range{"digamma", 2, 100},
                         Range{"bessel_i1e", -8, 8},
                         Range{"bessel_i1e", 8, 1000},
                         Range{"tan", -3, 3}}) {
    expect_close(r.name, {some(random, r.low, r.high)}, 8);
  }
}

// Both end in a difference of two numbers, of which the first is about this.
double term_below_zero(const std::string& name, double x) {
  return 1 + (name == "lgamma" ? std::fabs(std::lgamma(1 - x)) : std::log(1 - x));
}

TEST(ChloAccuracy, BelowZeroGammasLogarithmAndItsDerivativeAreWithinAFewUlpOfTheirTerms) {
  std::mt19937_64 random(9);
  for (const std::string name : {"lgamma", "digamma"}) {
    for (const auto& [low, high] :
         {std::pair(-1.0, -1e-8), std::pair(-2.0, -1.0), std::pair(-3.0, -2.0),
          std::pair(-8.0, -3.0), std::pair(-40.0, -8.0), std::pair(-1e6, -40.0)}) {
      const Numbers x = some(random, low, high);
      const Both wide = both_of(name, {x}), narrow = both_of<float>(name, {x});
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_LE(ulps(wide.artifact[i], wide.kernel[i], term_below_zero(name, x[i])), 8)
            << name << "(" << x[i] << ") = " << wide.artifact[i] << ", not " << wide.kernel[i];
        ASSERT_LE(ulps<float>(narrow.artifact[i], narrow.kernel[i]), 1)
            << name << "(" << static_cast<float>(x[i]) << ") = " << narrow.artifact[i] << ", not "
            << narrow.kernel[i];
      }
    }
  }
}

TEST(ChloAccuracy, PolesBelowZeroAreWhereTheyAreAndFallOffBesideThem) {
  Numbers poles, beside;
  for (double n = 0; n >= -200; --n) {
    poles.push_back(n);
    for (const double to : {-kInfinity, kInfinity}) {
      double x = n;
      for (int step = 0; step < 3; ++step) beside.push_back(x = std::nextafter(x, to));
    }
  }
  for (const double n : {-1e6, -1e15, -9007199254740992.0, -1e300}) poles.push_back(n);
  const Both logs = both_of("lgamma", {poles}), derivatives = both_of("digamma", {poles});
  for (std::size_t i = 0; i < poles.size(); ++i) {
    EXPECT_EQ(logs.artifact[i], kInfinity) << poles[i];
    EXPECT_TRUE(std::isnan(derivatives.artifact[i])) << poles[i];
    EXPECT_TRUE(std::isnan(derivatives.kernel[i])) << poles[i];
  }
  for (const std::string name : {"lgamma", "digamma"}) {
    const Both both = both_of(name, {beside});
    for (std::size_t i = 0; i < beside.size(); ++i) {
      EXPECT_LE(ulps(both.artifact[i], both.kernel[i], term_below_zero(name, beside[i])), 8)
          << name << "(" << beside[i] << ") = " << both.artifact[i] << ", not " << both.kernel[i];
    }
  }
}

TEST(ChloAccuracy, FunctionsOfTwoNumbersAreWithinAFewUlp) {
  std::mt19937_64 random(5);
  expect_close("zeta", {some(random, 1.1, 20), some(random, 0.1, 30)}, 8);
  expect_close("zeta", {some(random, 20, 150), some(random, 0.5, 30)}, 8);
  expect_close("polygamma", {some(random, 0, 8, true), some(random, 0.1, 20)}, 8);
  expect_close("polygamma", {some(random, 20, 60, true), some(random, 0.5, 20)}, 8);
  // The power alone is nothing, the factorial alone nearly infinite.
  expect_close("polygamma", {some(random, 60, 165, true), some(random, 1, 200)}, 10);
}

TEST(ChloAccuracy, WhatIsNoNumberOrInfiniteIsTheSame) {
  const Numbers x = {0.0,    -0.0,   1,   -1,   2,   -2,  3,         8,          10,  1e300,
                     -1e300, 5e-324, 0.5, -0.5, 710, 711, kInfinity, -kInfinity, kNan};
  for (const char* name : {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "erf",
                           "erfc", "erf_inv", "lgamma", "digamma", "bessel_i1e"})
    expect_close(name, {x}, 8);
  expect_close("zeta",
               {{1, 2, 0.5, kNan, 2, kInfinity, 3, 2, 2, 300, 2.5},
                {2, kInfinity, 2, 1, kNan, 2, -1, -1.5, 0, 2, -0.5}},
               8);
  expect_close("polygamma", {{0, 1, 2, 1.5, -1, kNan, 3, 2, 1}, {1, 0, 0, 2, 2, 1, -1, -2, -1.5}},
               8);
}

}  // namespace
}  // namespace millrace::devices::stablehlo::expand
