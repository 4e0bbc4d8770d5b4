// Arrays that take over the memory of others: aliases, donations that wait, other element types.
#include <gmock/gmock.h>

#include "tests/pjrt_plugin/plugin_fixture.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

class TakeoverTest : public PluginTest {
 protected:
  void SetUp() override {
    PluginTest::SetUp();
    x_ = put(values_);
    abi::BufferMemoryArgs memory{{}, x_};
    must(memory);
    memory_ = memory.memory;
  }
  void TearDown() override {
    destroy(x_);
    PluginTest::TearDown();
  }
  Outcome create_alias(std::int64_t elements) {
    abi::ClientCreateAliasBufferArgs args{{}, client_, memory_, &elements, 1};
    args.type = abi::BufferType::kF32;
    const Outcome outcome = call(args);
    made_ = args.buffer;
    alias_ = args.alias;
    return outcome;
  }
  Outcome fulfill(abi::Buffer* with, int code = 0) {
    const std::string text = "the sender is gone";
    abi::ClientFulfillAliasBufferArgs args{{}, client_, with, code, text.data(), text.size()};
    args.alias = alias_;
    return call(args);
  }
  static bool is_ready(abi::Buffer* buffer) {
    abi::BufferReadyEventArgs ready{{}, buffer};
    must(ready);
    abi::EventIsReadyArgs args{{}, ready.event};
    must(args);
    destroy(ready.event);
    return args.is_ready;
  }
  static const void* address(abi::Buffer* buffer) {
    abi::BufferUnsafePointerArgs args{{}, buffer};
    must(args);
    return reinterpret_cast<const void*>(args.pointer);
  }
  Outcome bitcast(abi::BufferType type, std::vector<std::int64_t> dims) {
    abi::BufferBitcastArgs args{{}, x_, type, dims.data(), dims.size()};
    const Outcome outcome = call(args);
    made_ = args.out_buffer;
    return outcome;
  }

  const std::vector<float> values_ = {1, 2, 3, 4};
  abi::Buffer* x_ = nullptr;
  abi::Buffer* made_ = nullptr;
  abi::Memory* memory_ = nullptr;
  abi::AliasEnd* alias_ = nullptr;
};

TEST_F(TakeoverTest, AnAliasGetsTheMemoryOfWhatFulfillsIt) {
  ASSERT_TRUE(create_alias(4).ok());
  EXPECT_FALSE(is_ready(made_));
  const void* const before = address(x_);
  ASSERT_TRUE(fulfill(x_).ok());
  EXPECT_TRUE(is_deleted(x_));
  EXPECT_EQ(address(made_), before);
  EXPECT_EQ(fetched(made_), values_);
  destroy(made_);
}

TEST_F(TakeoverTest, ALaunchWaitsForAnAlias) {
  abi::LoadedExecutable* const executable = compiled(kPlusOne);
  ASSERT_TRUE(create_alias(4).ok());
  const Launch made = launch(executable, {made_});
  ASSERT_TRUE(made.outcome.ok()) << made.outcome.message;
  EXPECT_FALSE(is_ready(made.outputs[0]));
  ASSERT_TRUE(fulfill(x_).ok());
  EXPECT_TRUE(awaited(made.done).ok());
  EXPECT_EQ(fetched(made.outputs[0]), (std::vector<float>{2, 3, 4, 5}));
  destroy(made.outputs[0]);
  destroy(made_);
  destroy(executable);
}

// PP-4
TEST_F(TakeoverTest, AnAliasThatIsOpenWhenItsClientIsDestroyedFails) {
  abi::LoadedExecutable* const executable = compiled(kPlusOne);
  ASSERT_TRUE(create_alias(4).ok());
  const Launch made = launch(executable, {made_});
  ASSERT_TRUE(made.outcome.ok()) << made.outcome.message;
  destroy(std::exchange(client_, nullptr));
  EXPECT_THAT(awaited(made.done).message, HasSubstr("the client was destroyed"));
  std::vector<float> none;
  EXPECT_THAT(fetch(made_, none).message, HasSubstr("the client was destroyed"));
  destroy(made.outputs[0]);
  destroy(made_);
  destroy(executable);
}

TEST_F(TakeoverTest, AnAliasThatDoesNotFitStaysOpen) {
  ASSERT_TRUE(create_alias(2).ok());
  const Outcome refused = fulfill(x_);
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.message, HasSubstr("tensor<2xf32> cannot be fulfilled with tensor<4xf32>"));
  EXPECT_FALSE(is_deleted(x_));
  EXPECT_FALSE(is_ready(made_));
  const Outcome failed = fulfill(nullptr, 14);
  EXPECT_EQ(failed.code, 14);
  std::vector<float> none;
  EXPECT_THAT(fetch(made_, none).message, HasSubstr("the sender is gone"));
  destroy(made_);
}

