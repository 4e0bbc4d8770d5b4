// A plugin whose events never come: everything that waits ends all the same, with an error that
// names the plugin and the call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <latch>
#include <memory>
#include <string>
#include <thread>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/base/clock.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/device_scope.h"
#include "millrace/devices/pjrt/client.h"
#include "tests/devices/pjrt/fake_plugin.h"

namespace millrace::devices::pjrt {
namespace {

using namespace std::chrono_literals;
using testing::FakePlugin;
using ::testing::HasSubstr;

using Vector = std::array<float, 4>;
const Shape kVector(DType::kF32, {4});

class StuckPluginTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_.replace(+[](abi::BufferToHostBufferArgs* args) -> abi::Error* {
      args->event = stuck = FakePlugin::make_event();
      return nullptr;
    });
    PjrtClientOptions options{.completions = &executor_, .clock = &clock_, .timers = &timers_};
    options.close_timeout = 5s;
    client_ = PjrtClient::create(*plugin_, std::move(options)).value();
    const Vector values = {1, 2, 3, 4};
    buffer_ = client_
                  ->put({.data = values.data(), .shape = kVector},
                        HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1)
                  ->buffer;
  }
  Future<void> fetch() {
    return buffer_.body()->copy_to_host(std::as_writable_bytes(std::span(*bytes_)), bytes_);
  }
  void advance(Duration by) {
    clock_.advance(by);
    timers_.run_due();
    executor_.run_until_idle();
  }

  static inline abi::Event* stuck = nullptr;
  FakePlugin fake_;
  const Plugin* plugin_ = Plugin::adopt(fake_.api(), "fake.so").value();
  ManualClock clock_;
  TimerQueue timers_{clock_};
  SerialExecutor executor_{SerialExecutor::InOrder{}};
  std::unique_ptr<PjrtClient> client_;
  Buffer buffer_;
  std::shared_ptr<Vector> bytes_ = std::make_shared<Vector>();
};

