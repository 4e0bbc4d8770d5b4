// sort by keys (kernels/movement/sort.h) and by comparators that have none, beside the definition,
// which asks the comparator alone. Equal elements differ by their places, so an order that is not
// stable shows.
#include <random>
#include <string>
#include <vector>

#include "millrace/devices/cpu/compile/lower_op.h"
#include "tests/devices/cpu/definition/definition_support.h"

namespace millrace::devices::cpu::testing {
namespace {

struct Case {
  std::string name, type, comparator;  // of %a and %b, or of %i and %j, which are i32
  bool keyed = true;                   // it is seen to compare two keys
};

std::string compare(const std::string& direction, const std::string& kind, const std::string& type,
                    const std::string& a = "%a", const std::string& b = "%b") {
  return "%c = stablehlo.compare " + direction + ", " + a + ", " + b + ", " + kind + " : (tensor<" +
         type + ">, tensor<" + type + ">) -> tensor<i1>\n";
}

// As JAX compares floats: zeros are one, and so are NaNs.
std::string jax_key(const std::string& of, const std::string& type) {
  const std::string t = "tensor<" + type + ">", pair = "(" + t + ", " + t + ") -> tensor<i1>\n";
  return of + "0 = stablehlo.compare EQ, " + of + ", %zero, FLOAT : " + pair + of +
         "1 = stablehlo.select " + of + "0, %zero, " + of + " : tensor<i1>, " + t + "\n" + of +
         "2 = stablehlo.compare NE, " + of + ", " + of + ", FLOAT : " + pair + of +
         "3 = stablehlo.select " + of + "2, %nan, " + of + "1 : tensor<i1>, " + t + "\n";
}

// A comparator that fits the frame of a region, though the program of its key alone would not:
// there all of the cosines come first, and each is needed to the end.
std::string long_key() {
  std::string text;
  for (const std::string of : {"%a", "%b"}) {
    std::string angle = of, sum = of;
    for (int i = 0; i < 120; ++i) {
      const std::string n = std::to_string(i);
      text += of + "c" + n + " = stablehlo.cosine " + angle + " : tensor<f64>\n" + of + "s" + n +
              " = stablehlo.add " + of + "c" + n + ", " + sum + " : tensor<f64>\n";
      angle = of + "c" + n;
      sum = of + "s" + n;
    }
  }
  return text + compare("LT", "FLOAT", "f64", "%as119", "%bs119");
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string type : {"f16", "bf16", "f32", "f64"}) {
    const std::string constants = "%zero = stablehlo.constant dense<0.0> : tensor<" + type +
                                  ">\n%nan = stablehlo.constant dense<0x" +
                                  (type == "f64"    ? "7FF8000000000000"
                                   : type == "f32"  ? "7FC00000"
                                   : type == "bf16" ? "7FC0"
                                                    : "7E00") +
                                  "> : tensor<" + type + ">\n";
    all.push_back({type + "_jax", type,
                   constants + jax_key("%a", type) + jax_key("%b", type) +
                       compare("LT", "TOTALORDER", type, "%a3", "%b3")});
    all.push_back({type + "_total_down", type, compare("GT", "TOTALORDER", type)});
    all.push_back({type + "_plain", type, compare("LT", "FLOAT", type)});
    all.push_back({type + "_plain_down", type, compare("GT", "FLOAT", type)});
    all.push_back({type + "_not_strict", type, compare("LE", "FLOAT", type), false});
  }
  for (const std::string type : {"i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "i1"}) {
    const std::string kind = type[0] == 'u' || type == "i1" ? "UNSIGNED" : "SIGNED";
    all.push_back({type + "_up", type, compare("LT", kind, type)});
    all.push_back({type + "_down", type, compare("GT", kind, type)});
    all.push_back({type + "_swapped", type, compare("LT", kind, type, "%b", "%a"), false});
  }
  all.push_back({"second_operand", "f32", compare("GT", "SIGNED", "i32", "%i", "%j")});
  all.push_back(
      {"one_side_negated", "i32",
       "%n = stablehlo.negate %b : tensor<i32>\n" + compare("LT", "SIGNED", "i32", "%a", "%n"),
       false});
  all.push_back(
      {"of_both", "i32",
       "%p = stablehlo.add %a, %i : tensor<i32>\n%q = stablehlo.add %b, %j : tensor<i32>\n" +
           compare("LT", "SIGNED", "i32", "%p", "%q"),
       false});
  all.push_back({"long_key", "f64", long_key(), false});
  return all;
}

class SortTest : public ::testing::TestWithParam<Case> {};

// Few values, of all bits, so that many are equal; of floats both zeros, and in some arrays NaN.
Array random_array(const Shape& shape, bool nans, std::mt19937& random) {
  const std::size_t width = byte_width(shape.dtype());
  std::vector<std::vector<std::byte>> values(30, std::vector<std::byte>(width));
  for (std::size_t i = 1; i < values.size(); ++i) {
    for (std::byte& b : values[i])
      b = static_cast<std::byte>(shape.dtype() == DType::kI1 ? random() & 1 : random());
  }
  if (is_floating(shape.dtype())) {
    for (auto& value : values) value.back() &= std::byte{0xbf};  // no NaN and no infinity
    values[1] = values[0];
    values[1].back() = std::byte{0x80};
    if (nans) {
      values[2].assign(width, std::byte{0xff});
      values[3] = values[4] = values[2];
      values[3].back() = std::byte{0x7f};
      values[4][0] = std::byte{0xf0};
    }
  }
  Array a{shape, {}};
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const auto& value = values[random() % values.size()];
    a.bytes.insert(a.bytes.end(), value.begin(), value.end());
  }
  return a;
}

TEST_P(SortTest, IsAsDefined) {
  const Case& c = GetParam();
  std::mt19937 random(3);
  struct Form {
    std::vector<std::int64_t> dims;
    int dimension;
  };
  for (const Form& form : {Form{{1}, 0}, Form{{70}, 0}, Form{{700}, 0}, Form{{200, 3}, 0},
                           Form{{3, 150}, 1}, Form{{40, 600}, 1}, Form{{4, 0}, 1}}) {
    const auto dtype = dtype_from_string(c.type);
    ASSERT_TRUE(dtype.has_value());
    const Shape shape(*dtype, form.dims), places(DType::kI32, form.dims);
    std::string dims;
    for (std::int64_t d : form.dims) dims += std::to_string(d) + "x";
    const std::string x = "tensor<" + dims + c.type + ">", y = "tensor<" + dims + "i32>",
                      both = "(" + x + ", " + y + ")", a = "tensor<" + c.type + ">";
    const std::string text =
        "func.func @main(%x: " + x + ", %y: " + y + ") -> " + both + " {\n" +
        "%r:2 = \"stablehlo.sort\"(%x, %y) <{dimension = " + std::to_string(form.dimension) +
        " : i64, is_stable = true}> ({\n^bb0(%a: " + a + ", %b: " + a +
        ", %i: tensor<i32>, %j: tensor<i32>):\n" + c.comparator +
        "stablehlo.return %c : tensor<i1>\n}) : " + both + " -> " + both +
        "\nreturn %r#0, %r#1 : " + x + ", " + y + "\n}\n";
    const auto module = stablehlo::text::read_text(text);
    ASSERT_TRUE(module.has_value()) << module.error().to_string() << text;
    const ir::Op& sort = *module->find("main")->body().block().front();
    const auto region = compiler::lower_region(*module, sort, 0);
    ASSERT_TRUE(region.has_value()) << region.error().to_string();
    EXPECT_EQ((*region)->keys.has_value(), c.keyed);
    Array order{places, {}};
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(places.elements()); ++i) {
      const auto* bytes = reinterpret_cast<const std::byte*>(&i);
      order.bytes.insert(order.bytes.end(), bytes, bytes + sizeof i);
    }
    const Arrays inputs = {random_array(shape, form.dims.size() == 2, random), order};
    const auto slow = interpreted(*module, "main", inputs), fast = planned(*module, "main", inputs);
    ASSERT_TRUE(slow.has_value()) << slow.error().to_string();
    ASSERT_TRUE(fast.has_value()) << fast.error().to_string();
    for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ((*fast)[k].bytes, (*slow)[k].bytes) << dims << k;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SortTest, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace millrace::devices::cpu::testing
