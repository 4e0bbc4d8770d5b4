// Arrays that exist before their bytes do, and arrays that hold an error.
#include <gmock/gmock.h>

#include "tests/pjrt_plugin/plugin_fixture.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

class TransferTest : public PluginTest {
 protected:
  void SetUp() override {
    PluginTest::SetUp();
    spec_.struct_size = abi::kStructSize<abi::ShapeSpec>;
    spec_.dims = four_;
    spec_.num_dims = 1;
    spec_.type = abi::BufferType::kF32;
    abi::DeviceDefaultMemoryArgs memory{{}, device(client_)};
    must(memory);
    abi::ClientCreateBuffersForAsyncHostToDeviceArgs args{{}, client_, &spec_, 1};
    args.memory = memory.memory;
    memory_ = memory.memory;
    must(args);
    manager_ = args.manager;
    abi::TransferManagerRetrieveBufferArgs retrieve{{}, manager_, 0};
    must(retrieve);
    x_ = retrieve.buffer;
  }
  void TearDown() override {
    if (manager_ != nullptr) destroy_manager();
    if (x_ != nullptr) destroy(x_);
    PluginTest::TearDown();
  }
  void destroy_manager() {
    abi::TransferManagerDestroyArgs args{{}, std::exchange(manager_, nullptr)};
    must(args);
  }
  Outcome bring(std::span<const float> values, std::int64_t offset, bool last) {
    abi::TransferManagerTransferDataArgs args{{}, manager_, 0, values.data(), offset};
    args.transfer_size = static_cast<std::int64_t>(values.size_bytes());
    args.is_last_transfer = last;
    const Outcome outcome = call(args);
    return outcome.ok() ? awaited(args.done) : outcome;
  }
  // On x, and then each on what the one before gave. The last output; nullptr: one was refused.
  abi::Buffer* launch_200_times(abi::Buffer* x) {
    abi::LoadedExecutable* const executable = compiled(kPlusOne);
    abi::Buffer* y = nullptr;
    for (int i = 0; i < 200; ++i) {
      const Launch made = launch(executable, {y == nullptr ? x : y});
      EXPECT_TRUE(made.outcome.ok()) << made.outcome.message;
      if (y != nullptr) destroy(y);
      y = made.outputs[0];
      if (!made.outcome.ok()) break;
      destroy(made.done);
    }
    destroy(executable);
    return y;
  }

  static constexpr std::int64_t four_[] = {4};
  const std::vector<float> low_ = {1, 2}, high_ = {3, 4};
  abi::ShapeSpec spec_;
  abi::Memory* memory_ = nullptr;
  abi::TransferManager* manager_ = nullptr;
  abi::Buffer* x_ = nullptr;
};

