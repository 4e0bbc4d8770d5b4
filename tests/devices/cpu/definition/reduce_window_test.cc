// reduce_window where padding would show: with initial values that are no identity of the body. The
// body is not applied there, as in XLA, from whose CPU client the expected values are; by the
// interpreter and by the planner's kernels.
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/devices/cpu/definition/value_rows.h"

namespace millrace::devices::cpu::testing {
namespace {

// A window over [10, 20, 30] from 1 on.
struct Case {
  const char* name;
  const char* attributes;
  int results;
  const char* integers;  // the results, for add
};

constexpr Case kCases[] = {
    {"PaddedOnBothSides", "window_dimensions = array<i64: 3>, padding = dense<1> : tensor<1x2xi64>",
     3, "31, 61, 51"},
    {"BaseDilation",
     "window_dimensions = array<i64: 3>, base_dilations = array<i64: 2>, padding = dense<1> : "
     "tensor<1x2xi64>",
     5, "11, 31, 21, 51, 31"},
    {"WindowDilationAndStride",
     "window_dimensions = array<i64: 2>, window_dilations = array<i64: 2>, window_strides = "
     "array<i64: 2>, padding = dense<[[1, 2]]> : tensor<1x2xi64>",
     2, "21, 21"},
    {"NothingButPadding",
     "window_dimensions = array<i64: 2>, padding = dense<[[3, 0]]> : tensor<1x2xi64>", 5,
     "1, 1, 11, 31, 51"},
    {"Cumulative", "window_dimensions = array<i64: 3>, padding = dense<[[2, 0]]> : tensor<1x2xi64>",
     3, "11, 31, 61"},
    {"CumulativeFromTheEnd",
     "window_dimensions = array<i64: 3>, padding = dense<[[0, 2]]> : tensor<1x2xi64>", 3,
     "61, 51, 31"},
};

// As constants of the type have it: "1, 2" as "(1, 0), (2, 0)" of complex numbers.
std::string constants(const std::string& integers, const std::string& element) {
  if (!element.starts_with("complex")) return integers;
  std::string text;
  for (const char c : integers) {
    if (c != ' ' && c != ',' && (text.empty() || text.back() == ' ')) text += '(';
    if (c == ',') text += ", 0)";
    text += c;
  }
  return text + ", 0)";
}

TEST(ReduceWindowTest, BodyIsNotAppliedToPaddingAndHoles) {
  for (const char* element : {"f32", "f64", "bf16", "i32", "ui8", "complex<f32>"}) {
    const std::string e = element;
    const bool is_integer = e == "i32" || e == "ui8";
    const auto of = [&](const std::string& integers) {
      std::string text = constants(integers, e);
      if (is_integer) return text;
      std::string real;
      for (std::size_t i = 0; i < text.size(); ++i) {
        real += text[i];
        const bool digit = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
        if (digit &&
            (i + 1 == text.size() || std::isdigit(static_cast<unsigned char>(text[i + 1])) == 0))
          real += ".0";
      }
      return real;
    };
    for (const Case& c : kCases) {
      SCOPED_TRACE(e);
      const std::string type = "tensor<" + std::to_string(c.results) + "x" + e + ">";
      const std::string scalar = "tensor<" + e + ">",
                        body = "%a = stablehlo.constant dense<[" + of("10, 20, 30") +
                               "]> : tensor<3x" + e + ">\n" + "%z = stablehlo.constant dense<" +
                               of("1") + "> : " + scalar + "\n" +
                               "%r = \"stablehlo.reduce_window\"(%a, %z) <{" + c.attributes +
                               "}> ({\n^bb0(%x: " + scalar + ", %y: " + scalar +
                               "):\n%s = stablehlo.add %x, %y : " + scalar +
                               "\nstablehlo.return %s : " + scalar + "}) : (tensor<3x" + e + ">, " +
                               scalar + ") -> " + type;
      const std::string expected = "[" + of(c.integers) + "]";
      check({c.name, type.c_str(), body.c_str(), expected.c_str()});
    }
  }
}

constexpr Row kRows[] = {
    {"ABodyWhoseOrderShows", "tensor<3xf32>",
     "%a = stablehlo.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>\n"
     "%z = stablehlo.constant dense<1.0> : tensor<f32>\n"
     "%r = \"stablehlo.reduce_window\"(%a, %z) <{window_dimensions = array<i64: 3>, padding = "
     "dense<1> : tensor<1x2xi64>}> ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     "%t = stablehlo.add %x, %x : tensor<f32>\n%s = stablehlo.add %t, %y : tensor<f32>\n"
     "stablehlo.return %s : tensor<f32>}) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>",
     "[44.0, 118.0, 74.0]"},
    {"MaximumWithAFloor", "tensor<4xf32>",
     "%a = stablehlo.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>\n"
     "%z = stablehlo.constant dense<15.0> : tensor<f32>\n"
     "%r = \"stablehlo.reduce_window\"(%a, %z) <{window_dimensions = array<i64: 2>, padding = "
     "dense<[[2, 0]]> : tensor<1x2xi64>}> ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     "%s = stablehlo.maximum %x, %y : tensor<f32>\n"
     "stablehlo.return %s : tensor<f32>}) : (tensor<3xf32>, tensor<f32>) -> tensor<4xf32>",
     "[15.0, 15.0, 20.0, 30.0]"},
    {"TwoArraysAtOnce", "tensor<6xi32>",
     "%a = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>\n"
     "%b = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>\n"
     "%y = stablehlo.constant dense<1> : tensor<i32>\n"
     "%z = stablehlo.constant dense<2> : tensor<i32>\n"
     "%p:2 = \"stablehlo.reduce_window\"(%a, %b, %y, %z) <{window_dimensions = array<i64: 3>, "
     "padding = dense<1> : tensor<1x2xi64>}> ({\n"
     "^bb0(%c: tensor<i32>, %d: tensor<i32>, %e: tensor<i32>, %f: tensor<i32>):\n"
     "%s = stablehlo.add %c, %e : tensor<i32>\n%t = stablehlo.multiply %d, %f : tensor<i32>\n"
     "stablehlo.return %s, %t : tensor<i32>, tensor<i32>}) : (tensor<3xi32>, tensor<3xi32>, "
     "tensor<i32>, tensor<i32>) -> (tensor<3xi32>, tensor<3xi32>)\n"
     "%r = stablehlo.concatenate %p#0, %p#1, dim = 0 : (tensor<3xi32>, tensor<3xi32>) -> "
     "tensor<6xi32>",
     "[31, 61, 51, 4, 12, 12]"},
    {"QuantisedNumbers", "tensor<3xf32>",
     "%a = stablehlo.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>\n"
     "%z = stablehlo.constant dense<1.0> : tensor<f32>\n"
     "%q = stablehlo.uniform_quantize %a : (tensor<3xf32>) -> "
     "tensor<3x!quant.uniform<i8:f32, 1.0>>\n"
     "%i = stablehlo.uniform_quantize %z : (tensor<f32>) -> tensor<!quant.uniform<i8:f32, 1.0>>\n"
     "%w = \"stablehlo.reduce_window\"(%q, %i) <{window_dimensions = array<i64: 3>, padding = "
     "dense<1> : tensor<1x2xi64>}> ({\n^bb0(%x: tensor<!quant.uniform<i8:f32, 1.0>>, %y: "
     "tensor<!quant.uniform<i8:f32, 1.0>>):\n"
     "%s = stablehlo.add %x, %y : tensor<!quant.uniform<i8:f32, 1.0>>\n"
     "stablehlo.return %s : tensor<!quant.uniform<i8:f32, 1.0>>}) : "
     "(tensor<3x!quant.uniform<i8:f32, 1.0>>, tensor<!quant.uniform<i8:f32, 1.0>>) -> "
     "tensor<3x!quant.uniform<i8:f32, 1.0>>\n"
     "%r = stablehlo.uniform_dequantize %w : (tensor<3x!quant.uniform<i8:f32, 1.0>>) -> "
     "tensor<3xf32>",
     "[31.0, 61.0, 51.0]"},
};
TEST(ReduceWindowTest, OtherBodiesAndTypesAreNotAppliedEither) { check_all(kRows); }

// Any window over 64 columns and more, so that a row has more than one batch of results.
struct RandomWindow {
  std::string attributes, from, to;
  bool empty = false;
};
RandomWindow random_window(std::mt19937& random) {
  const auto below = [&](int n) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  };
  std::string size, stride, base, dilation, padding;
  RandomWindow w;
  const std::int64_t dims[] = {1 + below(4), 1 + below(100)};
  for (const std::int64_t n : dims) {
    const std::int64_t k = 1 + below(3), s = 1 + below(3), b = 1 + below(3), d = 1 + below(2),
                       low = below(5) - 1, high = below(5) - 1;
    const std::int64_t whole = (n - 1) * b + 1 + low + high, reach = (k - 1) * d + 1;
    w.empty = w.empty || whole < reach;
    const auto add = [](std::string& text, const std::string& number) {
      text += (text.empty() ? "" : ", ") + number;
    };
    add(size, std::to_string(k));
    add(stride, std::to_string(s));
    add(base, std::to_string(b));
    add(dilation, std::to_string(d));
    add(padding, "[" + std::to_string(low) + ", " + std::to_string(high) + "]");
    w.from += std::to_string(n) + "x";
    w.to += std::to_string(w.empty ? 0 : (whole - reach) / s + 1) + "x";
  }
  w.attributes =
      "window_dimensions = array<i64: " + size + ">, window_strides = array<i64: " + stride +
      ">, base_dilations = array<i64: " + base + ">, window_dilations = array<i64: " + dilation +
      ">, padding = dense<[" + padding + "]> : tensor<2x2xi64>";
  return w;
}

TEST(ReduceWindowTest, KernelsMakeWhatTheDefinitionSays) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const RandomWindow w = random_window(random);
    if (w.empty) continue;
    const std::string from = "tensor<" + w.from + "i32>", to = "tensor<" + w.to + "i32>";
    const std::string text =
        "func.func @main(%a: " + from + ") -> " + to +
        " {\n%z = stablehlo.constant dense<7> : tensor<i32>\n"
        "%r = \"stablehlo.reduce_window\"(%a, %z) <{" +
        w.attributes +
        "}> ({\n^bb0(%x: tensor<i32>, %y: tensor<i32>):\n%t = stablehlo.add %x, %x : tensor<i32>\n"
        "%s = stablehlo.add %t, %y : tensor<i32>\nstablehlo.return %s : tensor<i32>}) : (" +
        from + ", tensor<i32>) -> " + to + "\nreturn %r : " + to + "\n}\n";
    const auto module = stablehlo::text::read_text(text);
    ASSERT_TRUE(module.has_value()) << module.error().to_string();
    const Shape shape = *module->functions().front().inputs().front().shape();
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(shape.elements()));
    for (std::int32_t& n : numbers) n = static_cast<std::int32_t>(random() % 100);
    Array input{shape, std::vector<std::byte>(shape.size_bytes())};
    std::memcpy(input.bytes.data(), numbers.data(), input.bytes.size());
    const auto want = interpreted(*module, "main", {input});
    ASSERT_TRUE(want.has_value()) << want.error().to_string();
    const auto got = planned(*module, "main", {input});
    ASSERT_TRUE(got.has_value()) << got.error().to_string();
    ASSERT_EQ(difference(*got, *want), "") << "seed " << seed << "\n" << text;
  }
}

