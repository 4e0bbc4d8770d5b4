// Arrays that threads share by parts (compile/node_kernel.cc): what a run by parts makes is, to the
// byte, what the definition makes of all at once. Also iota, gather and scan in their fast forms.
#include <random>
#include <string>
#include <vector>

#include "tests/devices/cpu/definition/definition_support.h"

namespace millrace::devices::cpu::testing {
namespace {

struct Case {
  std::string name, from, to, body;  // of %x, whose type is `from`, to %r
};

Array numbers(const ir::Type& type, std::mt19937& random) {
  Array a{*ir::memory_shape(type), {}};
  const DType of = a.shape.dtype();
  a.bytes.resize(a.shape.size_bytes());
  for (std::int64_t i = 0; i < a.shape.elements(); ++i) {
    const double re = static_cast<double>(random() % 2001) / 1000 - 1, im = re * re - 0.5;
    definition::Scalar value = definition::from_unsigned(random() % 50);
    if (is_complex(of)) value = definition::from_complex(re, im);
    if (is_floating(of)) value = definition::from_real(re);
    definition::store(of, &value, 1, &a.bytes[static_cast<std::size_t>(i) * byte_width(of)]);
  }
  return a;
}

class SharedArrays : public ::testing::TestWithParam<Case> {};

TEST_P(SharedArrays, AreAsDefined) {
  const Case& c = GetParam();
  const std::string text = "func.func @main(%x: " + c.from + ") -> " + c.to + " {\n" + c.body +
                           "\nreturn %r : " + c.to + "\n}\n";
  const auto module = stablehlo::text::read_text(text);
  ASSERT_TRUE(module.has_value()) << module.error().to_string() << text;
  std::mt19937 random(4);
  const Arrays inputs = {numbers(module->find("main")->inputs()[0], random)};
  const auto slow = interpreted(*module, "main", inputs), fast = planned(*module, "main", inputs);
  ASSERT_TRUE(slow.has_value()) << slow.error().to_string();
  ASSERT_TRUE(fast.has_value()) << fast.error().to_string();
  EXPECT_EQ((*fast)[0].bytes, (*slow)[0].bytes);
}

std::string scan(const std::string& type, const std::string& op, const std::string& padding) {
  const std::string array = "tensor<5x900x" + type + ">", one = "tensor<" + type + ">";
  return "%one = stablehlo.constant dense<" + std::string(type[0] == 'f' ? "1.0" : "1") +
         "> : " + one +
         "\n%r = \"stablehlo.reduce_window\"(%x, %one) <{window_dimensions = array<i64: 1, 900>, "
         "padding = dense<" +
         padding + "> : tensor<2x2xi64>}> ({\n^bb0(%p: " + one + ", %q: " + one +
         "):\n%m = stablehlo." + op + " %p, %q : " + one + "\nstablehlo.return %m : " + one +
         "\n}) : (" + array + ", " + one + ") -> " + array;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto unary = [&](const std::string& name, const std::string& op, const std::string& type) {
    all.push_back({name, type, type, "%r = " + op + " %x : " + type + " -> " + type});
  };
  // 77 x 130 places do not share out evenly.
  unary("Sinh", "chlo.sinh", "tensor<77x130xf32>");
  unary("AsinOfHalves", "chlo.asin", "tensor<77x130xbf16>");
  unary("AcoshOfComplex", "chlo.acosh", "tensor<77x130xcomplex<f32>>");
  const std::string complex = "tensor<7x11x130xcomplex<f64>>";
  all.push_back({"ComplexPower", complex, complex, "%r = stablehlo.power %x, %x : " + complex});
  all.push_back({"ComplexSign", "tensor<77x130xcomplex<f32>>", "tensor<77x130xcomplex<f32>>",
                 "%r = stablehlo.sign %x : tensor<77x130xcomplex<f32>>"});
  const auto fft = [&](const std::string& name, const std::string& type, const std::string& lengths,
                       const std::string& from, const std::string& to) {
    all.push_back({name, from, to,
                   "%r = stablehlo.fft %x, type = " + type + ", length = [" + lengths + "] : (" +
                       from + ") -> " + to});
  };
  fft("Fft", "FFT", "96", "tensor<7x13x96xcomplex<f32>>", "tensor<7x13x96xcomplex<f32>>");
  fft("FftOfAPrime", "FFT", "101", "tensor<91x101xcomplex<f64>>", "tensor<91x101xcomplex<f64>>");
  fft("Rfft", "RFFT", "96", "tensor<91x96xf32>", "tensor<91x49xcomplex<f32>>");
  fft("Irfft", "IRFFT", "96", "tensor<91x49xcomplex<f32>>", "tensor<91x96xf32>");
  fft("FftOfPlanes", "IFFT", "12, 10", "tensor<91x12x10xcomplex<f32>>",
      "tensor<91x12x10xcomplex<f32>>");
  for (const std::string type : {"f32", "bf16", "f8E4M3FN", "i8", "ui32", "i64", "i4"}) {
    const std::string from = "tensor<9x7x150x" + type + ">", places = "tensor<9x7x4xi32>",
                      values = "tensor<9x7x4x" + type + ">";
    for (const bool value : {true, false}) {
      all.push_back({std::string(value ? "TopKOf_" : "PlacesOf_") + type, from,
                     value ? values : places,
                     "%v, %i = chlo.top_k(%x, k = 4) : " + from + " -> (" + values + ", " + places +
                         ")\n%r = stablehlo.reshape " +
                         (value ? "%v : (" + values + ") -> " + values
                                : "%i : (" + places + ") -> " + places)});
    }
  }
  for (const std::string type : {"f32", "i32", "i64"}) {
    all.push_back({"ProductsOf_" + type, "tensor<5x900x" + type + ">", "tensor<5x900x" + type + ">",
                   scan(type, "multiply", "[[0, 0], [899, 0]]")});
    if (type == "f32") continue;  // backwards in another order, and so with other roundings
    all.push_back({"ProductsBackOf_" + type, "tensor<5x900x" + type + ">",
                   "tensor<5x900x" + type + ">", scan(type, "multiply", "[[0, 0], [0, 899]]")});
  }
  for (const std::string type : {"f16", "f32", "f64", "i8", "ui16", "i32", "ui64"}) {
    const std::string array = "tensor<3x700x" + type + ">";
    all.push_back({"IotaBackOf_" + type, array, array,
                   "%n = stablehlo.iota dim = 1 : " + array +
                       "\n%b = stablehlo.reverse %n, dims = [1] : " + array +
                       "\n%r = stablehlo.add %b, %x : " + array});
  }
  for (const std::string type : {"ui32", "i32", "i64", "ui8"}) {
    all.push_back(
        {"GatherBy_" + type, "tensor<60x" + type + ">", "tensor<60xf32>",
         "%n = stablehlo.iota dim = 0 : tensor<40xf32>\n"
         "%r = \"stablehlo.gather\"(%n, %x) <{dimension_numbers = "
         "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], "
         "index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<40xf32>, tensor<60x" +
             type + ">) -> tensor<60xf32>"});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, SharedArrays, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace millrace::devices::cpu::testing