TEST_F(TransferTest, PiecesMayComeInAnyOrder) {
  EXPECT_TRUE(bring(high_, 8, false).ok());
  EXPECT_TRUE(bring(low_, 0, true).ok());
  EXPECT_EQ(fetched(x_), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(bring(low_, 0, true).code, 9);
  abi::TransferManagerRetrieveBufferArgs again{{}, manager_, 0};
  EXPECT_EQ(call(again).code, 9);
}

TEST_F(TransferTest, ALiteralIsAWholeArray) {
  const std::vector<float> values = {1, 2, 3, 4};
  const std::int64_t five[] = {5};
  abi::TransferManagerTransferLiteralArgs args{{}, manager_, 0, values.data(), five, 1};
  args.type = abi::BufferType::kF32;
  EXPECT_THAT(call(args).message, HasSubstr("array 0 is tensor<4xf32>, the literal tensor<5xf32>"));
  args.dims = four_;
  must(args);
  EXPECT_TRUE(awaited(args.done).ok());
  EXPECT_EQ(fetched(x_), values);
  abi::TransferManagerTransferLiteralArgs again = args;
  EXPECT_EQ(call(again).code, 9);
}

TEST_F(TransferTest, MetadataIsTaken) {
  abi::TransferManagerAddMetadataArgs args{{}, manager_};
  must(args);
  abi::TransferManagerAddMetadataArgs none;
  EXPECT_EQ(call(none).code, 3);
}

TEST_F(TransferTest, PiecesOutsideAreRefused) {
  EXPECT_THAT(bring(low_, 12, false).message, HasSubstr("bytes 12 and 8 more are not in array 0"));
  EXPECT_EQ(bring(low_, -8, false).code, 3);
  abi::TransferManagerTransferDataArgs args{{}, manager_, 1};
  EXPECT_THAT(call(args).message, HasSubstr("no array 1 of 1"));
}

// PP-7: more launches than a device may be behind wait for bytes that the same thread brings.
TEST_F(TransferTest, LaunchesThatWaitForItsBytesDoNotHoldTheirCallerBack) {
  abi::Buffer* const y = launch_200_times(x_);
  ASSERT_NE(y, nullptr);
  EXPECT_TRUE(bring(low_, 0, false).ok());
  EXPECT_TRUE(bring(high_, 8, true).ok());
  EXPECT_EQ(fetched(y), (std::vector<float>{201, 202, 203, 204}));
  destroy(y);
}

// PP-7: its bytes wait for the caller too.
TEST_F(TransferTest, LaunchesThatWaitForACopyOfItDoNotHoldTheirCallerBack) {
  abi::BufferCopyToMemoryArgs copy{{}, x_, memory_};
  must(copy);
  abi::Buffer* const y = launch_200_times(copy.dst_buffer);
  destroy(copy.dst_buffer);
  ASSERT_NE(y, nullptr);
  EXPECT_TRUE(bring(low_, 0, false).ok());
  EXPECT_TRUE(bring(high_, 8, true).ok());
  EXPECT_EQ(fetched(y), (std::vector<float>{201, 202, 203, 204}));
  destroy(y);
}

// PP-4: a launch waits for bytes that the thread which destroys the client has yet to bring.
TEST_F(TransferTest, ClientIsDestroyedBeforeItsBytesComeAndTheyStillDo) {
  abi::LoadedExecutable* const executable = compiled(kPlusOne);
  const Launch made = launch(executable, {x_});
  ASSERT_TRUE(made.outcome.ok()) << made.outcome.message;
  destroy(std::exchange(client_, nullptr));
  EXPECT_TRUE(bring(low_, 0, false).ok());
  EXPECT_TRUE(bring(high_, 8, true).ok());
  EXPECT_TRUE(awaited(made.done).ok());
  EXPECT_EQ(fetched(made.outputs[0]), (std::vector<float>{2, 3, 4, 5}));
  destroy(made.outputs[0]);
  destroy(executable);
}

// PP-4, and the last to hold the client is the manager, whose end fails the launch.
TEST_F(TransferTest, ClientIsDestroyedBeforeBytesThatNeverCome) {
  abi::LoadedExecutable* const executable = compiled(kPlusOne);
  const Launch made = launch(executable, {x_});
  ASSERT_TRUE(made.outcome.ok()) << made.outcome.message;
  destroy(executable);
  destroy(made.outputs[0]);
  destroy(std::exchange(client_, nullptr));
  destroy(std::exchange(x_, nullptr));
  destroy_manager();
  EXPECT_EQ(awaited(made.done).code, 10);
}

TEST_F(TransferTest, AnErrorReachesWhatIsComputedFromIt) {
  abi::LoadedExecutable* const executable = compiled(kPlusOne);
  const Launch made = launch(executable, {x_});
  ASSERT_TRUE(made.outcome.ok()) << made.outcome.message;
  const std::string_view text = "the disk is gone";
  abi::TransferManagerSetBufferErrorArgs args{{}, manager_, 0, 15, text.data(), text.size()};
  must(args);
  std::vector<float> values;
  const Outcome fetched_outcome = fetch(made.outputs[0], values);
  EXPECT_EQ(fetched_outcome.code, 15);
  EXPECT_EQ(fetched_outcome.message, text);
  EXPECT_EQ(awaited(made.done).code, 15);
  destroy(made.outputs[0]);
  destroy(executable);
}

TEST_F(TransferTest, AManagerThatGoesFailsWhatHasNotCome) {
  EXPECT_TRUE(bring(low_, 0, false).ok());
  destroy_manager();
  std::vector<float> values;
  EXPECT_EQ(fetch(x_, values).code, 10);
}

TEST_F(TransferTest, AnArrayMayHoldAnErrorFromTheStart) {
  const std::string_view text = "never";
  abi::ClientCreateErrorBufferArgs args{{}, client_, 5, text.data(), text.size(), four_, 1};
  args.type = abi::BufferType::kF32;
  args.memory = memory_;
  must(args);
  std::vector<float> values;
  const Outcome outcome = fetch(args.buffer, values);
  EXPECT_EQ(outcome.code, 5);
  EXPECT_EQ(outcome.message, "never");
  destroy(args.buffer);
}

}  // namespace
}  // namespace millrace::testing
