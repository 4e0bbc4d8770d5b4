#include "millrace/devices/cpu/kernels/elementwise/loop_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace millrace::devices::cpu {
namespace {

// Runs the parts on as many threads as there are parts, in no order: what a pool may do at worst.
class WildParallel final : public Parallel {
 public:
  int width() const override { return 8; }
  void run(int parts, FunctionRef<void(int)> body) override {
    std::vector<std::jthread> threads;
    for (int i = parts - 1; i >= 0; --i) threads.emplace_back([&body, i] { body(i); });
  }
};

std::vector<float> random_floats(std::size_t n) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> v(n);
  for (float& x : v) x = uniform(random);
  return v;
}

// x * x, stored and summed over the reduced dimensions.
LoopSpec square_and_sum(std::vector<std::int64_t> dims, std::vector<bool> reduced) {
  LoopSpec s;
  std::vector<std::int64_t> strides(dims.size());
  std::int64_t step = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    strides[d] = step;
    step *= dims[d];
  }
  s.dims = std::move(dims);
  s.reduced = std::move(reduced);
  s.inputs = {{.buffer = 0, .strides = strides}};
  const int x = s.program.add_input(DType::kF32);
  const int ins[2] = {x, x};
  const int y = s.program.add(TileOp::kMultiply, ins, DType::kF32);
  s.program.add_output(y);
  s.program.add_output(y);
  s.outputs = {{}, {.reduce = true, .kind = TileOp::kAdd, .init = 1}};
  s.program.finish();
  return s;
}

struct ReduceCase {
  std::vector<std::int64_t> dims;
  std::vector<bool> reduced;
};

class ReduceTest : public ::testing::TestWithParam<ReduceCase> {};

TEST_P(ReduceTest, SumsAreRightAndTheSameBitsOnAnyNumberOfThreads) {
  const auto& [dims, reduced] = GetParam();
  std::size_t n = 1, kept = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    n *= static_cast<std::size_t>(dims[d]);
    if (!reduced[d]) kept *= static_cast<std::size_t>(dims[d]);
  }
  const auto x = random_floats(n);
  const float init = 2;
  const auto kernel = LoopKernel::make(square_and_sum(dims, reduced));
  ASSERT_TRUE(kernel.has_value());
  const auto run = [&](Parallel& parallel) {
    std::vector<float> squares(n), sums(kept);
    std::vector<std::byte> scratch(kernel->scratch_bytes() + 64);
    const void* in[2] = {x.data(), &init};
    void* out[2] = {squares.data(), sums.data()};
    void* aligned = scratch.data();
    std::size_t space = scratch.size();
    std::align(64, kernel->scratch_bytes(), aligned, space);
    kernel->run(in, out, static_cast<std::byte*>(aligned), parallel);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(squares[i], x[i] * x[i]);
    return sums;
  };
  const auto serial = make_serial_parallel();
  const auto sums = run(*serial);
  std::vector<double> want(kept, 2.0);
  const bool rows = reduced.back();
  for (std::size_t i = 0; i < n; ++i)
    want[rows ? i / (n / kept) : i % kept] += static_cast<double>(x[i] * x[i]);
  for (std::size_t i = 0; i < kept; ++i) EXPECT_NEAR(sums[i], want[i], 1e-6 * want[i]) << i;
  WildParallel wild;
  const auto again = run(wild);
  EXPECT_EQ(std::memcmp(again.data(), sums.data(), kept * sizeof(float)), 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, ReduceTest,
    ::testing::Values(ReduceCase{{5000, 10}, {true, false}}, ReduceCase{{300, 1000}, {true, false}},
                      ReduceCase{{3, 7}, {true, false}}, ReduceCase{{1000, 10}, {false, true}},
                      ReduceCase{{2, 60000}, {false, true}}, ReduceCase{{40000}, {true}},
                      ReduceCase{{64, 12, 12, 10}, {true, true, true, false}},
                      ReduceCase{{33, 512}, {false, true}}, ReduceCase{{7, 513}, {false, true}}));

