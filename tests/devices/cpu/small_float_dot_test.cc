// Contractions and convolutions of f16 and bf16 that are large enough for the f32 kernel: each sum
// is rounded once, whatever the layout of the operands and the type of the result.
#include <cstdint>
#include <string>
#include <vector>

#include "millrace/devices/cpu/kernels/base/element.h"
#include "tests/devices/cpu/run_support.h"

namespace millrace::devices::cpu::testing {
namespace {

struct DotCase {
  const char* name;
  const char* lhs;  // types of %a, %b and the result
  const char* rhs;
  const char* result;
  const char* dims;  // attributes of the op
  // Strides of batch, row or column, and term, and their extents.
  std::int64_t a_batch, a_row, a_term, b_batch, b_column, b_term;
  std::int64_t batches, rows, columns, terms;
};

constexpr DotCase kCases[] = {
    {"Matrices", "tensor<17x40xf16>", "tensor<40x23xf16>", "tensor<17x23xf16>",
     "contracting_dims = [1] x [0]", 0, 40, 1, 0, 1, 23, 1, 17, 23, 40},
    {"BothTransposed", "tensor<40x17xbf16>", "tensor<23x40xbf16>", "tensor<17x23xbf16>",
     "contracting_dims = [0] x [1]", 0, 1, 17, 0, 40, 1, 1, 17, 23, 40},
    {"WideResult", "tensor<17x40xbf16>", "tensor<40x23xbf16>", "tensor<17x23xf32>",
     "contracting_dims = [1] x [0]", 0, 40, 1, 0, 1, 23, 1, 17, 23, 40},
    {"Batches", "tensor<3x17x40xf16>", "tensor<3x40x23xf16>", "tensor<3x17x23xf16>",
     "batching_dims = [0] x [0], contracting_dims = [2] x [1]", 680, 40, 1, 920, 1, 23, 3, 17, 23,
     40},
    {"SmallMatrices", "tensor<40x5x6xf16>", "tensor<40x6x4xf16>", "tensor<40x5x4xf16>",
     "batching_dims = [0] x [0], contracting_dims = [2] x [1]", 30, 6, 1, 24, 1, 4, 40, 5, 4, 6},
    {"BatchInTheMiddle", "tensor<17x3x40xf16>", "tensor<40x3x23xf16>", "tensor<3x17x23xf16>",
     "batching_dims = [1] x [1], contracting_dims = [2] x [0]", 40, 120, 1, 23, 1, 69, 3, 17, 23,
     40},
    // Neither rows nor terms are neighbours: the operand is copied before it is widened.
    {"NothingDense", "tensor<17x40x2xf16>", "tensor<40x2x23xf16>", "tensor<2x17x23xf16>",
     "batching_dims = [2] x [1], contracting_dims = [1] x [0]", 1, 80, 2, 23, 1, 46, 2, 17, 23, 40},
};

Bytes encode(DType type, const std::vector<float>& values) {
  std::vector<std::uint16_t> bits;
  if (type == DType::kF32) return bytes_of(values);
  for (float v : values) bits.push_back(type == DType::kF16 ? Half(v).bits : BFloat16(v).bits);
  return bytes_of(bits);
}

// Sums of small whole numbers are exact in f32, and beyond 2048 (f16) or 256 (bf16) they show where
// each sum is rounded.
std::vector<float> made_up(std::int64_t n, std::int64_t step) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i * step % 13 + 3));
  return values;
}

class SmallFloatDotTest : public ::testing::TestWithParam<DotCase> {};

