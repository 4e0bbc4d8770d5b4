// Launches: what is refused, what is donated, what fails later. PP-5 to PP-7.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "millrace/tools/pjrt_plugin/launch_limit.h"
#include "tests/pjrt_plugin/plugin_fixture.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

class LaunchTest : public PluginTest {
 protected:
  const std::vector<float> values_ = {1, 2, 3, 4};
};

TEST_F(LaunchTest, AProgramRunsOnTheDeviceThatTheCallerNames) {
  abi::LoadedExecutable* const executable = compiled(kPlusOne);
  abi::Buffer* const x = put(values_, 1);
  const Launch made = launch(executable, {x}, 1, 1);
  ASSERT_TRUE(made.outcome.ok()) << made.outcome.message;
  EXPECT_TRUE(awaited(made.done).ok());
  EXPECT_EQ(fetched(made.outputs[0]), (std::vector<float>{2, 3, 4, 5}));
  abi::BufferDeviceArgs on{{}, made.outputs[0]};
  must(on);
  EXPECT_EQ(on.device, device(client_, 1));
  destroy(x);
  destroy(made.outputs[0]);
  destroy(executable);
}

// PP-6
TEST_F(LaunchTest, WrongArgumentsAreRefusedWithTheirPlace) {
  abi::LoadedExecutable* const executable = compiled(kDonatingSum);
  const std::vector<float> five(5);
  abi::Buffer* const x = put(values_);
  abi::Buffer* const wrong = put(five);
  abi::Buffer* const elsewhere = put(values_, 1);
  const Launch shape = launch(executable, {x, wrong});
  EXPECT_EQ(shape.outcome.code, 3);
  EXPECT_THAT(shape.outcome.message, HasSubstr("argument 1 of donating_sum"));
  const Launch place = launch(executable, {x, elsewhere});
  EXPECT_EQ(place.outcome.code, 3);
  EXPECT_THAT(place.outcome.message, HasSubstr("is on device 1, the launch on device 0"));
  const Launch count = launch(executable, {x});
  EXPECT_EQ(count.outcome.code, 3);
  EXPECT_THAT(count.outcome.message, HasSubstr("takes 2 arguments, not 1"));
  const Launch missing = launch(executable, {x, nullptr});
  EXPECT_EQ(missing.outcome.code, 3);
  EXPECT_THAT(missing.outcome.message, HasSubstr("as argument 1"));
  for (const Launch& refused : {shape, place, count, missing}) {
    EXPECT_EQ(refused.outputs[0], nullptr);
    EXPECT_EQ(refused.done, nullptr);
  }
  EXPECT_FALSE(is_deleted(x));
  for (abi::Buffer* buffer : {x, wrong, elsewhere}) destroy(buffer);
  destroy(executable);
}

// PP-6
TEST_F(LaunchTest, ABufferThatStandsTwiceAndIsDonatedIsRefused) {
  abi::LoadedExecutable* const executable = compiled(kDonatingSum);
  abi::Buffer* const x = put(values_);
  const Launch made = launch(executable, {x, x});
  EXPECT_EQ(made.outcome.code, 3);
  EXPECT_THAT(made.outcome.message, HasSubstr("the same buffer as arguments 0 and 1"));
  EXPECT_FALSE(is_deleted(x));
  EXPECT_EQ(fetched(x), values_);
  destroy(x);
  destroy(executable);
}

TEST_F(LaunchTest, ADonatedBufferIsDeletedAndRefusedAfterwards) {
  abi::LoadedExecutable* const executable = compiled(kDonatingSum);
  abi::Buffer* const x = put(values_);
  abi::Buffer* const y = put(values_);
  const Launch made = launch(executable, {x, y});
  ASSERT_TRUE(made.outcome.ok()) << made.outcome.message;
  EXPECT_TRUE(is_deleted(x));
  EXPECT_FALSE(is_deleted(y));
  EXPECT_TRUE(awaited(made.done).ok());
  EXPECT_EQ(fetched(made.outputs[0]), (std::vector<float>{2, 4, 6, 8}));
  const Launch again = launch(executable, {x, y});
  EXPECT_EQ(again.outcome.code, 9);
  abi::BufferReadyEventArgs ready{{}, x};
  EXPECT_EQ(call(ready).code, 9);
  for (abi::Buffer* buffer : {x, y, made.outputs[0]}) destroy(buffer);
  destroy(executable);
}