// What JAX 0.10.2 writes of jax.lax.cumlogsumexp on complex64[2]. The initial value is -inf, with
// which the body makes a NaN of itself.
constexpr const char* kCumulativeLogSumExp = R"(
func.func public @main(%arg0: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %cst = stablehlo.constant dense<(0xFF800000,0.000000e+00)> : tensor<complex<f32>>
  %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1>, padding = dense<[[1, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 2>, window_strides = array<i64: 1>}> ({
  ^bb0(%arg1: tensor<complex<f32>>, %arg2: tensor<complex<f32>>):
    %1 = stablehlo.real %arg1 : (tensor<complex<f32>>) -> tensor<f32>
    %2 = stablehlo.real %arg2 : (tensor<complex<f32>>) -> tensor<f32>
    %3 = stablehlo.compare EQ, %1, %2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = stablehlo.compare GT, %1, %2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %5 = stablehlo.imag %arg1 : (tensor<complex<f32>>) -> tensor<f32>
    %6 = stablehlo.imag %arg2 : (tensor<complex<f32>>) -> tensor<f32>
    %7 = stablehlo.compare GT, %5, %6, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = stablehlo.select %3, %7, %4 : tensor<i1>, tensor<i1>
    %9 = stablehlo.select %8, %arg1, %arg2 : tensor<i1>, tensor<complex<f32>>
    %10 = stablehlo.add %arg1, %arg2 : tensor<complex<f32>>
    %cst_0 = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %11 = stablehlo.multiply %9, %cst_0 : tensor<complex<f32>>
    %12 = stablehlo.subtract %10, %11 : tensor<complex<f32>>
    %13 = stablehlo.exponential %12 : tensor<complex<f32>>
    %14 = stablehlo.log_plus_one %13 : tensor<complex<f32>>
    %15 = stablehlo.add %9, %14 : tensor<complex<f32>>
    %16 = stablehlo.real %15 : (tensor<complex<f32>>) -> tensor<f32>
    %17 = stablehlo.imag %15 : (tensor<complex<f32>>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<3.14159274> : tensor<f32>
    %18 = stablehlo.add %17, %cst_1 : tensor<f32>
    %cst_2 = stablehlo.constant dense<6.28318548> : tensor<f32>
    %19 = stablehlo.remainder %18, %cst_2 : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.compare LT, %19, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<6.28318548> : tensor<f32>
    %21 = stablehlo.add %19, %cst_4 : tensor<f32>
    %22 = stablehlo.select %20, %21, %19 : tensor<i1>, tensor<f32>
    %cst_5 = stablehlo.constant dense<3.14159274> : tensor<f32>
    %23 = stablehlo.subtract %22, %cst_5 : tensor<f32>
    %24 = stablehlo.complex %16, %23 : tensor<complex<f32>>
    stablehlo.return %24 : tensor<complex<f32>>
  }) : (tensor<2xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
)";

TEST(ReduceWindowTest, CumulativeLogSumExpOfComplexNumbersIsThatOfJax) {
  const auto module = stablehlo::text::read_text(kCumulativeLogSumExp);
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  const float given[] = {0, 0, 1, 1}, want[] = {0, 0, 1.2135701F, 0.74728847F};
  Array input{Shape(DType::kC64, {2}), std::vector<std::byte>(sizeof given)};
  std::memcpy(input.bytes.data(), given, sizeof given);
  for (const auto& made :
       {interpreted(*module, "main", {input}), planned(*module, "main", {input})}) {
    ASSERT_TRUE(made.has_value()) << made.error().to_string();
    float got[4];
    ASSERT_EQ(made->front().bytes.size(), sizeof got);
    std::memcpy(got, made->front().bytes.data(), sizeof got);
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(got[i], want[i], 1e-6) << i;
  }
}

}  // namespace
}  // namespace millrace::devices::cpu::testing
