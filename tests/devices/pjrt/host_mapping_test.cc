// Host memory that a plugin maps: what it is asked for, on which thread, and when it is let go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "millrace/core/clock.h"
#include "millrace/core/timer_queue.h"
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
    device_ = Device();
    if (!client_) return;
    const Future<void> closed = client_->close();
    run();
    ASSERT_TRUE(closed.ready());
    const Future<void> destroyed = client_->destroy();
    frees_.run_until_idle();
    EXPECT_TRUE(destroyed.ready());
    EXPECT_EQ(FakePlugin::clients_alive, 0);
    client_.reset();
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
    driver_.run_until_idle();
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
  EXPECT_EQ(FakePlugin::maps, 0) << "not on the caller's thread: it may block";
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
  EXPECT_EQ(FakePlugin::unmaps, 0) << "somebody still has it";
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
  EXPECT_THAT(refused.error().message(), HasSubstr("PJRT_Client_DmaMap: too many locked pages"));
  EXPECT_EQ(bytes_.use_count(), 1);
  fake_.api()->functions[static_cast<std::size_t>(abi::Slot::kClient_DmaMap)] = healthy;
  EXPECT_TRUE(map(*bytes_, bytes_));
  EXPECT_EQ(FakePlugin::errors_alive, 0);
}

TEST_F(HostMappingTest, CloseWaitsForIt) {
  Result<Owner> mapped = map(*bytes_, bytes_);
  ASSERT_TRUE(mapped);
  const Future<void> closed = client_->close();
  advance(1s);
  EXPECT_FALSE(closed.ready());
  mapped = nullptr;
  run();  // without a timer: it is closing
  EXPECT_EQ(FakePlugin::unmaps, 1);
  ASSERT_TRUE(closed.ready());
  EXPECT_TRUE(closed.result());
}

TEST_F(HostMappingTest, CloseSaysInTimeThatSomebodyStillHoldsIt) {
  Result<Owner> mapped = map(*bytes_, bytes_);
  ASSERT_TRUE(mapped);
  const Future<void> closed = client_->close();
  advance(6s);
  EXPECT_FALSE(closed.ready());
  advance(3s);
  ASSERT_TRUE(closed.ready());
  EXPECT_EQ(closed.result().error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(closed.result().error().message(),
              HasSubstr("somebody still holds host memory that the plugin fake.so has mapped"));
  // A client that was given up calls nothing more, and goes after whoever holds it.
  mapped = nullptr;
  run();
  EXPECT_EQ(FakePlugin::unmaps, 0);
  device_ = Device();
  client_.reset();
  EXPECT_EQ(FakePlugin::clients_alive, 1);
}

}  // namespace
}  // namespace millrace::devices::pjrt
