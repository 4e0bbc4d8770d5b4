// Host memory that a plugin maps: what it is asked for, on which thread, and when it is released.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <latch>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/core/async/timer_queue.h"
#include "millrace/core/base/clock.h"
#include "millrace/devices/device_actor.h"
#include "millrace/devices/pjrt/client.h"
#include "tests/devices/pjrt/fake_plugin.h"

namespace millrace::devices::pjrt {
namespace {

using namespace std::chrono_literals;
using testing::FakePlugin;
using ::testing::HasSubstr;

using Bytes = std::array<std::byte, 64>;

// Nothing runs but what a test runs: the device's thread, and that for what frees.
class HostMappingTest : public ::testing::Test {
 protected:
  void TearDown() override {
    if (!client_) return;
    close_device();
    const Future<void> closed = client_->close();
    run();
    ASSERT_TRUE(closed.ready());
    const Future<void> destroyed = client_->destroy();
    frees_.run_until_idle();
    EXPECT_TRUE(destroyed.ready());
    EXPECT_EQ(FakePlugin::clients_alive, 0);
    client_.reset();
  }
  // Before its client goes.
  void close_device() {
    const Future<void> closed = device_.close();
    device_ = Device();
    executor_.run_until_idle();
    EXPECT_TRUE(closed.ready());
  }
  std::unique_ptr<PjrtClient> make_client() {
    PjrtClientOptions options{.completions = &executor_,
                              .driver = &driver_,
                              .frees = &frees_,
                              .clock = &clock_,
                              .timers = &timers_};
    options.close_timeout = 5s;
    return PjrtClient::create(*plugin_, std::move(options)).value();
  }
  Device make_device() {
    return make_devices(*client_, {.environment = {.clock = &clock_,
                                                   .timers = &timers_,
                                                   .compute = &executor_,
                                                   .blocking = &driver_,
                                                   .parallel = nullptr},
                                   .limits = {},
                                   .drivers = {&driver_}})[0];
  }
  void run() {
    for (std::size_t ran = 1; ran != 0;)
      ran = driver_.run_until_idle() + frees_.run_until_idle() + executor_.run_until_idle();
  }
  void advance(Duration by) {
    clock_.advance(by);
    timers_.run_due();
    run();
  }
  Result<Owner> map(std::span<std::byte> bytes, Owner owner = nullptr) {
    const Future<Owner> mapped = device_.map_host_memory(bytes, std::move(owner));
    executor_.run_until_idle();  // the actor's turn
    driver_.run_until_idle();
    executor_.run_until_idle();  // and the next: the call has left
    return mapped.take();
  }

