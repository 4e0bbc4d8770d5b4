// What callers hold pointers to: null, foreign and destroyed ones; and who outlives whom.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/pjrt_plugin/plugin_fixture.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

class HandleTest : public PluginTest {};

TEST_F(HandleTest, ANullHandleIsAnErrorWithTheCallAndTheArgument) {
  abi::ClientDevicesArgs args;
  const Outcome outcome = call(args);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.message, "the argument 'client' of PJRT_Client_Devices is null");
}

TEST_F(HandleTest, AHandleOfAnotherKindIsAnError) {
  const std::vector<float> values = {1, 2, 3, 4};
  abi::Buffer* const x = put(values);
  abi::EventAwaitArgs args{{}, reinterpret_cast<abi::Event*>(x)};
  const Outcome outcome = call(args);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.message, HasSubstr("nothing that this plugin has made"));
  destroy(x);
}

TEST_F(HandleTest, ABufferOfAnotherClientIsRefusedByALaunch) {
  abi::LoadedExecutable* const executable = compiled(kPlusOne);
  const std::vector<float> values = {1, 2, 3, 4};
  abi::Client* const mine = std::exchange(client_, make_client({}));
  abi::Buffer* const foreign = put(values);
  abi::Client* const other = std::exchange(client_, mine);
  const Launch made = launch(executable, {foreign});
  EXPECT_EQ(made.outcome.code, 3);
  EXPECT_THAT(made.outcome.message, HasSubstr("argument 0 of plus_one"));
  EXPECT_THAT(made.outcome.message, HasSubstr("belongs to another client"));
  destroy(foreign);
  destroy(other);
  destroy(executable);
}

// PP-3
TEST_F(HandleTest, ABufferOutlivesItsClient) {
  const std::vector<float> values = {1, 2, 3, 4};
  abi::Buffer* const x = put(values);
  destroy(std::exchange(client_, nullptr));
  EXPECT_EQ(fetched(x), values);
  abi::BufferDeviceArgs on{{}, x};
  must(on);
  abi::DeviceGetDescriptionArgs described{{}, on.device};
  must(described);
  abi::DeviceDescriptionIdArgs id{{}, described.description};
  must(id);
  EXPECT_EQ(id.id, 0);
  destroy(x);
}

// PP-3
TEST_F(HandleTest, AnExecutableOutlivesItsClientAndRefusesLaunches) {
  abi::LoadedExecutable* const executable = compiled(kPlusOne);
  const std::vector<float> values = {1, 2, 3, 4};
  abi::Buffer* const x = put(values);
  abi::Device* const on = device(client_);
  destroy(std::exchange(client_, nullptr));
  abi::Buffer* const* arguments = &x;
  abi::Buffer* y = nullptr;
  abi::Buffer** results = &y;
  abi::LoadedExecutableExecuteArgs args{{}, executable, nullptr, &arguments, 1, 1, &results};
  args.execute_device = on;
  const Outcome outcome = call(args);
  EXPECT_EQ(outcome.code, 14);
  EXPECT_EQ(y, nullptr);
  destroy(x);
  destroy(executable);
}

TEST_F(HandleTest, AMemoryKeepsItsCallersDataAndEndsItWithTheClient) {
  static int ended = 0;
  ended = 0;
  abi::ClientAddressableMemoriesArgs args{{}, client_};
  must(args);
  ASSERT_EQ(args.num_memories, 6u);
  abi::Memory* const memory = args.memories[0];
  const abi::MemoryTable& table = **reinterpret_cast<const abi::MemoryTable* const*>(memory);
  int key = 0, first = 1, second = 2;
  const auto end = [](void* /*data*/) { ++ended; };
  EXPECT_EQ(table.get_user_data(memory, &key), nullptr);
  table.set_user_data(memory, &key, &first, end);
  EXPECT_EQ(table.get_user_data(memory, &key), &first);
  table.set_user_data(memory, &key, &second, end);
  EXPECT_EQ(ended, 1);
  destroy(std::exchange(client_, nullptr));
  EXPECT_EQ(ended, 2);
}

// PP-8: destroying what has no threads there waits for none.
TEST_F(HandleTest, AForkedChildMayDestroyAllThatItSees) {
  const std::vector<float> values = {1, 2, 3, 4};
  abi::Buffer* const x = put(values);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(20);
    destroy(std::exchange(client_, nullptr));
    destroy(x);
    ::_exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(fetched(x), values);
  destroy(x);
}

// PP-4
TEST_F(HandleTest, AClientWithWorkUnderWayEndsWithIt) {
  abi::LoadedExecutable* const executable = compiled(R"(
module @long {
  func.func @main(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {
    %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
        : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    return %0 : tensor<256x256xf32>
  }
}
)");
  const std::vector<float> zeros(256 * 256);
  abi::ClientBufferFromHostBufferArgs args = put_args(zeros);
  dims_ = {256, 256};
  args.dims = dims_.data();
  args.num_dims = 2;
  must(args);
  destroy(args.done_with_host_buffer);
  abi::Buffer* x = args.buffer;
  for (int i = 0; i < 20; ++i) {
    const Launch made = launch(executable, {x});
    ASSERT_TRUE(made.outcome.ok()) << made.outcome.message;
    destroy(made.done);
    destroy(std::exchange(x, made.outputs[0]));
  }
  destroy(executable);
  destroy(std::exchange(client_, nullptr));
  abi::BufferReadyEventArgs ready{{}, x};
  must(ready);
  abi::EventIsReadyArgs is_ready{{}, ready.event};
  must(is_ready);
  EXPECT_TRUE(is_ready.is_ready);
  destroy(ready.event);
  destroy(x);
}

TEST_F(HandleTest, AnErrorHasATableOfItsOwn) {
  abi::ClientDevicesArgs args;
  args.struct_size = abi::Call<abi::ClientDevicesArgs>::kSize;
  abi::Error* const error = plugin_api().function<abi::ClientDevicesArgs>()(&args);
  ASSERT_NE(error, nullptr);
  const abi::ErrorTable& table = **reinterpret_cast<const abi::ErrorTable* const*>(error);
  const char* text = nullptr;
  std::size_t size = 0;
  table.message(error, &text, &size);
  EXPECT_THAT(std::string(text, size), HasSubstr("is null"));
  EXPECT_EQ(table.get_code(error), 3);
  table.destroy(error);
}

}  // namespace
}  // namespace millrace::testing
