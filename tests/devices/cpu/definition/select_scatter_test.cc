// select_and_scatter by the planner's kernels, on one thread and on several, against the
// definition: any window, comparison and element type, to the bit.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/devices/cpu/definition/value_rows.h"

namespace millrace::devices::cpu::testing {
namespace {

// The parts on so many threads, each of which takes every third, the last part first.
class ReversedParallel final : public Parallel {
 public:
  int width() const override { return 3; }
  void run(int parts, FunctionRef<void(int)> body) override {
    std::vector<std::jthread> threads;
    for (int t = 0; t < width(); ++t) {
      threads.emplace_back([=, this] {
        for (int p = parts - 1 - t; p >= 0; p -= width()) body(p);
      });
    }
  }
};

struct Case {
  std::string dims, source_dims;  // "3x4x"
  std::string attributes;
  std::string type = "f32";
  std::string comparison = "GE", compared_as = "";  // "FLOAT", ...
  std::string scatter = "add";
};

std::string text_of(const Case& c) {
  const std::string from = "tensor<" + c.dims + c.type + ">",
                    source = "tensor<" + c.source_dims + c.type + ">",
                    scalar = "tensor<" + c.type + ">",
                    as = c.compared_as.empty() ? "" : ", " + c.compared_as;
  return "func.func @main(%a: " + from + ", %u: " + source + ", %z: " + scalar + ") -> " + from +
         " {\n%r = \"stablehlo.select_and_scatter\"(%a, %u, %z) <{" + c.attributes +
         "}> ({\n^bb0(%x: " + scalar + ", %y: " + scalar + "):\n%s = stablehlo.compare " +
         c.comparison + ", %x, %y" + as + " : (" + scalar + ", " + scalar +
         ") -> tensor<i1>\nstablehlo.return %s : tensor<i1>\n}, {\n^bb0(%x: " + scalar +
         ", %y: " + scalar + "):\n%s = stablehlo." + c.scatter + " %x, %y : " + scalar +
         "\nstablehlo.return %s : " + scalar + "\n}) : (" + from + ", " + source + ", " + scalar +
         ") -> " + from + "\nreturn %r : " + from + "\n}\n";
}

// Small whole numbers, so that many are equal, and of floats a NaN and both zeros now and then.
Array made_up(const Shape& shape, std::mt19937& random) {
  Array a{shape, std::vector<std::byte>(shape.size_bytes())};
  const DType type = shape.dtype();
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const auto number = static_cast<int>(random() % 23);
    const double special = number == 21 ? std::numeric_limits<double>::quiet_NaN() : -0.0;
    const double x = number > 20 ? special : static_cast<double>(number % 7) - 3 + number * 0.001;
    definition::Scalar s;
    if (is_floating(type))
      s.re = x;
    else
      s.i = number % 7;
    definition::store(type, s, &a.bytes[static_cast<std::size_t>(i) * byte_width(type)]);
  }
  return a;
}

std::vector<std::byte> planned_on(const ir::Module& module, const std::vector<Array>& inputs,
                                  Parallel& parallel, const std::string& kernel) {
  const auto plan = make_plan(module, {.deterministic = true, .function = "main"});
  EXPECT_TRUE(plan.has_value());
  if (!plan) return {};
  EXPECT_TRUE(std::ranges::any_of(
      (*plan)->steps(),
      [&](const auto& step) { return step.info.name.find(kernel) != std::string::npos; }))
      << "no step is called " << kernel;
  const auto context = RunContext::create(**plan);
  std::vector<const void*> in;
  for (const Array& a : inputs) in.push_back(a.bytes.data());
  std::vector<std::byte> out((*plan)->outputs()[0].size_bytes(), std::byte{0xA5});
  void* const to = out.data();
  const Status status = (*context)->run(in, {&to, 1}, parallel);
  EXPECT_TRUE(status.has_value()) << status.error().to_string();
  return out;
}

// kernel: what a step's name must have.
void check_case(const Case& c, unsigned seed, const std::string& kernel) {
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text_of(c));
  const auto module = stablehlo::text::read_text(text_of(c));
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  const Status verdict = stablehlo::verify::verify(*module);
  ASSERT_TRUE(verdict.has_value()) << verdict.error().to_string();
  std::mt19937 random(seed);
  std::vector<Array> inputs;
  for (const auto& type : module->functions().front().inputs())
    inputs.push_back(made_up(*type.shape(), random));
  const auto want = interpreted(*module, "main", inputs);
  ASSERT_TRUE(want.has_value()) << want.error().to_string();
  const auto serial = make_serial_parallel();
  ReversedParallel reversed;
  const auto one = planned_on(*module, inputs, *serial, kernel);
  ASSERT_EQ(difference({{want->front().shape, one}}, *want), "");
  EXPECT_EQ(planned_on(*module, inputs, reversed, kernel), one) << "on several threads";
}

