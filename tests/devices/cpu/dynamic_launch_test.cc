// Launches of a program of dynamic shapes by the CPU client, with a program that counts what is
// asked of it: what is refined and prepared when, what is kept, and where errors come out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/cpu/client.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {
namespace {

using ::testing::HasSubstr;

struct Counts {
  std::atomic<int> refined{0}, prepared{0}, runs{0};
};

Shape vector(std::int64_t n) { return Shape(DType::kF32, {n}); }

class CopyRun final : public CompiledRun {
 public:
  CopyRun(std::int64_t elements, Counts& counts) : elements_(elements), counts_(counts) {}
  Result<RunState> run(const RunCall& call) override {
    ++counts_.runs;
    const auto* from = reinterpret_cast<const float*>(call.inputs[0]);
    auto* to = reinterpret_cast<float*>(call.outputs[0]);
    for (std::int64_t i = 0; i < elements_; ++i) to[i] = from[i] + 1;
    call.output_written(0);
    return RunState::kDone;
  }

 private:
  const std::int64_t elements_;
  Counts& counts_;
};

// out = in + 1; donates in. Refuses 13 elements, cannot prepare 17.
class Increment final : public Compiled {
 public:
  Increment(std::int64_t n, Counts& counts) : shape_(vector(n)), counts_(counts) {}
  std::span<const Shape> inputs() const override { return {&shape_, 1}; }
  std::span<const Shape> outputs() const override { return {&shape_, 1}; }
  std::span<const int> donated() const override { return donated_; }
  std::span<const OutputAlias> aliases() const override { return aliases_; }
  std::size_t temporary_bytes() const override { return 1000; }
  Result<std::unique_ptr<CompiledRun>> make_run() const override {
    return std::make_unique<CopyRun>(shape_.dim(0), counts_);
  }
  Status prepare() const override {
    ++counts_.prepared;
    if (shape_.dim(0) == 17) return fail(ErrorCode::kUnimplemented, "no plan for 17");
    return {};
  }
  Result<std::shared_ptr<const Compiled>> refined(std::span<const Shape> inputs) const override {
    ++counts_.refined;
    if (inputs[0].dim(0) == 13) return fail(ErrorCode::kInvalidArgument, "not 13");
    return std::make_shared<const Increment>(inputs[0].dim(0), counts_);
  }

 private:
  const Shape shape_;
  const std::vector<int> donated_ = {0};
  const std::vector<OutputAlias> aliases_ = {{.output = 0, .input = 0}};
  Counts& counts_;
};

class DynamicLaunchTest : public ::testing::Test {
 protected:
  void start(const std::vector<DeviceThreads>& threads) {
    CpuClientOptions options;
    options.threads = threads;
    options.compile = [this](const Program&, const CompileOptions&, const CompileContext&) {
      return Result<std::shared_ptr<const Compiled>>(
          std::make_shared<const Increment>(kUnknownDimension, counts_));
    };
    client_.emplace(std::move(options));
    executable_ = client_->compile(Program::from_text("increment", "increment"), {}).value();
  }
  Buffer put(std::int64_t n, int device = 0) {
    const std::vector<float> ones(static_cast<std::size_t>(n), 1);
    return client_
        ->put({.data = ones.data(), .shape = vector(n)},
              HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{device}, -1)
        .value()
        .buffer;
  }
  Result<LaunchResult> launch(const Buffer& argument, int device = 0) {
    const DeviceId id{device};
    const std::span<const Buffer> arguments(&argument, 1);
    LaunchResult result;
    MILLRACE_TRY_STATUS(executable_.body()->launch(
        {.devices = {&id, 1}, .arguments = {&arguments, 1}}, {&result, 1}));
    return result;
  }

  Counts counts_;
  std::optional<CpuClient> client_;
  Executable executable_;
};

// One thread, the test's: the device works when the test says so.
class DynamicLaunchInOrderTest : public DynamicLaunchTest {
 protected:
  DynamicLaunchInOrderTest() { start({{.executor = &executor_, .parallel = parallel_.get()}}); }
  ~DynamicLaunchInOrderTest() override {
    const Future<void> closed = client_->close();
    executor_.run_until_idle();
    EXPECT_TRUE(closed.ready());
  }

  SerialExecutor executor_{SerialExecutor::InOrder{}};
  std::unique_ptr<Parallel> parallel_ = make_serial_parallel();
};

TEST_F(DynamicLaunchInOrderTest, ALaunchRefinesAndTheDevicesThreadsPrepare) {
  EXPECT_EQ(executable_.input_shapes()[0].to_string(), "tensor<?xf32>");
  const Result<LaunchResult> result = launch(put(5));
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->outputs[0].shape(), vector(5));
  EXPECT_EQ(counts_.refined, 1);
  EXPECT_EQ(counts_.prepared, 0);
  executor_.run_until_idle();
  EXPECT_EQ(counts_.prepared, 1);
  EXPECT_EQ(counts_.runs, 1);
}