// out[i, j] = row[j] + column[i] + transposed[j, i] + iota over i + dense[i, j]; dense itself and
// the sum once more go out, too.
void expect_elements_of_views(std::int64_t rows, std::int64_t columns) {
  SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(columns));
  LoopSpec s;
  s.dims = {rows, columns};
  s.inputs = {{.buffer = 0, .strides = {0, 1}},
              {.buffer = 1, .strides = {1, 0}},
              {.buffer = 2, .strides = {1, rows}},
              {.iota = true, .offset = 5, .strides = {1, 0}},
              {.buffer = 3, .offset = 1, .strides = {columns, 1}}};
  int value = s.program.add_input(DType::kF32);
  for (int i = 1; i < 5; ++i) s.program.add_input(DType::kF32);
  for (int i = 1; i < 5; ++i) {
    const int ins[2] = {value, i};
    value = s.program.add(TileOp::kAdd, ins, DType::kF32);
  }
  const float half = 0.5F;
  const int ins[2] = {value, s.program.add_constant(DType::kF32, &half)};
  value = s.program.add(TileOp::kMultiply, ins, DType::kF32);
  for (const int output : {value, 4, value}) s.program.add_output(output);
  s.outputs = {{}, {}, {}};
  s.program.finish();
  const auto kernel = LoopKernel::make(std::move(s));
  ASSERT_TRUE(kernel.has_value());
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const auto row = random_floats(size(columns)), column = random_floats(size(rows)),
             transposed = random_floats(size(rows * columns)),
             dense = random_floats(size(rows * columns) + 1);
  std::vector<float> out[3];
  for (auto& each : out) each.resize(size(rows * columns));
  const void* in[4] = {row.data(), column.data(), transposed.data(), dense.data()};
  void* targets[3] = {out[0].data(), out[1].data(), out[2].data()};
  const auto serial = make_serial_parallel();
  kernel->run(in, targets, nullptr, *serial);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::size_t at = size(i * columns + j);
      const float sum = ((row[size(j)] + column[size(i)]) + transposed[size(j * rows + i)]) +
                        static_cast<float>(i + 5);
      EXPECT_EQ(out[0][at], (sum + dense[at + 1]) * half);
      EXPECT_EQ(out[1][at], dense[at + 1]);
      EXPECT_EQ(out[2][at], out[0][at]);
    }
  }
}
// Those of at most 64 elements run by small_loop.cc.
TEST(LoopKernelTest, BroadcastAndStridedInputsReadTheRightElements) {
  expect_elements_of_views(37, 90);
  expect_elements_of_views(8, 8);
  expect_elements_of_views(3, 5);
  expect_elements_of_views(1, 7);
  expect_elements_of_views(1, 1);
}

TEST(LoopKernelTest, ASmallLoopMayWriteOverAnInput) {
  LoopSpec s = square_and_sum({9}, {false});
  s.outputs = {{}, {}};
  const auto kernel = LoopKernel::make(std::move(s));
  ASSERT_TRUE(kernel.has_value() && kernel->can_overwrite(0, 0));
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9}, copy(9);
  const void* in = x.data();
  void* out[2] = {x.data(), copy.data()};
  const auto serial = make_serial_parallel();
  kernel->run({&in, 1}, out, nullptr, *serial);
  EXPECT_EQ(x, (std::vector<float>{1, 4, 9, 16, 25, 36, 49, 64, 81}));
  EXPECT_EQ(copy, x);
}

TEST(LoopKernelTest, EmptyReductionGivesTheInitialValue) {
  const auto kernel = LoopKernel::make(square_and_sum({0, 3}, {true, false}));
  ASSERT_TRUE(kernel.has_value());
  const float init = 4;
  std::vector<float> sums(3, -1), none(1);
  const void* in[2] = {none.data(), &init};
  void* out[2] = {none.data(), sums.data()};
  alignas(64) std::byte scratch[4096];
  const auto serial = make_serial_parallel();
  kernel->run(in, out, scratch, *serial);
  EXPECT_EQ(sums, (std::vector<float>{4, 4, 4}));
}

TEST(LoopKernelTest, ReducedDimensionsInTheMiddleAreRefused) {
  EXPECT_TRUE(LoopKernel::can_reduce(std::vector<std::int64_t>{4, 1, 5}, {true, false, true}));
  EXPECT_FALSE(LoopKernel::can_reduce(std::vector<std::int64_t>{4, 2, 5}, {true, false, true}));
}

TEST(LoopKernelTest, OutputMayOverwriteOnlyAnInputThatIsReadNoMore) {
  // y = x + x; z = y * x: y may not take x's place, z may.
  LoopSpec s;
  s.dims = {1000};
  s.inputs = {{.buffer = 0, .strides = {1}}};
  const int x = s.program.add_input(DType::kF32);
  const int add[2] = {x, x};
  const int y = s.program.add(TileOp::kAdd, add, DType::kF32);
  const int mul[2] = {y, x};
  const int z = s.program.add(TileOp::kMultiply, mul, DType::kF32);
  s.program.add_output(y);
  s.program.add_output(z);
  s.outputs = {{}, {}};
  s.program.finish();
  const auto kernel = LoopKernel::make(std::move(s));
  ASSERT_TRUE(kernel.has_value());
  EXPECT_FALSE(kernel->can_overwrite(0, 0));
  EXPECT_TRUE(kernel->can_overwrite(1, 0));
}

}  // namespace
}  // namespace millrace::devices::cpu