Case random_case(std::mt19937& random) {
  const auto below = [&](int n) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  };
  // Batch, two or three dimensions with windows, features: in either order.
  const bool features_last = below(2) == 0;
  std::vector<bool> has_window(static_cast<std::size_t>(1 + below(3)), true);
  has_window.insert(has_window.begin(), false);
  has_window.insert(features_last ? has_window.end() : has_window.begin(), false);
  Case c;
  std::string size, stride, padding;
  const auto add = [](std::string& text, const std::string& number) {
    text += (text.empty() ? "" : ", ") + number;
  };
  for (const bool window : has_window) {
    const std::int64_t n = window ? 1 + below(9) : below(3) == 0 ? 1 + below(40) : 1 + below(4);
    const std::int64_t k = window ? 1 + below(4) : 1, s = window ? 1 + below(3) : 1;
    const std::int64_t low = window ? below(4) - 1 : 0, high = window ? below(4) - 1 : 0;
    const std::int64_t whole = n + low + high;
    add(size, std::to_string(k));
    add(stride, std::to_string(s));
    add(padding, "[" + std::to_string(low) + ", " + std::to_string(high) + "]");
    c.dims += std::to_string(n) + "x";
    c.source_dims += std::to_string(whole < k ? 0 : (whole - k) / s + 1) + "x";
  }
  c.attributes = "window_dimensions = array<i64: " + size +
                 ">, window_strides = array<i64: " + stride + ">, padding = dense<[" + padding +
                 "]> : tensor<" + std::to_string(has_window.size()) + "x2xi64>";
  return c;
}

constexpr const char* kTypes[] = {"f32", "f64", "f16", "bf16", "i8",   "i16",
                                  "i32", "i64", "ui8", "ui16", "ui32", "ui64"};
constexpr const char* kComparisons[] = {"GE", "GT", "LE", "LT"};

TEST(SelectScatterTest, RandomWindowsAreThoseOfTheDefinition) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    Case c = random_case(random);
    c.type = kTypes[random() % std::size(kTypes)];
    c.comparison = kComparisons[random() % std::size(kComparisons)];
    check_case(c, seed, "");
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

constexpr const char* kOverlapping =
    "window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>, padding "
    "= dense<[[0, 0], [0, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>";
constexpr const char* kOverlappingFeaturesFirst =
    "window_dimensions = array<i64: 1, 1, 3, 3>, window_strides = array<i64: 1, 1, 2, 1>, padding "
    "= dense<[[0, 0], [0, 0], [0, 1], [1, 1]]> : tensor<4x2xi64>";

TEST(SelectScatterTest, EveryTypeAndComparisonHasItsKernel) {
  for (const char* type : kTypes) {
    for (const char* comparison : kComparisons) {
      check_case({"2x6x5x19x", "2x3x3x19x", kOverlapping, type, comparison}, 7, "as comparisons");
      check_case({"2x3x6x7x", "2x3x3x7x", kOverlappingFeaturesFirst, type, comparison}, 8,
                 "as comparisons");
    }
  }
}

