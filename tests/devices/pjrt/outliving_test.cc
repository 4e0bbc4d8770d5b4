// Buffers, programs and arrays that outlive the runtime: the client stays for them, and goes with
// the last one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include "millrace/devices/pjrt/client.h"
#include "tests/devices/pjrt/fake_plugin.h"

namespace millrace::devices::pjrt {
namespace {

using testing::FakePlugin;
using ::testing::HasSubstr;

using Vector = std::array<float, 4>;

class OutlivingTest : public ::testing::Test {
 protected:
  static inline std::atomic<int> references{0};
  static inline const Vector values = {1, 2, 3, 4};

  OutlivingTest() {
    references = 0;
    fake_.replace(+[](abi::BufferIsOnCpuArgs* args) -> abi::Error* {
      args->is_on_cpu = true;
      return nullptr;
    });
    fake_.replace(+[](abi::BufferIncreaseExternalReferenceCountArgs*) -> abi::Error* {
      ++references;
      return nullptr;
    });
    fake_.replace(+[](abi::BufferDecreaseExternalReferenceCountArgs*) -> abi::Error* {
      --references;
      return nullptr;
    });
    fake_.replace(+[](abi::BufferOpaqueDeviceMemoryDataPointerArgs* args) -> abi::Error* {
      args->device_memory_ptr = const_cast<Vector*>(&values);
      return nullptr;
    });
  }
  Buffer put() {
    return client_
        ->put({.data = values.data(), .shape = Shape(DType::kF32, {4})},
              HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1)
        ->buffer;
  }
  void close() {
    const Future<void> closed = client_->close();
    run();
    ASSERT_TRUE(closed.ready());
    EXPECT_TRUE(closed.result());
  }
  void run() {
    frees_.run_until_idle();
    executor_.run_until_idle();
  }
  // That it stays, for one.
  void expect_held() {
    const Future<void> destroyed = client_->destroy();
    run();
    ASSERT_TRUE(destroyed.ready()) << "destroy() does not wait for those that hold it";
    ASSERT_FALSE(destroyed.result());
    EXPECT_EQ(destroyed.result().error().code(), ErrorCode::kFailedPrecondition);
    EXPECT_THAT(destroyed.result().error().message(), HasSubstr("fake.so stays: 1 buffers"));
    run();
    EXPECT_EQ(FakePlugin::clients_alive, 1);
  }
  // That the last one is gone.
  void expect_gone() {
    EXPECT_EQ(FakePlugin::clients_alive, 1) << "not on this thread";
    run();
    EXPECT_EQ(FakePlugin::buffers_alive, 0);
    EXPECT_EQ(references, 0);
    EXPECT_EQ(FakePlugin::clients_alive, 0);
    const Future<void> destroyed = client_->destroy();
    run();
    ASSERT_TRUE(destroyed.ready());
    EXPECT_TRUE(destroyed.result());
    client_.reset();
  }