TEST_P(SmallFloatDotTest, EachSumIsRoundedOnce) {
  const DotCase& c = GetParam();
  TestProgram program("func.func @main(%a: " + std::string(c.lhs) + ", %b: " + c.rhs + ") -> " +
                      c.result + " {\n%r = stablehlo.dot_general %a, %b, " + c.dims + " : (" +
                      c.lhs + ", " + c.rhs + ") -> " + c.result + "\nreturn %r : " + c.result +
                      "\n}\n");
  const Plan& plan = program.plan();
  const auto a = made_up(plan.inputs()[0].elements(), 5),
             b = made_up(plan.inputs()[1].elements(), 7);
  std::vector<float> sums;
  for (std::int64_t i = 0; i < c.batches * c.rows * c.columns; ++i) {
    const std::int64_t batch = i / (c.rows * c.columns), row = i / c.columns % c.rows,
                       column = i % c.columns;
    float sum = 0;
    for (std::int64_t k = 0; k < c.terms; ++k) {
      sum += a[static_cast<std::size_t>(batch * c.a_batch + row * c.a_row + k * c.a_term)] *
             b[static_cast<std::size_t>(batch * c.b_batch + column * c.b_column + k * c.b_term)];
    }
    sums.push_back(sum);
  }
  const auto outputs =
      program.run({encode(plan.inputs()[0].dtype(), a), encode(plan.inputs()[1].dtype(), b)});
  EXPECT_EQ(outputs[0], encode(plan.outputs()[0].dtype(), sums));
}

INSTANTIATE_TEST_SUITE_P(Layouts, SmallFloatDotTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// Three by three places of an image of three features, and with the weights reversed as the
// gradient of the image has them.
class SmallFloatConvolutionTest : public ::testing::TestWithParam<const char*> {};

TEST_P(SmallFloatConvolutionTest, EachSumIsRoundedOnce) {
  constexpr std::int64_t kImage = 14, kInputs = 3, kOutputs = 8;
  const std::string type = GetParam();
  const std::string image = "tensor<1x3x14x14x" + type + ">",
                    weights = "tensor<8x3x3x3x" + type + ">",
                    result = "tensor<1x8x14x14x" + type + ">";
  for (const bool reversed : {false, true}) {
    TestProgram program(
        "func.func @main(%a: " + image + ", %w: " + weights + ") -> " + result + " {\n" +
        (reversed ? "%k = stablehlo.reverse %w, dims = [2, 3] : " + weights
                  : "%k = stablehlo.reshape %w : (" + weights + ") -> " + weights) +
        "\n%r = stablehlo.convolution(%a, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, "
        "1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = "
        "1 : i64} : (" +
        image + ", " + weights + ") -> " + result + "\nreturn %r : " + result + "\n}\n");
    const auto a = made_up(kInputs * kImage * kImage, 5), w = made_up(kOutputs * kInputs * 9, 7);
    std::vector<float> sums;
    for (std::int64_t i = 0; i < kOutputs * kImage * kImage; ++i) {
      const std::int64_t feature = i / (kImage * kImage), y = i / kImage % kImage, x = i % kImage;
      float sum = 0;
      for (std::int64_t k = 0; k < kInputs * 9; ++k) {
        const std::int64_t from_y = y + k / 3 % 3 - 1, from_x = x + k % 3 - 1;
        if (from_y < 0 || from_x < 0 || from_y >= kImage || from_x >= kImage) continue;
        const std::int64_t place = reversed ? k / 9 * 9 + 8 - k % 9 : k;
        sum += a[static_cast<std::size_t>((k / 9 * kImage + from_y) * kImage + from_x)] *
               w[static_cast<std::size_t>(feature * kInputs * 9 + place)];
      }
      sums.push_back(sum);
    }
    const DType dtype = program.plan().outputs()[0].dtype();
    EXPECT_EQ(program.run({encode(dtype, a), encode(dtype, w)})[0], encode(dtype, sums))
        << (reversed ? "reversed" : "as they are");
    EXPECT_TRUE(program.step_names().back().find("backward") != std::string::npos ||
                program.step_names().back().find("forward") != std::string::npos)
        << program.step_names().back();
  }
}

INSTANTIATE_TEST_SUITE_P(Types, SmallFloatConvolutionTest, ::testing::Values("f16", "bf16", "f32"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace millrace::devices::cpu::testing
