// Calls of a device whose host has no memory for what they need: their futures tell how much was
// asked for what, the process goes on, and so does the device. On real threads: a driver's stack is
// where a std::bad_alloc would end the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/base/memory_left.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/device_actor.h"
#include "tests/support/memory_limit.h"
#include "tests/support/stub_client.h"
#include "tests/support/stub_executable.h"

namespace millrace::devices {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kMiB = std::size_t{1} << 20;
const Shape kLarge(DType::kI8, {64 * kMiB});

// Bytes that the host reads by a copy alone.
class FarBuffer final : public BufferBody {
 public:
  FarBuffer(Client& client, Shape shape) : client_(client), shape_(std::move(shape)) {}
  const Shape& shape() const override { return shape_; }
  Client& client() const override { return client_; }
  DeviceId device() const override { return DeviceId{0}; }
  std::size_t size_bytes() const override { return shape_.size_bytes(); }
  Future<void> ready() const override { return make_ready(); }
  Future<void> copy_to_host(std::span<std::byte>, Owner) override { return make_ready(); }
  Result<HostAccess> host_access() override { return fail(ErrorCode::kUnimplemented, "far away"); }
  void remove() override {}
  bool removed() const override { return false; }

 private:
  Client& client_;
  const Shape shape_;
};

// As a backend that needs an array of the host's for a launch.
class HungryExecutable final : public testing::StubExecutable {
 public:
  HungryExecutable(Client& client, int devices) : StubExecutable(client, "hungry", devices) {}
  Status launch(const LaunchArguments&, std::span<LaunchResult>) override {
    static_cast<void>(HostArray::make_unwritten(kLarge));
    return fail(ErrorCode::kInternal, "there was memory");
  }
};

// Its devices run to their end, and what comes of it is too long a list for the host.
class ProlificExecutable final : public testing::StubExecutable {
 public:
  explicit ProlificExecutable(Client& client) : StubExecutable(client, "prolific", 2) {}
  Status launch(const LaunchArguments&, std::span<LaunchResult> results) override {
    for (LaunchResult& one : results) one = {.outputs = outputs_, .done = make_ready()};
    return {};
  }

 private:
  const Buffers outputs_{std::span<const Buffer>(std::vector<Buffer>(4 * kMiB))};
};

class ShortOfMemoryTest : public ::testing::TestWithParam<bool> {
 protected:
  // Two devices of a client, on its caller's threads or on the driver's.
  struct Client final : testing::StubClient {
    explicit Client(bool may_block) : StubClient(2), may_block_(may_block) {}
    bool calls_may_block() const override { return may_block_; }
    const bool may_block_;
  };
  void SetUp() override {
    if (!testing::kMemoryCanBeLimited) GTEST_SKIP() << "a sanitizer takes the addresses for itself";
  }
  void TearDown() override {
    for (const auto* devices : {&devices_, &others_}) {
      for (const Device& each : *devices) EXPECT_TRUE(wait_blocking(each.close()));
    }
  }
  std::vector<Device> make(Client& client) {
    return make_devices(client, {.environment = {.clock = &steady_clock(),
                                                 .timers = &timers_,
                                                 .compute = compute_.get(),
                                                 .blocking = compute_.get(),
                                                 .parallel = nullptr},
                                 .limits = {},
                                 .inline_when_idle = true,
                                 .drivers = {driver_.get(), driver_.get()}});
  }
  template <class T>
  static void expect_shortage(const Future<T>& future, const std::string& what) {
    const Result<T> result = wait_blocking(future);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), ErrorCode::kResourceExhausted) << result.error().to_string();
    EXPECT_THAT(result.error().message(),
                AllOf(HasSubstr(what + ": no memory for an array of the host"),
                      HasSubstr("67108864 bytes")));
    const auto* const shortage = result.error().template detail<MemoryShortage>();
    ASSERT_NE(shortage, nullptr);
    EXPECT_EQ(shortage->bytes, 64 * kMiB);
  }

  TimerQueue timers_{steady_clock()};
  std::unique_ptr<PoolExecutor> driver_ = make_executor(ExecutorBackend::kThreads, 1, "driver");
  std::unique_ptr<PoolExecutor> compute_ = make_executor(ExecutorBackend::kThreads, 1, "compute");
  Client client_{GetParam()}, other_{GetParam()};
  std::vector<Device> devices_ = make(client_), others_ = make(other_);
};

TEST_P(ShortOfMemoryTest, CallTellsItAndTheDeviceGoesOn) {
  const Buffer large(make_ref<FarBuffer>(client_, kLarge));
  const Buffer small(make_ref<FarBuffer>(client_, Shape(DType::kI8, {8})));
  const Device& device = devices_[0];
  const auto hungry = [this](int n) { return Executable(make_ref<HungryExecutable>(client_, n)); };
  {
    const testing::MemoryLimit limit(kReservedBytes + 16 * kMiB);
    expect_shortage(device.fetch(large), "the fetch from device 0");
    expect_shortage(others_[1].copy_from(large), "the copy to device 1");
    expect_shortage(device.execute(hungry(1), {}), "the launch of hungry");
    const std::span<const Argument> none[2] = {};
    expect_shortage(launch_spanning(devices_, hungry(2), none), "the launch of hungry");
    const char byte = 0;
    expect_shortage(device.put({.data = &byte, .shape = kLarge}),
                    "the copy of a tensor<67108864xi8> that a put without an owner makes");
  }
  EXPECT_TRUE(wait_blocking(device.fetch(small)));
}

// Else neither would close.
TEST_P(ShortOfMemoryTest, WhereAllDevicesHaveRunALaunchTheirSeatsAreFreeAgain) {
  const Executable prolific(make_ref<ProlificExecutable>(client_));
  const std::span<const Argument> none[2] = {};
  {
    const testing::MemoryLimit limit(kReservedBytes + 16 * kMiB);
    const Result<Buffers> outputs = wait_blocking(launch_spanning(devices_, prolific, none));
    ASSERT_FALSE(outputs);
    EXPECT_EQ(outputs.error().code(), ErrorCode::kResourceExhausted);
    EXPECT_THAT(outputs.error().message(), HasSubstr("the launch of prolific"));
  }
  for (const Device& each : devices_) EXPECT_TRUE(wait_blocking(each.close()));
}

INSTANTIATE_TEST_SUITE_P(OnACallersOrADriversThread, ShortOfMemoryTest, ::testing::Bool());

}  // namespace
}  // namespace millrace::devices
