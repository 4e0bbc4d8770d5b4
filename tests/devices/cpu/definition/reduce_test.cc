// reduce by the planner's kernels beside the definition: short rows, long rows, few results, any
// dimensions.
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/devices/cpu/definition/value_rows.h"

namespace millrace::devices::cpu::testing {
namespace {

// What is reduced: a matrix over one of its dimensions, or over both.
struct Dims {
  std::int64_t rows, columns;
  std::string reduced;
  std::string from(const std::string& element) const {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + element + ">";
  }
  std::string to(const std::string& element) const {
    if (reduced == "0, 1") return "tensor<" + element + ">";
    return "tensor<" + std::to_string(reduced == "0" ? columns : rows) + "x" + element + ">";
  }
};

Array array_of(const std::string& type, auto value) {
  const auto module = stablehlo::text::read_text("func.func @main(%a: " + type + ") -> " + type +
                                                 " {\nreturn %a : " + type + "\n}\n");
  const Shape shape = *module->functions().front().inputs().front().shape();
  Array array{shape, std::vector<std::byte>(shape.size_bytes())};
  using Value = decltype(value());
  for (std::size_t at = 0; at < array.bytes.size(); at += sizeof(Value)) {
    const Value v = value();
    std::memcpy(&array.bytes[at], &v, sizeof(v));
  }
  return array;
}

void expect_alike(const std::string& text, const std::vector<Array>& inputs) {
  const auto module = stablehlo::text::read_text(text);
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  const auto want = interpreted(*module, "main", inputs);
  ASSERT_TRUE(want.has_value()) << want.error().to_string();
  const auto got = planned(*module, "main", inputs);
  ASSERT_TRUE(got.has_value()) << got.error().to_string();
  ASSERT_EQ(difference(*got, *want), "") << text;
}

// Maps x -> a x + b, one after the other: in any other order of the elements they make another one.
TEST(ReduceTest, AnyBodyFoldsTheElementsInTheirOrder) {
  const std::int64_t sizes[] = {1,   2,   9,    65,   127,  128,  200,
                                256, 500, 1000, 1024, 3000, 4096, 50'000};
  for (const std::int64_t n : sizes) {
    for (const std::int64_t other : {1, 3, 70}) {
      if (n * other > 200'000) continue;
      for (const Dims& d : {Dims{other, n, "1"}, Dims{n, other, "0"}, Dims{other, n, "0, 1"}}) {
        SCOPED_TRACE(d.from("i32") + " over " + d.reduced);
        const std::string from = d.from("i32"), to = d.to("i32");
        const std::string text =
            "func.func @main(%a: " + from + ", %b: " + from + ") -> (" + to + ", " + to +
            ") {\n%one = stablehlo.constant dense<5> : tensor<i32>\n"
            "%zero = stablehlo.constant dense<7> : tensor<i32>\n"
            "%r:2 = \"stablehlo.reduce\"(%a, %b, %one, %zero) <{dimensions = array<i64: " +
            d.reduced +
            ">}> ({\n^bb0(%x: tensor<i32>, %y: tensor<i32>, %v: tensor<i32>, %w: tensor<i32>):\n"
            "%p = stablehlo.multiply %x, %v : tensor<i32>\n"
            "%q = stablehlo.multiply %y, %v : tensor<i32>\n"
            "%s = stablehlo.add %q, %w : tensor<i32>\n"
            "stablehlo.return %p, %s : tensor<i32>, tensor<i32>}) : (" +
            from + ", " + from + ", tensor<i32>, tensor<i32>) -> (" + to + ", " + to +
            ")\nreturn %r#0, %r#1 : " + to + ", " + to + "\n}\n";
        std::mt19937 random(static_cast<unsigned>(n));
        const auto odd = [&] { return static_cast<std::int32_t>(random() | 1U); };
        const auto any = [&] { return static_cast<std::int32_t>(random()); };
        expect_alike(text, {array_of(from, odd), array_of(from, any)});
        if (HasFatalFailure()) return;
      }
    }
  }
}

std::string one_op(const std::string& op, const std::string& element, const std::string& init,
                   const Dims& d) {
  const std::string from = d.from(element), to = d.to(element), one = "tensor<" + element + ">";
  return "func.func @main(%a: " + from + ") -> " + to + " {\n%z = stablehlo.constant dense<" +
         init + "> : " + one + "\n%r = stablehlo.reduce(%a init: %z) applies stablehlo." + op +
         " across dimensions = [" + d.reduced + "] : (" + from + ", " + one + ") -> " + to +
         "\nreturn %r : " + to + "\n}\n";
}

// Floats that are small integers: no sum of them is rounded.
TEST(ReduceTest, RowsOfAnyLengthAreFoldedWhole) {
  for (std::int64_t n = 1; n <= 300; n += n < 140 ? 1 : 53) {
    const Dims d{n < 20 ? 700 / n : 9, n, "1"};
    SCOPED_TRACE(d.from("..."));
    std::mt19937 random(static_cast<unsigned>(n));
    const auto few = [&] { return static_cast<float>(random() % 41) - 20; };
    const auto doubles = [&] { return static_cast<double>(few()); };
    const auto integers = [&] { return static_cast<std::int32_t>(random()); };
    const auto halves = [&] {  // bf16: the upper half of a float
      return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(few()) >> 16);
    };
    for (const char* op : {"add", "maximum", "minimum"}) {
      expect_alike(one_op(op, "f32", "3.0", d), {array_of(d.from("f32"), few)});
      expect_alike(one_op(op, "f64", "3.0", d), {array_of(d.from("f64"), doubles)});
      expect_alike(one_op(op, "i32", "3", d), {array_of(d.from("i32"), integers)});
      if (op[0] == 'm')
        expect_alike(one_op(op, "bf16", "3.0", d), {array_of(d.from("bf16"), halves)});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ReduceTest, TheLargestOfARowIsANaNWhereOneIsThereAndPlusZeroIsAboveMinusZero) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t n : {2, 5, 15, 16, 31, 32, 63, 64, 65, 127, 128, 200}) {
    const Dims d{8, n, "1"};
    SCOPED_TRACE(d.from("f32"));
    for (const float rare : {kNaN, 0.0F, -0.0F}) {
      std::mt19937 random(static_cast<unsigned>(n));
      const auto zeros = [&] { return random() % 16 == 0 ? rare : -0.0F; };
      for (const char* op : {"maximum", "minimum"}) {
        expect_alike(one_op(op, "f32", "-0.0", d), {array_of(d.from("f32"), zeros)});
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace millrace::devices::cpu::testing
