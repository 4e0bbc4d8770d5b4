// The demo's programs on the CPU device and on XLA's CPU client: the same arrays out of the same
// arrays in.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "tests/support/oracle.h"
#include "tests/support/paths.h"

namespace millrace::testing {
namespace {

using devices::DType;
using devices::HostArray;
using devices::Program;
using devices::Shape;

TEST(OracleTest, ProgramsOfTheDemoAgreeWithXla) {
  const std::unique_ptr<Oracle> oracle = Oracle::open_if_there();
  if (!oracle) GTEST_SKIP() << "no plugin here: tests/fetch_plugins gets it";
  const std::string folder = source_folder() + "/tools/models/mnist/";
  const Program init = Program::from_file(folder + "init.mlir").value();
  const Shape seed(devices::DType::kU32, {});
  // Threefry is integers: the same bits; what is made of them goes through functions of each side.
  const auto made = oracle->ours(init, random_arrays({&seed, 1}, 3)).value();
  EXPECT_EQ(oracle->difference(init, random_arrays({&seed, 1}, 3)), std::nullopt);

  for (const char* name : {"grad_64.mlir", "update.mlir", "eval_128.mlir", "predict_4.mlir"}) {
    const Program program = Program::from_file(folder + name).value();
    const std::vector<Shape> shapes = oracle->input_shapes(program).value();
    for (std::uint64_t seed_of_inputs = 1; seed_of_inputs <= 3; ++seed_of_inputs) {
      // Parameters and state of init where there are as many in front, random arrays for the rest.
      std::vector<HostArray> inputs = random_arrays(shapes, seed_of_inputs);
      for (std::size_t i = 0; i < inputs.size() && i < made.size(); ++i) {
        if (inputs[i].shape() == made[i].shape()) inputs[i] = made[i];
      }
      EXPECT_EQ(oracle->difference(program, inputs, {.relative = 1e-3, .absolute = 1e-4}),
                std::nullopt)
          << name << ", seed " << seed_of_inputs;
    }
  }
}

// Bits, for denormals are what is easily lost.
TEST(OracleTest, ReducedPrecisionIsXlasToTheBit) {
  const std::unique_ptr<Oracle> oracle = Oracle::open_if_there();
  if (!oracle) GTEST_SKIP() << "no plugin here: tests/fetch_plugins gets it";
  struct Type {
    const char *name, *bits;
    DType stored;
    int width, exponent_bits, mantissa_bits;
  };
  for (const Type& t :
       {Type{"f16", "ui16", DType::kU16, 2, 5, 10}, Type{"bf16", "ui16", DType::kU16, 2, 8, 7},
        Type{"f32", "ui32", DType::kU32, 4, 8, 23}, Type{"f64", "ui64", DType::kU64, 8, 11, 52}}) {
    constexpr int kElements = 4096;
    HostArray input = HostArray::make(Shape(t.stored, {kElements}));
    std::mt19937_64 random(5);
    for (int i = 0; i < kElements; ++i) {
      std::uint64_t bits = random();
      const std::uint64_t exponents = ((std::uint64_t{1} << t.exponent_bits) - 1)
                                      << t.mantissa_bits;
      // Denormals, numbers about 1, powers of two and infinities come often, NaNs never.
      const std::uint64_t mantissa = (std::uint64_t{1} << t.mantissa_bits) - 1;
      if (i % 4 == 0) bits &= ~exponents;
      if (i % 4 == 1) bits = (bits & ~exponents) | (exponents >> 1 & exponents);
      if (i % 16 == 2) bits &= ~mantissa;
      if (i % 64 == 3) bits |= exponents;
      if ((bits & exponents) == exponents) bits &= ~mantissa;
      std::memcpy(input.mutable_bytes().data() + i * t.width, &bits,
                  static_cast<std::size_t>(t.width));
    }
    const std::string floats = "tensor<4096x" + std::string(t.name) + ">";
    const std::string words = "tensor<4096x" + std::string(t.bits) + ">";
    std::string body, values, types;
    int results = 0;
    for (const int e : {1, 2, 4, 5, 7, 8, 11}) {
      for (const int m : {0, 1, 3, 7, 9, 10, 22, 23, 51, 52}) {
        const std::string n = std::to_string(results++);
        body += "%r" + n + " = stablehlo.reduce_precision %x, format = e" + std::to_string(e) +
                "m" + std::to_string(m) + " : " + floats + "\n%b" + n +
                " = stablehlo.bitcast_convert %r" + n + " : (" + floats + ") -> " + words + "\n";
        values += (n == "0" ? "%b" : ", %b") + n;
        types += (n == "0" ? "" : ", ") + words;
      }
    }
    const Program program =
        Program::from_text("func.func @main(%a: " + words + ") -> (" + types +
                               ") {\n%x = stablehlo.bitcast_convert %a : (" + words + ") -> " +
                               floats + "\n" + body + "return " + values + " : " + types + "\n}\n",
                           "reduce");
    EXPECT_EQ(oracle->difference(program, {&input, 1}), std::nullopt) << t.name;
  }
}

TEST(OracleTest, DifferencesAreFoundAndNamed) {
  HostArray a = HostArray::make(Shape(devices::DType::kF32, {3}));
  HostArray b = HostArray::make(Shape(devices::DType::kF32, {3}));
  EXPECT_EQ(difference({&a, 1}, {&b, 1}, {}), std::nullopt);
  reinterpret_cast<float*>(b.mutable_bytes().data())[2] = 1;
  EXPECT_EQ(difference({&a, 1}, {&b, 1}, {}), "result 0, element 2: 0.000000, not 1.000000");
  EXPECT_EQ(difference({&a, 1}, {}, {}), "1 results, not 0");
  HostArray c = HostArray::make(Shape(devices::DType::kF32, {4}));
  EXPECT_EQ(difference({&a, 1}, {&c, 1}, {}), "result 0, a tensor<3xf32>, not a tensor<4xf32>");
}

}  // namespace
}  // namespace millrace::testing
