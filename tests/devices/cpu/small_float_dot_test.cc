// Contractions of f16 and bf16 that are large enough for the f32 kernel: each sum is rounded once,
// whatever the layout of the operands and the type of the result.
#include <cstdint>
#include <string>
#include <vector>

#include "millrace/devices/cpu/kernels/element.h"
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

}  // namespace
}  // namespace millrace::devices::cpu::testing
