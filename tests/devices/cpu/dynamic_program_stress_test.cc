// A program of dynamic shapes, read, refined and planned as users' are, launched by several threads
// with different shapes at once. Real threads, since races are what this looks for.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/buffer.h"
#include "millrace/devices/cpu/client.h"
#include "millrace/devices/cpu/compile/compile.h"

namespace millrace::devices::cpu {
namespace {

// Sums each row, by a loop with one round per row.
constexpr const char* kProgram = R"(
func.func @main(%a: tensor<?x3xf32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] :
      (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
  %rows = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %first = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %i, %sum = stablehlo.while(%at = %first, %s = %0) : tensor<i32>, tensor<?xf32> cond {
    %more = stablehlo.compare LT, %at, %rows : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %at, %one : tensor<i32>
    %more = stablehlo.add %s, %0 : tensor<?xf32>
    stablehlo.return %next, %more : tensor<i32>, tensor<?xf32>
  }
  return %sum : tensor<?xf32>
}
)";

class DynamicProgramStressTest : public ::testing::Test {
 protected:
  DynamicProgramStressTest() {
    CpuClientOptions options{.compile = &cpu::compile};
    for (int device = 0; device < 2; ++device)
      options.threads.push_back({.executor = threads_.get(), .parallel = &threads_->parallel()});
    client_ = std::make_unique<CpuClient>(std::move(options));
  }
  ~DynamicProgramStressTest() override {
    EXPECT_TRUE(wait_blocking(client_->close()));
    client_.reset();
    EXPECT_TRUE(wait_blocking(threads_->close()));
  }

  // Rows of 1, 2 and 3.
  Result<std::vector<float>> run(const Executable& executable, std::int64_t rows) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < 3 * rows; ++i) values.push_back(static_cast<float>(1 + i % 3));
    MILLRACE_TRY(PutResult put,
                 client_->put({.data = values.data(), .shape = Shape(DType::kF32, {rows, 3})},
                              HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1));
    const std::span<const Buffer> arguments[] = {{&put.buffer, 1}};
    const DeviceId device[] = {DeviceId{0}};
    LaunchResult launched;
    MILLRACE_TRY_STATUS(
        executable.body()->launch({.devices = device, .arguments = arguments}, {&launched, 1}));
    HostArray array = HostArray::make(launched.outputs[0].shape());
    MILLRACE_TRY_STATUS(wait_blocking(
        launched.outputs[0].body()->copy_to_host(array.mutable_bytes(), array.owner())));
    MILLRACE_TRY_STATUS(wait_blocking(launched.done));
    std::vector<float> sums(array.bytes().size() / sizeof(float));
    if (!sums.empty()) std::memcpy(sums.data(), array.bytes().data(), array.bytes().size());
    return sums;
  }

  std::unique_ptr<PoolExecutor> threads_ = make_executor(ExecutorBackend::kThreads, 3, "dynamic");
  std::unique_ptr<CpuClient> client_;
};

TEST_F(DynamicProgramStressTest, ThreadsWithShapesOfTheirOwnGetTheirResults) {
  const auto executable = client_->compile(Program::from_text(kProgram, "rows"), {});
  ASSERT_TRUE(executable.has_value()) << executable.error().to_string();
  constexpr int kCallers = 4, kRounds = 12;
  std::vector<std::thread> callers;
  for (int c = 0; c < kCallers; ++c) {
    callers.emplace_back([&, c] {
      for (int round = 0; round < kRounds; ++round) {
        // In each round two of them want the same new shape, and two another.
        const std::int64_t rows = 1 + (round + c / 2) % 7;
        const auto sums = run(*executable, rows);
        ASSERT_TRUE(sums.has_value()) << sums.error().to_string();
        EXPECT_EQ(*sums, std::vector<float>(static_cast<std::size_t>(rows),
                                            static_cast<float>(6 * (rows + 1))));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

}  // namespace
}  // namespace millrace::devices::cpu
