// The demo's programs on the CPU device and on XLA's CPU client: the same arrays out of the same
// arrays in.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/oracle.h"
#include "tests/support/paths.h"

namespace millrace::testing {
namespace {

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