TEST_F(StuckPluginTest, CloseEndsInTimeAndNamesPluginAndCall) {
  const Future<void> fetched = fetch();
  const Future<void> closed = client_->close();
  advance(4s);
  EXPECT_FALSE(closed.ready());
  advance(2s);
  ASSERT_TRUE(fetched.ready());
  EXPECT_EQ(fetched.result().error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(fetched.result().error().message(),
              HasSubstr("PJRT_Buffer_ToHostBuffer of the plugin fake.so has not ended: closing has "
                        "waited 5.0"));
  ASSERT_TRUE(closed.ready());
  EXPECT_EQ(closed.result().error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(closed.result().error().message(),
              HasSubstr("the plugin fake.so has never ended PJRT_Buffer_ToHostBuffer (1): closing "
                        "has waited 5.0"));
  EXPECT_GT(bytes_.use_count(), 1) << "the plugin may still write there";
  // The plugin still works on it, so it is not destroyed under its hands.
  buffer_ = Buffer();
  client_.reset();
  EXPECT_EQ(FakePlugin::clients_alive, 1);
  FakePlugin::set_event(stuck, 0, "");
  EXPECT_EQ(bytes_.use_count(), 1);
  EXPECT_EQ(FakePlugin::events_alive, 0);
}

TEST_F(StuckPluginTest, EventOfACallDuringWhichTheDeviceWasKilledIsGivenUpToo) {
  static PjrtClient* killed = nullptr;
  killed = client_.get();
  fake_.replace(+[](abi::BufferToHostBufferArgs* args) -> abi::Error* {
    static_cast<void>(killed->kill(DeviceId{0}, Error(ErrorCode::kUnavailable, "power cut")));
    args->event = stuck = FakePlugin::make_event();
    return nullptr;
  });
  const Future<void> fetched = fetch();
  executor_.run_until_idle();
  ASSERT_TRUE(fetched.ready());
  EXPECT_EQ(fetched.result().error().code(), ErrorCode::kUnavailable);
  FakePlugin::set_event(stuck, 0, "");
}

TEST_F(StuckPluginTest, UnawaitedStateEndsWithTheClient) {
  fake_.replace(+[](abi::BufferReadyEventArgs* args) -> abi::Error* {
    args->event = stuck = FakePlugin::make_event();
    return nullptr;
  });
  const Future<void> ready = buffer_.ready();
  const Future<void> closed = client_->close();
  executor_.run_until_idle();
  ASSERT_TRUE(ready.ready());
  EXPECT_EQ(ready.result().error().code(), ErrorCode::kUnavailable);
  ASSERT_TRUE(closed.ready());
  EXPECT_TRUE(closed.result()) << "it may come at any moment";
  buffer_ = Buffer();
  client_.reset();
  EXPECT_EQ(FakePlugin::clients_alive, 1) << "it did not";
  FakePlugin::set_event(stuck, 0, "");
  EXPECT_EQ(FakePlugin::events_alive, 0);
}

TEST_F(StuckPluginTest, ReleaseOfAZeroCopyPutIsGivenUpWithTheClientOnly) {
  static abi::Event* release = nullptr;
  fake_.replace(+[](abi::ClientBufferFromHostBufferArgs* args) -> abi::Error* {
    args->buffer = FakePlugin::make_buffer();
    args->done_with_host_buffer = release = FakePlugin::make_event();
    return nullptr;
  });
  const auto source = std::make_shared<Vector>();
  Future<void> released;
  {
    const PutResult put = client_
                              ->put({.data = source->data(), .shape = kVector, .owner = source},
                                    HostBufferSemantics::kImmutableZeroCopy, DeviceId{0}, -1)
                              .value();
    released = put.source_released;
  }
  const Future<void> fetched = fetch();
  const Future<void> closed = client_->close();
  advance(6s);
  ASSERT_TRUE(closed.ready());
  EXPECT_FALSE(closed.result());
  EXPECT_FALSE(released.ready()) << "a device's failure releases nothing";
  buffer_ = Buffer();
  client_.reset();
  EXPECT_EQ(FakePlugin::clients_alive, 1);
  executor_.run_until_idle();
  ASSERT_TRUE(released.ready()) << "later there is no executor to complete it on";
  EXPECT_EQ(released.result().error().code(), ErrorCode::kUnavailable);
  EXPECT_GT(source.use_count(), 1) << "the plugin may still read there";
  FakePlugin::set_event(release, 0, "");
  FakePlugin::set_event(stuck, 0, "");
  EXPECT_EQ(FakePlugin::events_alive, 0) << "at once, not on an executor";
  EXPECT_EQ(source.use_count(), 1);
}

// On a thread of its own, which is what is stuck.
TEST_F(StuckPluginTest, CallThatDoesNotReturnIsGivenUpAndNamed) {
  static std::latch entered(1), unblock(1);
  static abi::Event* copied = nullptr;
  fake_.replace(+[](abi::ClientBufferFromHostBufferArgs* args) -> abi::Error* {
    entered.count_down();
    unblock.wait();
    args->buffer = FakePlugin::make_buffer();
    args->done_with_host_buffer = copied = FakePlugin::make_event();
    return nullptr;
  });
  Result<PutResult> put;
  std::thread caller([&] {
    const DeviceScope scope(*client_, DeviceId{0});
    const Vector values{};
    put = client_->put({.data = values.data(), .shape = kVector},
                       HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1);
  });
  entered.wait();
  EXPECT_EQ(client_->calls_under_way(),
            "PJRT_Client_BufferFromHostBuffer for device 0 of the plugin fake.so");
  const Future<void> closed = client_->close();
  advance(6s);
  EXPECT_FALSE(closed.ready()) << "the device was killed; the call may return now";
  EXPECT_FALSE(client_->given_up());
  advance(3s);
  ASSERT_TRUE(closed.ready());
  EXPECT_EQ(closed.result().error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(closed.result().error().message(),
              HasSubstr("not returned: PJRT_Client_BufferFromHostBuffer for device 0 of the plugin "
                        "fake.so: closing has waited 5.0"));
  EXPECT_TRUE(client_->given_up());
  // It comes back all the same: what it brings is used no more, nor freed.
  unblock.count_down();
  caller.join();
  EXPECT_EQ(client_->calls_under_way(), "");
  put = Result<PutResult>(fail(ErrorCode::kAborted, "a test"));
  buffer_ = Buffer();
  EXPECT_EQ(FakePlugin::buffers_alive, 2);
  FakePlugin::set_event(copied, 0, "");  // else it could not be destroyed here
  executor_.run_until_idle();
}

// A call that does not return is told by the client for which it was made, not by another one.
TEST_F(StuckPluginTest, CallsAreThoseOfOneClient) {
  static std::latch entered(2), unblock(1);
  fake_.replace(+[](abi::ClientCompileArgs*) -> abi::Error* {
    entered.count_down();
    unblock.wait();
    return FakePlugin::make_error(12, "not today");
  });
  fake_.replace(+[](abi::BufferToHostBufferArgs*) -> abi::Error* {
    entered.count_down();
    unblock.wait();
    return FakePlugin::make_error(12, "not today");
  });
  const auto other = PjrtClient::create(*plugin_, {.completions = &executor_}).value();
  std::thread compiles([&] {
    EXPECT_FALSE(other->compile(Program::from_text("func.func @main() { return }"), {}));
  });
  std::thread fetches([&] {
    const DeviceScope scope(*client_, DeviceId{0});  // as its actor does
    EXPECT_FALSE(fetch().result());
  });
  entered.wait();
  EXPECT_EQ(other->calls_under_way(), "PJRT_Client_Compile of the plugin fake.so");
  EXPECT_EQ(client_->calls_under_way(),
            "PJRT_Buffer_ToHostBuffer for device 0 of the plugin fake.so");
  EXPECT_EQ(plugin_->calls_under_way(),
            "PJRT_Client_Compile, PJRT_Buffer_ToHostBuffer for device 0");
  unblock.count_down();
  compiles.join();
  fetches.join();
}

// What frees has a thread of its own, which is what is stuck. The handle is held through the close.
TEST_F(StuckPluginTest, MappingThatDoesNotEndIsGivenUpInTimeAndNamed) {
  static std::latch entered(1), unblock(1);
  fake_.replace(+[](abi::ClientDmaUnmapArgs*) -> abi::Error* {
    entered.count_down();
    unblock.wait();
    return nullptr;
  });
  buffer_ = Buffer();
  client_.reset();
  const auto frees = make_executor(ExecutorBackend::kThreads, 1, "frees");
  PjrtClientOptions options{.completions = &executor_, .frees = frees.get(), .clock = &clock_};
  options.timers = &timers_;
  options.close_timeout = 5s;
  client_ = PjrtClient::create(*plugin_, std::move(options)).value();
  const auto memory = std::make_shared<Vector>();
  const Owner mapped =
      client_->map_host_memory(std::as_writable_bytes(std::span(*memory)), memory).value();
  const Future<void> closed = client_->close();
  entered.wait();
  advance(7400ms);
  EXPECT_FALSE(closed.ready());
  EXPECT_FALSE(client_->given_up());
  advance(200ms);
  ASSERT_TRUE(closed.ready()) << "all of it takes one and a half times the limit";
  EXPECT_EQ(closed.result().error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(closed.result().error().message(),
              HasSubstr("not returned: PJRT_Client_DmaUnmap of the plugin fake.so: closing has "
                        "waited 5.0"));
  EXPECT_TRUE(client_->given_up());
  EXPECT_GT(memory.use_count(), 1) << "the plugin may still use it";
  unblock.count_down();  // else its thread could not end here
  EXPECT_TRUE(wait_blocking(frees->close()));
}

// The plugin has done all it has to: the executor's threads are stuck, where what was lent ends.
TEST_F(StuckPluginTest, CloseReportsThatNoThreadOfTheExecutorWasFree) {
  fake_.replace(+[](abi::ClientBufferFromHostBufferArgs* args) -> abi::Error* {
    args->buffer = FakePlugin::make_buffer();
    args->done_with_host_buffer = stuck = FakePlugin::make_event();
    return nullptr;
  });
  Result<PutResult> put =
      client_->put({.data = bytes_->data(), .shape = kVector, .owner = bytes_},
                   HostBufferSemantics::kImmutableUntilTransferCompletes, DeviceId{0}, -1);
  ASSERT_TRUE(put);
  FakePlugin::set_event(stuck, 0, "");
  const Future<void> closed = client_->close();
  for (const Duration by : {6s, 3s}) {
    clock_.advance(by);
    timers_.run_due();
  }
  ASSERT_TRUE(closed.ready());
  EXPECT_EQ(closed.result().error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(closed.result().error().message(),
              HasSubstr("launches and transfers of the plugin fake.so have ended, but no thread of "
                        "the executors that report it was free (1)"));
  EXPECT_FALSE(put->source_released.ready());
  executor_.run_until_idle();
  EXPECT_TRUE(put->source_released.result());
  put->buffer = {};
  buffer_ = Buffer();
}

TEST_F(StuckPluginTest, EventsThatComeInTimeCloseWithoutAnError) {
  const Future<void> fetched = fetch();
  const Future<void> closed = client_->close();
  advance(4s);
  FakePlugin::set_event(stuck, 0, "");
  executor_.run_until_idle();
  EXPECT_TRUE(fetched.result());
  ASSERT_TRUE(closed.ready());
  EXPECT_TRUE(closed.result());
  EXPECT_EQ(timers_.pending(), 0u);
  buffer_ = Buffer();
  client_.reset();
  EXPECT_EQ(FakePlugin::clients_alive, 0);
}

TEST_F(StuckPluginTest, KilledDeviceEndsWhatItWasDoingAndRefusesTheRest) {
  const Future<void> failed = client_->failed(DeviceId{0});
  const Future<void> fetched = fetch();
  ASSERT_TRUE(client_->kill(DeviceId{0}, Error(ErrorCode::kUnavailable, "power cut")));
  ASSERT_TRUE(client_->kill(DeviceId{0}, Error(ErrorCode::kInternal, "again: nothing")));
  executor_.run_until_idle();
  EXPECT_EQ(failed.result().error().message(), "power cut");
  EXPECT_THAT(fetched.result().error().message(), HasSubstr("power cut"));
  EXPECT_EQ(fetch().result().error().message(), "power cut");
  const Vector values{};
  EXPECT_EQ(client_
                ->put({.data = values.data(), .shape = kVector},
                      HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1)
                .error()
                .message(),
            "power cut");
  EXPECT_EQ(client_->copy(buffer_, DeviceId{0}, -1).error().message(), "power cut");
  const Status restarted = client_->restart(DeviceId{0});
  EXPECT_EQ(restarted.error().code(), ErrorCode::kUnimplemented);
  EXPECT_THAT(restarted.error().message(), HasSubstr("close the runtime"));
  // It came after all: nothing is left, and the client closes as any other.
  FakePlugin::set_event(stuck, 0, "");
  const Future<void> closed = client_->close();
  EXPECT_TRUE(closed.result());
  buffer_ = Buffer();
  client_.reset();
  EXPECT_EQ(FakePlugin::clients_alive, 0);
}

// It has no event: nothing says when it has read the source, or written the destination.
TEST_F(StuckPluginTest, HostMemoryWhoseReleaseIsNeverReportedStays) {
  fake_.replace(+[](abi::ClientBufferFromHostBufferArgs* args) -> abi::Error* {
    args->buffer = FakePlugin::make_buffer();
    return nullptr;
  });
  const auto source = std::make_shared<Vector>();
  for (const auto semantics : {HostBufferSemantics::kImmutableUntilTransferCompletes,
                               HostBufferSemantics::kImmutableZeroCopy}) {
    const long before = source.use_count();
    const PutResult put = client_
                              ->put({.data = source->data(), .shape = kVector, .owner = source},
                                    semantics, DeviceId{0}, -1)
                              .value();
    ASSERT_TRUE(put.source_released.ready());
    EXPECT_EQ(put.source_released.result().error().code(), ErrorCode::kInternal);
    EXPECT_GT(source.use_count(), before) << "the plugin may still read there";
  }
  fake_.replace(+[](abi::BufferToHostBufferArgs*) -> abi::Error* { return nullptr; });
  EXPECT_EQ(fetch().result().error().code(), ErrorCode::kInternal);
  EXPECT_GT(bytes_.use_count(), 1) << "the plugin may still write there";
}

TEST_F(StuckPluginTest, ClosedClientCompletesFailedOfAHealthyDevice) {
  const Future<void> failed = client_->failed(DeviceId{0});
  EXPECT_FALSE(failed.ready());
  EXPECT_TRUE(client_->close().result());
  EXPECT_TRUE(failed.result());
  EXPECT_FALSE(client_->failed(DeviceId{5}).valid());
}

}  // namespace
}  // namespace millrace::devices::pjrt