  FakePlugin fake_;
  const Plugin* plugin_ = Plugin::adopt(fake_.api(), "fake.so").value();
  ManualClock clock_;
  TimerQueue timers_{clock_};
  SerialExecutor executor_{SerialExecutor::InOrder{}};
  SerialExecutor driver_{SerialExecutor::InOrder{}};
  SerialExecutor frees_{SerialExecutor::InOrder{}};
  std::unique_ptr<PjrtClient> client_ = make_client();
  Device device_ = make_device();
  const std::shared_ptr<Bytes> bytes_ = std::make_shared<Bytes>();
};

TEST_F(HostMappingTest, IsMadeOnTheDevicesThreadAndEndedOnTheOneForWhatFrees) {
  Future<Owner> mapped = device_.map_host_memory(*bytes_, bytes_);
  executor_.run_until_idle();
  EXPECT_EQ(FakePlugin::maps, 0)
      << "neither on the caller's thread nor on the actor's: it may block";
  driver_.run_until_idle();
  ASSERT_TRUE(mapped.ready());
  ASSERT_TRUE(mapped.result()) << mapped.result().error().to_string();
  EXPECT_EQ(FakePlugin::maps, 1);
  EXPECT_EQ(FakePlugin::last_mapped.data(), bytes_->data());
  EXPECT_EQ(FakePlugin::last_mapped.size(), bytes_->size());
  Owner first = mapped.take().value(), second = first;
  mapped = {};
  first = nullptr;
  advance(1s);
  EXPECT_EQ(FakePlugin::unmaps, 0) << "the second handle still holds it";
  second = nullptr;
  EXPECT_EQ(FakePlugin::unmaps, 0) << "unmapping may block, too";
  EXPECT_EQ(bytes_.use_count(), 2) << "the bytes stay until they are unmapped";
  advance(20ms);
  EXPECT_EQ(FakePlugin::unmaps, 1);
  EXPECT_EQ(FakePlugin::last_unmapped, bytes_->data());
  EXPECT_EQ(bytes_.use_count(), 1);
}

TEST_F(HostMappingTest, WhatIsMappedAlreadyIsRefusedWithoutAskingThePlugin) {
  const std::span<std::byte> all(*bytes_);
  Result<Owner> middle = map(all.subspan(16, 32));
  ASSERT_TRUE(middle);
  for (const auto& part : {all.subspan(16, 32), all, all.subspan(0, 17), all.subspan(47, 1)}) {
    const Result<Owner> again = map(part);
    EXPECT_EQ(again.error().code(), ErrorCode::kAlreadyExists);
    EXPECT_THAT(again.error().message(), HasSubstr("mapped already"));
  }
  EXPECT_EQ(FakePlugin::maps, 1);
  const Result<Owner> before = map(all.subspan(0, 16)), behind = map(all.subspan(48));
  EXPECT_TRUE(before && behind);
  middle = nullptr;
  EXPECT_TRUE(map(all.subspan(20, 8))) << "the end of a mapping comes before the next one";
  EXPECT_EQ(map({}).error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(HostMappingTest, PluginWithoutTheFunctionIsNamedWithIt) {
  fake_.remove(abi::Slot::kClient_DmaMap);
  const Result<Owner> mapped = map(*bytes_, bytes_);
  EXPECT_EQ(mapped.error().code(), ErrorCode::kUnimplemented);
  EXPECT_THAT(mapped.error().message(), HasSubstr("fake.so (PJRT API 0.115) has no function "
                                                  "PJRT_Client_DmaMap"));
  EXPECT_EQ(bytes_.use_count(), 1);
}

TEST_F(HostMappingTest, RefusalKeepsCodeAndTextAndTheBytesMayBeMappedLater) {
  const auto healthy = fake_.api()->functions[static_cast<std::size_t>(abi::Slot::kClient_DmaMap)];
  fake_.replace(+[](abi::ClientDmaMapArgs*) -> abi::Error* {
    return FakePlugin::make_error(8, "too many locked pages");
  });
  const Result<Owner> refused = map(*bytes_, bytes_);
  EXPECT_EQ(refused.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(
      refused.error().message(),
      "cannot map " + std::to_string(bytes_->size()) +
          " bytes of the host: PJRT_Client_DmaMap of the plugin fake.so: too many locked pages");
  EXPECT_EQ(bytes_.use_count(), 1);
  fake_.api()->functions[static_cast<std::size_t>(abi::Slot::kClient_DmaMap)] = healthy;
  EXPECT_TRUE(map(*bytes_, bytes_));
  EXPECT_EQ(FakePlugin::errors_alive, 0);
}

TEST_F(HostMappingTest, CloseUnmapsWhatIsStillHeld) {
  Result<Owner> mapped = map(*bytes_, bytes_);
  ASSERT_TRUE(mapped);
  const Future<void> closed = client_->close();
  EXPECT_EQ(FakePlugin::unmaps, 0) << "unmapping may block";
  run();  // without a timer: it is closing
  EXPECT_EQ(FakePlugin::unmaps, 1);
  EXPECT_EQ(FakePlugin::last_unmapped, bytes_->data());
  EXPECT_EQ(bytes_.use_count(), 1);
  ASSERT_TRUE(closed.ready());
  EXPECT_TRUE(closed.result());
  // The handle may go after the client.
  close_device();
  static_cast<void>(client_->destroy());
  frees_.run_until_idle();
  client_.reset();
  mapped = nullptr;
  EXPECT_EQ(FakePlugin::unmaps, 1);
}

TEST_F(HostMappingTest, CloseUnmapsNothingBeforeWhatIsUnderWayHasEnded) {
  static abi::Event* copied = nullptr;
  fake_.replace(+[](abi::BufferToHostBufferArgs* args) -> abi::Error* {
    args->event = copied = FakePlugin::make_event();
    return nullptr;
  });
  const HostView view{.data = bytes_->data(), .shape = Shape(DType::kF32, {4})};
  Buffer buffer =
      client_->put(view, HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1)->buffer;
  Result<Owner> first = map(std::span(*bytes_).first(32), bytes_);
  const Result<Owner> second = map(std::span(*bytes_).subspan(32), bytes_);
  ASSERT_TRUE(first && second);
  const Future<void> fetched = buffer.body()->copy_to_host(std::span(*bytes_).first(16), bytes_);
  const Future<void> closed = client_->close();
  first = nullptr;
  run();
  EXPECT_EQ(FakePlugin::unmaps, 0) << "the plugin still writes there";
  FakePlugin::set_event(copied, 0, "");
  run();
  EXPECT_TRUE(fetched.result());
  EXPECT_EQ(FakePlugin::unmaps, 2);
  ASSERT_TRUE(closed.ready());
  EXPECT_TRUE(closed.result());
  buffer = Buffer();
  run();
}

TEST_F(HostMappingTest, WhatStaysMappedBecauseTheDeviceNeverEndedKeepsItsBytes) {
  static abi::Event* copied = nullptr;
  fake_.replace(+[](abi::BufferToHostBufferArgs* args) -> abi::Error* {
    args->event = copied = FakePlugin::make_event();
    return nullptr;
  });
  const HostView view{.data = bytes_->data(), .shape = Shape(DType::kF32, {4})};
  Buffer buffer =
      client_->put(view, HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1)->buffer;
  const auto last = std::make_shared<Bytes>();
  Result<Owner> mapped = map(*last, last);
  ASSERT_TRUE(mapped);
  const Future<void> fetched = buffer.body()->copy_to_host(std::span(*last).first(16), nullptr);
  const Future<void> closed = client_->close();
  advance(6s);
  ASSERT_TRUE(closed.ready());
  EXPECT_THAT(closed.result().error().message(), HasSubstr("never ended PJRT_Buffer_ToHostBuffer"));
  EXPECT_FALSE(fetched.result());
  mapped = nullptr;
  run();
  EXPECT_EQ(FakePlugin::unmaps, 0);
  EXPECT_EQ(last.use_count(), 2);
  buffer = Buffer();
  run();
  close_device();
  static_cast<void>(client_->destroy());
  run();
  client_.reset();
  FakePlugin::set_event(copied, 0, "");
}

// Real threads, because one of them blocks in the plugin: longer than a thread waits for frees that
// others make.
TEST_F(HostMappingTest, BytesThatAreBeingUnmappedCanBeMappedAgainHoweverLongThatTakes) {
  static std::latch* entered = nullptr;
  static std::latch* asked = nullptr;
  static TimePoint until;
  std::latch first(1), second(1);
  entered = &first;
  asked = &second;
  fake_.replace(+[](abi::ClientDmaUnmapArgs*) -> abi::Error* {
    if (entered == nullptr) return nullptr;  // at the end of the test
    std::exchange(entered, nullptr)->count_down();
    asked->wait();
    while (steady_clock().now() < until) std::this_thread::yield();
    return nullptr;
  });
  Result<Owner> mapped = map(*bytes_, bytes_);
  ASSERT_TRUE(mapped);
  mapped = nullptr;
  std::thread freeing([this] {
    clock_.advance(1s);
    timers_.run_due();
    frees_.run_until_idle();
  });
  first.wait();
  until = steady_clock().now() + 50ms;
  second.count_down();
  mapped = client_->map_host_memory(*bytes_, bytes_);
  EXPECT_GE(steady_clock().now(), until);
  freeing.join();
  EXPECT_TRUE(mapped) << mapped.error().to_string();
  EXPECT_EQ(FakePlugin::maps, 2);
}

TEST_F(HostMappingTest, CloseNamesTheUnmapThatDoesNotReturn) {
  static std::latch* entered = nullptr;
  static std::latch* unblock = nullptr;
  std::latch first(1), second(1);
  entered = &first;
  unblock = &second;
  fake_.replace(+[](abi::ClientDmaUnmapArgs*) -> abi::Error* {
    entered->count_down();
    unblock->wait();
    return nullptr;
  });
  Result<Owner> mapped = map(*bytes_, bytes_);
  ASSERT_TRUE(mapped);
  mapped = nullptr;
  std::thread freeing([this] {
    clock_.advance(1s);
    timers_.run_due();
    frees_.run_until_idle();
  });
  first.wait();
  // Who wants the same bytes mapped again waits for them no longer than the close does.
  std::thread mapping([this] { EXPECT_FALSE(client_->map_host_memory(*bytes_, bytes_)); });
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  const Future<void> closed = client_->close();
  for (const Duration by : {6s, 3s}) {
    clock_.advance(by);
    timers_.run_due();
  }
  ASSERT_TRUE(closed.ready());
  EXPECT_THAT(closed.result().error().message(),
              HasSubstr("not returned: PJRT_Client_DmaUnmap of the plugin fake.so"));
  EXPECT_TRUE(client_->given_up());
  mapping.join();
  second.count_down();
  freeing.join();
  close_device();
  client_.reset();
}

}  // namespace
}  // namespace millrace::devices::pjrt