TEST(SelectScatterTest, WideImagesAndManyFeaturesTakeSeveralRuns) {
  // More windows in a row, and more features, than lanes; large enough for several parts.
  check_case({"9x4x5x300x", "9x2x3x300x", kOverlapping}, 3, "as comparisons");
  check_case({"2x3x6x600x", "2x3x3x600x", kOverlappingFeaturesFirst}, 4, "as comparisons");
  check_case({"1x6x5x70x", "1x3x3x70x", kOverlapping}, 5, "as comparisons");
}

TEST(SelectScatterTest, NoWindowsLeaveTheInitialValue) {
  check_case({"2x1x1x9x", "2x0x0x9x",
              "window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 1, 1, "
              "1>"},
             1, "as comparisons");
  check_case({"0x6x5x9x", "0x3x3x9x", kOverlapping}, 1, "");
}

TEST(SelectScatterTest, OtherBodiesAreThoseOfTheDefinitionOnAnyThreads) {
  check_case({"5x6x5x9x", "5x3x3x9x", kOverlapping, "f32", "NE"}, 1, "");
  check_case({"5x6x5x9x", "5x3x3x9x", kOverlapping, "f32", "GE", "TOTALORDER"}, 2, "");
  check_case({"5x6x5x9x", "5x3x3x9x", kOverlapping, "f32", "GE", "FLOAT", "maximum"}, 3, "");
  check_case({"5x6x5x9x", "5x3x3x9x", kOverlapping, "i32", "LT", "SIGNED", "multiply"}, 4, "");
  check_case({"40x6x5x9x", "40x3x3x9x", kOverlapping, "f8E4M3FN", "GE"}, 5, "");
}

// The first of equal elements takes it; a NaN is never kept, and takes every later one's place.
constexpr Row kRows[] = {
    {"TheFirstOfEqualElements", "tensor<4xf32>",
     "%a = stablehlo.constant dense<[2.0, 2.0, 1.0, 2.0]> : tensor<4xf32>\n"
     "%u = stablehlo.constant dense<[10.0, 20.0]> : tensor<2xf32>\n"
     "%z = stablehlo.constant dense<0.5> : tensor<f32>\n"
     "%r = \"stablehlo.select_and_scatter\"(%a, %u, %z) <{window_dimensions = array<i64: 3>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n%s = stablehlo.compare GE, %x, %y : (tensor<f32>, "
     "tensor<f32>) -> tensor<i1>\nstablehlo.return %s : tensor<i1>\n}, {\n^bb0(%x: tensor<f32>, "
     "%y: tensor<f32>):\n%s = stablehlo.add %x, %y : tensor<f32>\nstablehlo.return %s : "
     "tensor<f32>\n}) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>",
     "[10.5, 20.5, 0.5, 0.5]"},
    {"ANaNIsLeftForTheNextElement", "tensor<4xf32>",
     "%a = stablehlo.constant dense<[2.0, 0x7FC00000, 1.0, 0.5]> : tensor<4xf32>\n"
     "%u = stablehlo.constant dense<[10.0]> : tensor<1xf32>\n"
     "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
     "%r = \"stablehlo.select_and_scatter\"(%a, %u, %z) <{window_dimensions = array<i64: 4>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n%s = stablehlo.compare GE, %x, %y : (tensor<f32>, "
     "tensor<f32>) -> tensor<i1>\nstablehlo.return %s : tensor<i1>\n}, {\n^bb0(%x: tensor<f32>, "
     "%y: tensor<f32>):\n%s = stablehlo.add %x, %y : tensor<f32>\nstablehlo.return %s : "
     "tensor<f32>\n}) : (tensor<4xf32>, tensor<1xf32>, tensor<f32>) -> tensor<4xf32>",
     "[0.0, 0.0, 10.0, 0.0]"},
};
TEST(SelectScatterTest, TiesAndNaN) { check_all(kRows); }

}  // namespace
}  // namespace millrace::devices::cpu::testing
