// How far from the CPU device's own kernels the decompositions of chlo operations in portable
// artifacts are, in f64: a few units in the last place, also where terms cancel, and the same where
// a result is no number or infinite.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "millrace/devices/cpu/bytecode/read_bytecode.h"
#include "millrace/devices/cpu/bytecode/write_bytecode.h"
#include "tests/devices/cpu/reference/reference_support.h"

namespace millrace::devices::cpu::bytecode {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Numbers = std::vector<double>;

testing::Array array_of(const Numbers& x) {
  testing::Array a{Shape(DType::kF64, {static_cast<std::int64_t>(x.size())}), {}};
  a.bytes.resize(x.size() * sizeof(double));
  std::memcpy(a.bytes.data(), x.data(), a.bytes.size());
  return a;
}

// What the operation gives of these by the kernel, and as its artifact has it.
struct Both {
  Numbers kernel, artifact;
};
Both both_of(const std::string& name, const std::vector<Numbers>& in) {
  const std::string type = "tensor<" + std::to_string(in[0].size()) + "xf64>";
  const bool two = in.size() == 2;
  const std::string text = "func.func @main(%x: " + type + (two ? ", %y: " + type : "") + ") -> " +
                           type + " {\n%0 = chlo." + name + " %x" + (two ? ", %y" : "") + " : " +
                           type + (two ? ", " + type : "") + " -> " + type +
                           "\nreturn %0 : " + type + "\n}\n";
  const auto module = read::read_text(text).value();
  const auto again = read_bytecode(write_bytecode(module).value()).value();
  std::vector<testing::Array> arrays;
  for (const Numbers& x : in) arrays.push_back(array_of(x));
  const auto numbers_of = [&](const ir::Module& m) {
    const auto made = testing::interpret(m, *m.find("main"), arrays).value();
    Numbers x(in[0].size());
    std::memcpy(x.data(), made[0].bytes.data(), made[0].bytes.size());
    return x;
  };
  return {numbers_of(module), numbers_of(again)};
}

double ulps(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  if (!std::isfinite(got) || !std::isfinite(want)) return kInfinity;
  const double size = std::fabs(want);
  return std::fabs(got - want) / (std::nextafter(size, kInfinity) - size);
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

// Without the negative zeros of log gamma and digamma.
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
}  // namespace millrace::devices::cpu::bytecode
