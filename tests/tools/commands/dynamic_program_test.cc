// `millrace run` and `millrace inspect` of a program whose shapes its arguments decide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "millrace/transfer/formats/npy.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using devices::DType;
using devices::Shape;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::run_millrace;

constexpr std::string_view kProgram = R"(
func.func public @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %a = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %b = stablehlo.constant dense<2> : tensor<1xi32>
  %s = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %m = stablehlo.dynamic_broadcast_in_dim %f, %s, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
  %y = stablehlo.multiply %x, %m : tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
)";

class DynamicProgramTest : public ::testing::Test {
 protected:
  std::string write_rows(const std::string& name, std::int64_t rows, std::int64_t columns) {
    const std::vector<float> ones(static_cast<std::size_t>(rows * columns), 1);
    const std::string path = folder_.file(name);
    EXPECT_TRUE(transfer::write_npy_file(path, Shape(DType::kF32, {rows, columns}),
                                         std::as_bytes(std::span(ones))));
    return path;
  }

  const testing::TempFolder folder_;
  const std::string program_ = folder_.write("scale.mlir", std::as_bytes(std::span(kProgram)));
};

TEST_F(DynamicProgramTest, TheInputsDecideWhatRuns) {
  for (const std::int64_t rows : {3, 5}) {
    const Outcome run = run_millrace({"run", program_, "--input", write_rows("x.npy", rows, 2),
                                      "--outputs", folder_.file("out")});
    ASSERT_EQ(run.code, 0) << run.err;
    const auto made = transfer::read_npy_file(folder_.file("out") + "/0.npy");
    ASSERT_TRUE(made) << made.error().to_string();
    EXPECT_EQ(made->shape(), Shape(DType::kF32, {rows, 2}));
    EXPECT_EQ(made->as<float>()[0], static_cast<float>(rows));
  }
}

TEST_F(DynamicProgramTest, AnInputThatDoesNotFitIsRefused) {
  const Outcome run = run_millrace({"run", program_, "--input", write_rows("x.npy", 3, 4)});
  EXPECT_NE(run.code, 0);
  EXPECT_THAT(run.err, HasSubstr("is tensor<3x4xf32>, but argument 0 of"));
  EXPECT_THAT(run.err, HasSubstr("tensor<?x2xf32>"));
}

TEST_F(DynamicProgramTest, InspectReportsTheMemoryOfARunWithSuchInputs) {
  const Outcome open = run_millrace({"inspect", program_});
  ASSERT_EQ(open.code, 0) << open.err;
  EXPECT_THAT(open.out, HasSubstr("argument   0  tensor<?x2xf32>"));
  EXPECT_THAT(open.out, HasSubstr("depend on the shapes of the arguments"));
  const Outcome given = run_millrace({"inspect", program_, "--input", write_rows("x.npy", 64, 2)});
  ASSERT_EQ(given.code, 0) << given.err;
  EXPECT_THAT(given.out, HasSubstr("512 B"));
  const Outcome ops = run_millrace({"inspect", program_, "--ops"});
  EXPECT_NE(ops.code, 0);
  EXPECT_THAT(ops.err, HasSubstr("leaves shapes of its arguments open"));
}

}  // namespace
}  // namespace millrace
