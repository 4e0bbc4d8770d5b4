// The CPU device where the process may have only so much memory: what is refused says how much was
// asked for what, and oneDNN, which dies where it gets none, is not begun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "millrace/core/base/memory_left.h"
#include "millrace/devices/buffer.h"
#include "millrace/devices/cpu/compile/compile.h"
#include "millrace/devices/cpu/compile/make_plan.h"
#include "millrace/devices/cpu/compile/run_context.h"
#include "millrace/devices/memory_pool.h"
#include "millrace/devices/stablehlo/text/read_text.h"
#include "tests/support/memory_limit.h"

namespace millrace::devices::cpu {
namespace {

using millrace::testing::MemoryLimit;
using ::testing::HasSubstr;

constexpr std::size_t kMiB = std::size_t{1} << 20;

class MemoryLimitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!millrace::testing::kMemoryCanBeLimited)
      GTEST_SKIP() << "a sanitizer takes the addresses for itself";
  }
};

void expect_shortage(const Error& error, const std::string& words) {
  EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted) << error.to_string();
  EXPECT_THAT(error.message(), HasSubstr(words));
  EXPECT_NE(error.detail<MemoryShortage>(), nullptr) << error.to_string();
}

TEST_F(MemoryLimitTest, ArraysAreRefusedWithTheirBytes) {
  const auto pool = make_ref<MemoryPool>();
  const MemoryLimit limit(kReservedBytes + 16 * kMiB);
  const Result<Ref<Block>> block = pool->allocate(64 * kMiB);
  ASSERT_FALSE(block);
  expect_shortage(block.error(), "no memory for an array of a CPU device: 67108864 bytes");
  EXPECT_EQ(pool->stats().bytes_in_use, 0);
  try {
    static_cast<void>(HostArray::make(Shape(DType::kI8, {64 * kMiB})));
    ADD_FAILURE() << "an array that there is no memory for";
  } catch (const NoMemory& e) {
    expect_shortage(e.error(), "67108864 bytes");
  }
}

// A product of this size is oneDNN's.
constexpr const char* kProduct = R"(
func.func @main(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %p = stablehlo.dot %x, %y : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = stablehlo.dot %p, %y : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
})";

TEST_F(MemoryLimitTest, OneDnnIsNotBegunWithoutTheMemoryThatItDiesWithout) {
  const Program program = Program::from_text(kProduct);
  const auto module = read_to_run(program);
  ASSERT_TRUE(module) << module.error().to_string();
  const auto plan = make_plan(*module, {});
  ASSERT_TRUE(plan) << plan.error().to_string();
  ASSERT_FALSE((*plan)->parts().kernels.empty()) << "not by oneDNN";
  const MemoryLimit limit(kReservedBytes / 2);
  const auto again = compile(program, {});
  ASSERT_FALSE(again);
  expect_shortage(again.error(), "no memory for oneDNN's matmul of this shape");
  const auto context = RunContext::create(**plan);
  ASSERT_FALSE(context);
  expect_shortage(context.error(), "no memory for the temporaries of an execution");
}

}  // namespace
}  // namespace millrace::devices::cpu