// PP-5
TEST_F(LaunchTest, BytesThatACallerReadsInPlaceStayAlsoWhenDonated) {
  abi::LoadedExecutable* const executable = compiled(kDonatingSum);
  abi::Buffer* const x = put(values_);
  abi::Buffer* const y = put(values_);
  abi::BufferIncreaseExternalReferenceCountArgs hold{{}, x};
  must(hold);
  abi::BufferOpaqueDeviceMemoryDataPointerArgs where{{}, x};
  must(where);
  const auto* const seen = static_cast<const float*>(where.device_memory_ptr);
  const Launch made = launch(executable, {x, y});
  ASSERT_TRUE(made.outcome.ok()) << made.outcome.message;
  EXPECT_TRUE(awaited(made.done).ok());
  EXPECT_EQ(std::vector<float>(seen, seen + 4), values_);
  abi::BufferDecreaseExternalReferenceCountArgs release{{}, x};
  must(release);
  EXPECT_EQ(call(release).code, 3);
  for (abi::Buffer* buffer : {x, y, made.outputs[0]}) destroy(buffer);
  destroy(executable);
}

TEST_F(LaunchTest, ACallOfNoRegisteredFunctionIsAnErrorWithItsName) {
  abi::LoadedExecutable* executable = nullptr;
  const Outcome outcome = compile(R"(
module @calls {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = stablehlo.custom_call @nobody_knows_this(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
)",
                                  executable);
  EXPECT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.message, HasSubstr("nobody_knows_this"));
  EXPECT_THAT(outcome.message, HasSubstr("cannot compile calls"));
}

TEST_F(LaunchTest, SendAndReceiveAreRefused) {
  abi::LoadedExecutable* const executable = compiled(kPlusOne);
  abi::Buffer* const x = put(values_);
  abi::Buffer* const* arguments = &x;
  abi::Buffer* y = nullptr;
  abi::Buffer** results = &y;
  abi::ExecuteOptions options;
  options.struct_size = sizeof(options);
  options.num_send_ops = 1;
  abi::LoadedExecutableExecuteArgs args{{}, executable, &options, &arguments, 1, 1, &results};
  EXPECT_EQ(call(args).code, 12);
  destroy(x);
  destroy(executable);
}

// PP-7
TEST_F(LaunchTest, AThousandLaunchesAheadOfTheDeviceAllEnd) {
  abi::LoadedExecutable* const executable = compiled(R"(
module @slow {
  func.func @main(%x: tensor<65536xf32>) -> tensor<65536xf32> {
    %0 = stablehlo.sine %x : tensor<65536xf32>
    %1 = stablehlo.add %0, %x : tensor<65536xf32>
    return %1 : tensor<65536xf32>
  }
}
)");
  const std::vector<float> zeros(65536);
  abi::Buffer* x = put(zeros);
  for (int i = 0; i < 1000; ++i) {
    const Launch made = launch(executable, {x});
    ASSERT_TRUE(made.outcome.ok()) << made.outcome.message;
    destroy(made.done);
    destroy(std::exchange(x, made.outputs[0]));
  }
  EXPECT_EQ(fetched(x), zeros);
  destroy(x);
  destroy(executable);
}

// PP-7: a caller that may not wait is never held back, and is counted all the same.
TEST(LaunchLimitTest, ACallerThatMayNotWaitIsLetThrough) {
  pjrt_plugin::LaunchLimit limit;
  for (int i = 0; i < pjrt_plugin::LaunchLimit::kMost; ++i) limit.begin(true);
  limit.begin(false);
  std::atomic<bool> begun{false};
  std::thread held([&] {
    limit.begin(true);
    begun.store(true);
  });
  limit.end();  // as many as may be are left
  EXPECT_FALSE(begun.load());
  limit.end();
  held.join();
  EXPECT_TRUE(begun.load());
}

}  // namespace
}  // namespace millrace::testing