TEST_F(TakeoverTest, AnArrayOfAnotherDeviceFulfillsNoAlias) {
  ASSERT_TRUE(create_alias(4).ok());
  abi::Buffer* const other = put(values_, 1);
  EXPECT_THAT(fulfill(other).message, HasSubstr("on another device"));
  EXPECT_FALSE(is_deleted(other));
  EXPECT_EQ(fulfill(nullptr, 10).code, 10);
  destroy(other);
  destroy(made_);
}

// PP-4
TEST_F(TakeoverTest, ClientIsDestroyedBeforeADonationComes) {
  abi::LoadedExecutable* const executable = compiled(kPlusOne);
  abi::BufferDonateWithControlDependencyArgs args{{}, x_};
  must(args);
  const Launch made = launch(executable, {args.out_buffer});
  ASSERT_TRUE(made.outcome.ok()) << made.outcome.message;
  destroy(std::exchange(client_, nullptr));
  abi::DependencyReady ready;
  ready.data = args.data;
  args.ready(&ready);
  EXPECT_TRUE(awaited(made.done).ok());
  EXPECT_EQ(fetched(made.outputs[0]), (std::vector<float>{2, 3, 4, 5}));
  destroy(made.outputs[0]);
  destroy(args.out_buffer);
  destroy(executable);
}

TEST_F(TakeoverTest, ADonationComesWhenItsCallerSaysSo) {
  abi::BufferDonateWithControlDependencyArgs args{{}, x_};
  must(args);
  EXPECT_TRUE(is_deleted(x_));
  EXPECT_FALSE(is_ready(args.out_buffer));
  abi::DependencyReady ready;
  ready.data = args.data;
  args.ready(&ready);
  EXPECT_EQ(fetched(args.out_buffer), values_);
  destroy(args.out_buffer);
  abi::BufferDonateWithControlDependencyArgs again{{}, x_};
  EXPECT_EQ(call(again).code, 9);
}

TEST_F(TakeoverTest, ADonationHasTheErrorOfItsCaller) {
  abi::BufferDonateWithControlDependencyArgs args{{}, x_};
  must(args);
  const std::string text = "no peer";
  abi::DependencyReady ready;
  ready.data = args.data;
  ready.error_code = 14;
  ready.error_message = text.data();
  ready.error_message_size = text.size();
  args.ready(&ready);
  std::vector<float> none;
  const Outcome outcome = fetch(args.out_buffer, none);
  EXPECT_EQ(outcome.code, 14);
  EXPECT_THAT(outcome.message, HasSubstr("no peer"));
  destroy(args.out_buffer);
}

TEST_F(TakeoverTest, ABitcastHasTheSameBytes) {
  const void* const before = address(x_);
  ASSERT_TRUE(bitcast(abi::BufferType::kS32, {2, 2}).ok());
  EXPECT_TRUE(is_deleted(x_));
  EXPECT_EQ(address(made_), before);
  EXPECT_EQ(fetched(made_), values_);
  abi::BufferDimensionsArgs dims{{}, made_};
  must(dims);
  EXPECT_EQ(dims.num_dims, 2u);
  destroy(made_);
}

TEST_F(TakeoverTest, ABitcastThatDoesNotFitIsRefused) {
  EXPECT_THAT(bitcast(abi::BufferType::kF32, {2, 3}).message,
              HasSubstr("these are 16 bytes, 24 are expected"));
  EXPECT_EQ(bitcast(abi::BufferType::kPred, {16}).code, 12);
  EXPECT_FALSE(is_deleted(x_));
}

TEST_F(TakeoverTest, ACopyStartsWhenItsDestinationIsNamed) {
  abi::BufferCopyRawToHostFutureArgs args{{}, x_, 4, 8};
  must(args);
  abi::EventIsReadyArgs early{{}, args.event};
  must(early);
  EXPECT_FALSE(early.is_ready);
  std::vector<float> to(2);
  abi::DestinationReady ready;
  ready.data = args.data;
  ready.destination = to.data();
  args.ready(&ready);
  EXPECT_TRUE(awaited(args.event).ok());
  EXPECT_EQ(to, (std::vector<float>{2, 3}));
  abi::BufferCopyRawToHostFutureArgs outside{{}, x_, 12, 8};
  EXPECT_EQ(call(outside).code, 3);
}

TEST_F(TakeoverTest, ACopyWithoutADestinationHasTheErrorOfItsCaller) {
  abi::BufferCopyRawToHostFutureArgs args{{}, x_, 0, 16};
  must(args);
  abi::DestinationReady ready;
  ready.data = args.data;
  ready.error_code = 8;
  args.ready(&ready);
  EXPECT_EQ(awaited(args.event).code, 8);
}

}  // namespace
}  // namespace millrace::testing