  FakePlugin fake_;
  const Plugin* plugin_ = Plugin::adopt(fake_.api(), "fake.so").value();
  SerialExecutor executor_{SerialExecutor::InOrder{}};
  SerialExecutor driver_{SerialExecutor::InOrder{}};
  SerialExecutor frees_{SerialExecutor::InOrder{}};
  std::unique_ptr<PjrtClient> client_ =
      PjrtClient::create(*plugin_,
                         {.completions = &executor_, .driver = &driver_, .frees = &frees_})
          .value();
};

TEST_F(OutlivingTest, ClientGoesWithTheLastBuffer) {
  Buffer buffer = put();
  close();
  expect_held();
  expect_held();
  const Future<void> fetched = buffer.body()->copy_to_host({}, nullptr);
  EXPECT_TRUE(fetched.ready());
  EXPECT_FALSE(fetched.result());
  EXPECT_EQ(buffer.shape().size_bytes(), sizeof(Vector));
  buffer = Buffer();
  expect_gone();
}

TEST_F(OutlivingTest, ArrayThatReadsABufferInPlaceStaysReadable) {
  HostAccess access = put().host_access().value();
  EXPECT_EQ(references, 1);
  close();
  const Future<void> destroyed = client_->destroy();
  run();
  EXPECT_EQ(destroyed.result().error().code(), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(FakePlugin::clients_alive, 1);
  EXPECT_EQ(references, 1);
  EXPECT_EQ(reinterpret_cast<const float*>(access.bytes.data())[3], 4);
  std::thread([access = std::move(access)] {}).join();  // whichever thread has it last
  expect_gone();
}

std::atomic<bool> counting{false}, counted_at_once{false};

abi::Error* count_reference() {
  if (counting.exchange(true)) counted_at_once = true;
  std::this_thread::yield();
  counting = false;
  return nullptr;
}

// XLA's C API counts them without a lock, whatever threads begin and end them.
TEST_F(OutlivingTest, LooksInPlaceBeginAndEndOneAtATime) {
  counted_at_once = false;
  fake_.replace(+[](abi::BufferIncreaseExternalReferenceCountArgs*) { return count_reference(); });
  fake_.replace(+[](abi::BufferDecreaseExternalReferenceCountArgs*) { return count_reference(); });
  Buffer buffer = put();
  std::atomic<bool> over{false};
  std::jthread reader([&] {
    for (int i = 0; i < 2000; ++i) EXPECT_TRUE(buffer.host_access());
    over = true;
  });
  while (!over) frees_.run_until_idle();
  reader.join();
  EXPECT_FALSE(counted_at_once);
  close();
  expect_held();
  buffer = Buffer();
  expect_gone();
}

// Its end is on its way to the thread that frees: no handle holds it.
TEST_F(OutlivingTest, ArrayThatWentJustBeforeHoldsNothing) {
  HostAccess access = put().host_access().value();
  close();
  access = {};
  EXPECT_EQ(FakePlugin::buffers_alive, 1);
  const Future<void> destroyed = client_->destroy();
  run();
  ASSERT_TRUE(destroyed.ready());
  EXPECT_TRUE(destroyed.result());
  EXPECT_EQ(FakePlugin::buffers_alive, 0);
  EXPECT_EQ(FakePlugin::clients_alive, 0);
  client_.reset();
}

// Where futures of the client complete runs nothing any more.
TEST_F(OutlivingTest, MemoryThatWasLentIsReleasedAfterTheClose) {
  static abi::Event* release = nullptr;
  fake_.replace(+[](abi::ClientBufferFromHostBufferArgs* args) -> abi::Error* {
    args->buffer = FakePlugin::make_buffer();
    args->done_with_host_buffer = release = FakePlugin::make_event();
    return nullptr;
  });
  PutResult lent = client_
                       ->put({.data = values.data(), .shape = Shape(DType::kF32, {4})},
                             HostBufferSemantics::kImmutableZeroCopy, DeviceId{0}, -1)
                       .value();
  close();
  lent.buffer = Buffer();
  frees_.run_until_idle();
  EXPECT_FALSE(lent.source_released.ready());
  FakePlugin::set_event(release, 0, "");
  EXPECT_FALSE(lent.source_released.ready()) << "not on the plugin's thread";
  frees_.run_until_idle();
  ASSERT_TRUE(lent.source_released.ready());
  EXPECT_TRUE(lent.source_released.result());
  const Future<void> destroyed = client_->destroy();
  run();
  EXPECT_TRUE(destroyed.ready());
  client_.reset();
}

// The client has closed, but its buffers can still be asked.
TEST_F(OutlivingTest, StateThatWasAskedAfterTheCloseEndsWithTheClient) {
  static abi::Event* stuck = nullptr;
  fake_.replace(+[](abi::BufferReadyEventArgs* args) -> abi::Error* {
    args->event = stuck = FakePlugin::make_event();
    return nullptr;
  });
  Buffer buffer = put();
  close();
  const Future<void> ready = buffer.ready();
  EXPECT_FALSE(ready.ready());
  buffer = Buffer();
  const Future<void> destroyed = client_->destroy();
  run();
  ASSERT_TRUE(destroyed.ready());
  client_.reset();
  ASSERT_TRUE(ready.ready()) << "its executor may go next";
  EXPECT_EQ(ready.result().error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(FakePlugin::clients_alive, 1) << "the plugin owes it an event";
  FakePlugin::set_event(stuck, 0, "");
  EXPECT_EQ(FakePlugin::events_alive, 0);
}

// An event whose error is being asked for on the plugin's thread counts as not there yet.
TEST_F(OutlivingTest, ClientIsDestroyedWhenNoCallbackIsUnderWay) {
  static abi::Event* late = nullptr;
  static std::atomic<bool> inside{false}, go_on{false};
  inside = go_on = false;
  fake_.replace(+[](abi::BufferReadyEventArgs* args) -> abi::Error* {
    args->event = late = FakePlugin::make_event();
    return nullptr;
  });
  fake_.replace(+[](abi::ErrorGetCodeArgs* args) -> abi::Error* {
    args->code = 13;
    inside = true;
    inside.notify_all();
    go_on.wait(false);
    EXPECT_EQ(FakePlugin::clients_alive, 1);
    return nullptr;
  });
  Buffer buffer = put();
  const Future<void> ready = buffer.ready();
  std::thread plugins([] { FakePlugin::set_event(late, 13, "late"); });
  inside.wait(false);
  close();
  ASSERT_TRUE(ready.ready());
  EXPECT_EQ(ready.result().error().code(), ErrorCode::kUnavailable);
  buffer = Buffer();
  const Future<void> destroyed = client_->destroy();
  std::atomic<bool> freed{false};
  std::thread frees([&] {
    frees_.run_until_idle();
    freed = true;
  });
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // for it to go on, if it does
  EXPECT_FALSE(freed);
  go_on = true;
  go_on.notify_all();
  plugins.join();
  frees.join();
  EXPECT_TRUE(destroyed.ready());
  EXPECT_EQ(FakePlugin::clients_alive, 0) << "nothing is owed";
  EXPECT_EQ(FakePlugin::events_alive, 0);
  client_.reset();
}

TEST(OutlivingDeathTest, ClientThatGoesBeforeItsBuffersIsABug) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  FakePlugin fake;
  const Plugin* const plugin = Plugin::adopt(fake.api(), "fake.so").value();
  SerialExecutor executor{SerialExecutor::InOrder{}};
  auto client = PjrtClient::create(*plugin, {.completions = &executor}).value();
  Buffer buffer = client
                      ->put({.data = "0123456789abcde", .shape = Shape(DType::kF32, {4})},
                            HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1)
                      ->buffer;
  EXPECT_DEATH(client.reset(), "goes after its buffers");
  buffer = Buffer();
  client.reset();
  EXPECT_EQ(FakePlugin::clients_alive, 0);
}

}  // namespace
}  // namespace millrace::devices::pjrt
