// Scatters whose windows lie dense: indices outside of the operand are skipped, whatever their
// type, and several updates of one place are combined in their order.
#include "millrace/devices/cpu/kernels/movement/indexed.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/devices/cpu/run_support.h"

namespace millrace::devices::cpu::testing {
namespace {

// Scatters the updates 1, 10, ..., 100000 by these six indices into five numbers.
template <class T, class I>
std::vector<T> scattered(const std::string& type, const std::string& index_type,
                         const std::string& op, const std::vector<I>& indices) {
  const std::string body = op.empty() ? "stablehlo.return %b : tensor<" + type + ">\n"
                                      : "%s = stablehlo." + op + " %a, %b : tensor<" + type +
                                            ">\nstablehlo.return %s : tensor<" + type + ">\n";
  TestProgram p("func.func @main(%x: tensor<5x" + type + ">, %i: tensor<6x1x" + index_type +
                ">, %u: tensor<6x" + type + ">) -> tensor<5x" + type +
                "> {\n%r = \"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = "
                "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = "
                "[0], index_vector_dim = 1>}> ({\n^bb0(%a: tensor<" +
                type + ">, %b: tensor<" + type + ">):\n" + body + "}) : (tensor<5x" + type +
                ">, tensor<6x1x" + index_type + ">, tensor<6x" + type + ">) -> tensor<5x" + type +
                ">\nreturn %r : tensor<5x" + type + ">\n}\n");
  const std::vector<T> x(5, T(2)), u = {1, 10, 100, 1000, 10000, 100000};
  return values_of<T>(p.run({bytes_of(x), bytes_of(indices), bytes_of(u)})[0]);
}

TEST(ScatterTest, IndicesOutsideAreSkipped) {
  const std::vector<std::int32_t> some = {0, -1, 4, 5, 4, std::numeric_limits<std::int32_t>::min()};
  const std::vector<float> sums = {3, 2, 2, 2, 10102};
  EXPECT_EQ((scattered<float>("f32", "i32", "add", some)), sums);
  EXPECT_EQ((scattered<std::int32_t>("i32", "i32", "add", some)),
            (std::vector<std::int32_t>{3, 2, 2, 2, 10102}));
  EXPECT_EQ((scattered<double>("f64", "i32", "add", some)),
            (std::vector<double>{3, 2, 2, 2, 10102}));
  EXPECT_EQ((scattered<float>("f32", "i32", "maximum", some)),
            (std::vector<float>{2, 2, 2, 2, 10000}));
  EXPECT_EQ((scattered<float>("f32", "i32", "", some)), (std::vector<float>{1, 2, 2, 2, 10000}));
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min(),
                         kHigh = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(
      (scattered<float>("f32", "i64", "add", std::vector<std::int64_t>{0, kLow, 4, kHigh, 4, -1})),
      sums);
  EXPECT_EQ((scattered<float>(
                "f32", "ui64", "add",
                std::vector<std::uint64_t>{0, ~std::uint64_t{0}, 4, std::uint64_t{1} << 63, 4, 5})),
            sums);
  EXPECT_EQ((scattered<float>("f32", "ui8", "add", std::vector<std::uint8_t>{0, 255, 4, 5, 4, 7})),
            sums);
  EXPECT_EQ((scattered<float>("f32", "i4", "add", std::vector<std::int8_t>{0, -8, 4, 5, 4, 7})),
            sums);
  EXPECT_EQ((scattered<float>("f32", "ui4", "add", std::vector<std::uint8_t>{0, 15, 4, 5, 4, 7})),
            sums);
}

// As jnp.take_along_axis writes them. before: the batch is the first dimension of the indices, else
// the second.
std::vector<std::int32_t> taken_along(bool before, const std::vector<std::int32_t>& indices) {
  const std::string from = before ? "2x3x1" : "3x2x1", to = before ? "2x3" : "3x2";
  TestProgram p("func.func @main(%x: tensor<2x4xi32>, %i: tensor<" + from + "xi32>) -> tensor<" +
                to +
                "xi32> {\n%r = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = "
                "#stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], "
                "start_indices_batching_dims = [" +
                (before ? "0" : "1") +
                "], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, "
                "1>}> : (tensor<2x4xi32>, tensor<" +
                from + "xi32>) -> tensor<" + to + "xi32>\nreturn %r : tensor<" + to + "xi32>\n}\n");
  const std::vector<std::int32_t> x = {0, 1, 2, 3, 10, 11, 12, 13};
  return values_of<std::int32_t>(p.run({bytes_of(x), bytes_of(indices)})[0]);
}

TEST(GatherTest, EachBatchTakesFromItsOwn) {
  using Numbers = std::vector<std::int32_t>;
  EXPECT_EQ(taken_along(true, {3, 0, 9, -1, 2, 1}), (Numbers{3, 0, 3, 10, 12, 11}));
  EXPECT_EQ(taken_along(false, {3, 0, 9, -1, 2, 1}), (Numbers{3, 10, 3, 10, 2, 11}));
}

TEST(DynamicSliceTest, StartsOfFourBits) {
  TestProgram p(
      "func.func @main(%x: tensor<8xf32>, %i: tensor<i4>) -> tensor<3xf32> {\n"
      "%r = stablehlo.dynamic_slice %x, %i, sizes = [3] : (tensor<8xf32>, tensor<i4>) -> "
      "tensor<3xf32>\nreturn %r : tensor<3xf32>\n}\n");
  const std::vector<float> x = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto from = [&](std::int8_t i) {
    return values_of<float>(p.run({bytes_of(x), bytes_of<std::int8_t>({i})})[0]);
  };
  EXPECT_EQ(from(2), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(from(-3), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(from(7), (std::vector<float>{5, 6, 7}));
}

// Two numbers of each index, and windows of two elements.
TEST(ScatterTest, WindowsThatReachOutAreSkippedWhole) {
  TestProgram p(
      "func.func @main(%x: tensor<2x4xf32>, %i: tensor<4x2xi32>, %u: tensor<4x2xf32>) -> "
      "tensor<2x4xf32> {\n%r = \"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = "
      "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
      "scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({\n"
      "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%s = stablehlo.add %a, %b : tensor<f32>\n"
      "stablehlo.return %s : tensor<f32>\n}) : (tensor<2x4xf32>, tensor<4x2xi32>, "
      "tensor<4x2xf32>) -> tensor<2x4xf32>\nreturn %r : tensor<2x4xf32>\n}\n");
  const std::vector<float> x(8, 0), u = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<std::int32_t> indices = {0, 2, 0, 3, 2, 0, 1, 1};
  EXPECT_EQ(values_of<float>(p.run({bytes_of(x), bytes_of(indices), bytes_of(u)})[0]),
            (std::vector<float>{0, 0, 1, 2, 0, 7, 8, 0}));
}

}  // namespace
}  // namespace millrace::devices::cpu::testing