TEST_F(DynamicLaunchInOrderTest, TheSameShapesAreRefinedAndPreparedOnce) {
  for (int round = 0; round < 3; ++round) {
    for (const std::int64_t n : {5, 6}) EXPECT_TRUE(launch(put(n)));
    executor_.run_until_idle();
  }
  EXPECT_EQ(counts_.refined, 2);
  EXPECT_EQ(counts_.prepared, 2);
  EXPECT_EQ(counts_.runs, 6);
}

TEST_F(DynamicLaunchInOrderTest, LatelyUsedShapesAreKept) {
  for (std::int64_t n = 20; n < 20 + 65; ++n) {
    EXPECT_TRUE(launch(put(n)));
    executor_.run_until_idle();
  }
  EXPECT_EQ(counts_.refined, 65);
  EXPECT_TRUE(launch(put(84)));
  EXPECT_EQ(counts_.refined, 65);
  EXPECT_TRUE(launch(put(20)));
  EXPECT_EQ(counts_.refined, 66);
}

TEST_F(DynamicLaunchInOrderTest, ShapesThatAreRefusedFailTheLaunchAndTakeNothing) {
  const Buffer argument = put(13);
  const Result<LaunchResult> result = launch(argument);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(result.error().message(), HasSubstr("a launch of increment"));
  EXPECT_THAT(result.error().message(), HasSubstr("not 13"));
  EXPECT_FALSE(argument.removed());
  EXPECT_FALSE(launch(argument));
  EXPECT_EQ(counts_.refined, 2);
}

TEST_F(DynamicLaunchInOrderTest, WhatCannotBePlannedFailsTheOutputs) {
  const Result<LaunchResult> result = launch(put(17));
  ASSERT_TRUE(result) << result.error().to_string();
  executor_.run_until_idle();
  ASSERT_TRUE(result->outputs[0].ready().ready());
  const Status status = result->outputs[0].ready().result();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kUnimplemented);
  EXPECT_EQ(counts_.runs, 0);
}

TEST_F(DynamicLaunchInOrderTest, WhatALaunchTakesIsKnownAfterTheFirst) {
  EXPECT_EQ(executable_.body()->launch_bytes(), 0u);
  EXPECT_TRUE(launch(put(100)));
  EXPECT_EQ(executable_.body()->launch_bytes(), 400u);
  executor_.run_until_idle();
  EXPECT_TRUE(launch(put(100)));
  EXPECT_EQ(executable_.body()->launch_bytes(), 1400u);
  EXPECT_TRUE(launch(put(5)));
  EXPECT_EQ(executable_.body()->launch_bytes(), 1400u);
}

// Real threads, since races are what this looks for.
class DynamicLaunchStressTest : public DynamicLaunchTest {
 protected:
  DynamicLaunchStressTest() {
    start({{.executor = threads_.get(), .parallel = &threads_->parallel()},
           {.executor = threads_.get(), .parallel = &threads_->parallel()}});
  }
  ~DynamicLaunchStressTest() override {
    EXPECT_TRUE(wait_blocking(client_->close()));
    executable_ = {};
    client_.reset();
    EXPECT_TRUE(wait_blocking(threads_->close()));
  }

  std::unique_ptr<PoolExecutor> threads_ = make_executor(ExecutorBackend::kThreads, 3, "dynamic");
};

TEST_F(DynamicLaunchStressTest, LaunchesFromManyThreads) {
  constexpr int kThreads = 4, kRounds = 50, kShapes = 7;
  std::vector<std::thread> callers;
  for (int t = 0; t < kThreads; ++t) {
    callers.emplace_back([this, t] {
      for (int i = 0; i < kRounds; ++i) {
        const std::int64_t n = 30 + (i + t) % kShapes;
        const Result<LaunchResult> result = launch(put(n, t % 2), t % 2);
        ASSERT_TRUE(result) << result.error().to_string();
        ASSERT_TRUE(wait_blocking(result->outputs[0].ready()));
        std::vector<float> values(static_cast<std::size_t>(n));
        ASSERT_TRUE(wait_blocking(result->outputs[0].body()->copy_to_host(
            std::as_writable_bytes(std::span(values)), nullptr)));
        EXPECT_EQ(values, std::vector<float>(static_cast<std::size_t>(n), 2));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(counts_.refined, kShapes);
  EXPECT_EQ(counts_.runs, kThreads * kRounds);
}

}  // namespace
}  // namespace millrace::devices::cpu
