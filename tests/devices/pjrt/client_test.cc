// PjrtClient over XLA's own CPU client: what the device suite does not ask of every backend.
#include "millrace/devices/pjrt/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/device_actor.h"
#include "tests/devices/pjrt/fake_plugin.h"
#include "tests/support/plugins.h"

namespace millrace::devices::pjrt {
namespace {

using ::testing::ElementsAre;
using testing::FakePlugin;
using ::testing::HasSubstr;

using Vector = std::array<float, 4>;
const Shape kVector(DType::kF32, {4});

constexpr const char* kAdd = R"(
func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
})";
// The sum over two devices.
constexpr const char* kAllReduce = R"(
module @sum attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{
    channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  }> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}})";

class XlaClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto plugins = testing::plugins_at_hand();
    const auto found = plugins.find("Xla0115");
    if (found == plugins.end()) GTEST_SKIP() << "no plugin here: tests/fetch_plugins gets it";
    plugin_ = Plugin::load(found->second).value();
    client_ = open({{"cpu_device_count", std::int64_t{2}}}).value();
  }
  void TearDown() override {
    if (client_) {
      EXPECT_TRUE(wait_blocking(client_->close()));
    }
    client_.reset();
    EXPECT_TRUE(wait_blocking(threads_->close()));
  }
  Result<std::unique_ptr<PjrtClient>> open(std::map<std::string, Attribute> settings) {
    return PjrtClient::create(*plugin_,
                              {.completions = threads_.get(), .settings = std::move(settings)});
  }
  Buffer put(const Vector& values, int device = 0) {
    return client_
        ->put({.data = values.data(), .shape = kVector},
              HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{device}, -1)
        .value()
        .buffer;
  }
  static Vector read(const Buffer& buffer) {
    Vector values{};
    EXPECT_TRUE(wait_blocking(
        buffer.body()->copy_to_host(std::as_writable_bytes(std::span(values)), nullptr)));
    return values;
  }

  const Plugin* plugin_ = nullptr;
  std::unique_ptr<PoolExecutor> threads_ = make_executor(ExecutorBackend::kThreads, 2, "events");
  std::unique_ptr<PjrtClient> client_;
};

TEST_F(XlaClientTest, PluginReportsItsVersionAndAttributes) {
  EXPECT_EQ(plugin_->version_text(), "0.115");
  const auto& attributes = plugin_->attributes();
  ASSERT_TRUE(attributes.contains("stablehlo_current_version"));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(attributes.at("stablehlo_current_version")).size(),
            3u);
  EXPECT_EQ(Plugin::load(testing::plugins_at_hand().at("Xla0115")).value(), plugin_);
}

TEST_F(XlaClientTest, CreateOptionOfTheWrongTypeIsThePluginsErrorWithTheCall) {
  const auto refused = open({{"cpu_device_count", std::string("two")}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(),
              ::testing::StartsWith("opening devices (PJRT API 0.115): PJRT_Client_Create of the "
                                    "plugin " +
                                    plugin_->name() + ": "));
}

TEST_F(XlaClientTest, HostReadsInPlaceAndTheMemoryStaysWhileItDoes) {
  Buffer a = put({1, 2, 3, 4});
  ASSERT_TRUE(wait_blocking(a.ready()));
  Result<HostAccess> access = a.host_access();
  ASSERT_TRUE(access) << access.error().to_string();
  a.remove();
  a = Buffer();
  const auto* values = reinterpret_cast<const float*>(access->bytes.data());
  EXPECT_THAT(std::span(values, 4), ElementsAre(1, 2, 3, 4));
  access->owner.reset();
}

TEST_F(XlaClientTest, ProgramOfTwoReplicasRunsOnBothDevicesAtOnce) {
  CompileOptions options;
  options.replicas = 2;
  options.devices = {DeviceId{0}, DeviceId{1}};
  const Result<Executable> sum = client_->compile(Program::from_text(kAllReduce, "sum"), options);
  ASSERT_TRUE(sum) << sum.error().to_string();
  EXPECT_EQ(sum->body()->devices_per_launch(), 2);
  TimerQueue timers(steady_clock());
  const std::vector<Device> devices =
      make_devices(*client_, {.environment = {.clock = &steady_clock(),
                                              .timers = &timers,
                                              .compute = threads_.get(),
                                              .blocking = threads_.get()}});
  const Argument first[] = {put({1, 2, 3, 4}, 0)};
  const Argument second[] = {put({10, 20, 30, 40}, 1)};
  const std::span<const Argument> arguments[] = {first, second};
  const Result<Buffers> out = wait_blocking(launch_spanning(devices, *sum, arguments));
  ASSERT_TRUE(out) << out.error().to_string();
  ASSERT_EQ(out->size(), 2u);
  for (int d = 0; d < 2; ++d) {
    EXPECT_EQ((*out)[static_cast<std::size_t>(d)].device(), DeviceId{d});
    EXPECT_THAT(read((*out)[static_cast<std::size_t>(d)]), ElementsAre(11, 22, 33, 44));
  }
  for (const Device& device : devices) EXPECT_TRUE(wait_blocking(device.close()));
}

TEST_F(XlaClientTest, BufferThatStandsTwiceIsNotDonated) {
  const Result<Executable> add = client_->compile(Program::from_text(R"(
func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32>)
    -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
})",
                                                                     "add"),
                                                  {});
  ASSERT_TRUE(add) << add.error().to_string();
  EXPECT_THAT(add->donated_inputs(), ElementsAre(true, false));
  const Buffer a = put({1, 2, 3, 4});
  const Buffer inputs[] = {a, a};
  const std::span<const Buffer> lists[] = {inputs};
  const DeviceId devices[] = {DeviceId{0}};
  LaunchResult result;
  ASSERT_TRUE(add->body()->launch({.devices = devices, .arguments = lists}, {&result, 1}));
  EXPECT_TRUE(wait_blocking(result.done));
  EXPECT_THAT(read(result.outputs[0]), ElementsAre(2, 4, 6, 8));
  EXPECT_FALSE(a.removed());
  EXPECT_THAT(read(a), ElementsAre(1, 2, 3, 4));
}

TEST_F(XlaClientTest, ProgramThatIsBoundToADeviceRunsThereOnly) {
  CompileOptions bound;
  bound.portable = false;
  bound.devices = {DeviceId{1}};
  const Executable add = client_->compile(Program::from_text(kAdd, "add"), bound).value();
  const auto run_on = [&](int device) -> Result<Vector> {
    const Buffer a = put({1, 2, 3, 4}, device);
    const Buffer inputs[] = {a, a};
    const std::span<const Buffer> lists[] = {inputs};
    const DeviceId devices[] = {DeviceId{device}};
    LaunchResult result;
    MILLRACE_TRY_STATUS(add.body()->launch({.devices = devices, .arguments = lists}, {&result, 1}));
    MILLRACE_TRY_STATUS(wait_blocking(result.done));
    return read(result.outputs[0]);
  };
  EXPECT_THAT(run_on(1).value(), ElementsAre(2, 4, 6, 8));
  EXPECT_EQ(run_on(0).error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(XlaClientTest, DeviceThatIsNoneIsRefusedBeforeThePluginSeesIt) {
  const Executable one = client_
                             ->compile(Program::from_text(R"(
func.func public @main() -> tensor<f32> {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0 : tensor<f32>
})",
                                                          "one"),
                                       {})
                             .value();
  const std::span<const Buffer> lists[] = {{}};
  for (const int device : {-1, 2}) {
    const DeviceId devices[] = {DeviceId{device}};
    LaunchResult result;
    const Status launched =
        one.body()->launch({.devices = devices, .arguments = lists}, {&result, 1});
    ASSERT_FALSE(launched);
    EXPECT_EQ(launched.error().code(), ErrorCode::kInvalidArgument);
  }
}

TEST_F(XlaClientTest, CopyGoesToAnotherMemoryOfADevice) {
  const DeviceInfo& info = client_->devices()[0];
  ASSERT_GT(info.memories.size(), 1u);
  const Buffer a = put({1, 2, 3, 4});
  const Result<Buffer> pinned = client_->copy(a, DeviceId{0}, info.memories[1]);
  ASSERT_TRUE(pinned) << pinned.error().to_string();
  EXPECT_THAT(read(*pinned), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(client_->copy(a, DeviceId{0}, 12345).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(client_->copy(a, DeviceId{9}, -1).error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(XlaClientTest, ManyThreadsPutRunAndFetchAtOnce) {
  const Executable add = client_->compile(Program::from_text(kAdd, "add"), {}).value();
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      const auto value = static_cast<float>(t);
      Buffer sum = put({value, 0, 0, 0}, t % 2);
      const Buffer one = put({1, 1, 1, 1}, t % 2);
      const DeviceId devices[] = {DeviceId{t % 2}};
      for (int i = 0; i < 200; ++i) {
        const Buffer inputs[] = {sum, one};
        const std::span<const Buffer> lists[] = {inputs};
        LaunchResult result;
        const LaunchArguments call = {.devices = devices, .arguments = lists};
        if (i % 8 == 0 && !add.body()->launch(call, {&result, 1})) return;  // its result is dropped
        if (!add.body()->launch(call, {&result, 1})) return;
        sum = result.outputs[0];
        result.done.ignore();
      }
      if (read(sum)[0] == value + 200) ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 16);
}

TEST(FakeClientTest, WhatAPluginLacksIsNamedAndNothingIsLeaked) {
  FakePlugin fake;
  const Plugin* plugin = Plugin::adopt(fake.api(), "fake.so").value();
  const auto threads = make_executor(ExecutorBackend::kThreads, 1, "events");
  {
    auto client = PjrtClient::create(*plugin, {.completions = threads.get()}).value();
    EXPECT_EQ(client->platform_name(), "fake");
    EXPECT_EQ(client->devices()[0].kind, "fake device");
    const Vector values = {1, 2, 3, 4};
    const PutResult put = client
                              ->put({.data = values.data(), .shape = kVector},
                                    HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1)
                              .value();
    Vector back{};
    ASSERT_TRUE(wait_blocking(
        put.buffer.body()->copy_to_host(std::as_writable_bytes(std::span(back)), nullptr)));
    EXPECT_EQ(back, values);
    const auto missing = client->compile(Program::from_text(kAdd, "add"), {});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code(), ErrorCode::kUnimplemented);
    EXPECT_THAT(missing.error().message(), HasSubstr("PJRT_Client_Compile"));
    EXPECT_EQ(put.buffer.host_access().error().code(), ErrorCode::kUnimplemented);
    EXPECT_EQ(client->memory_stats(DeviceId{0}).error().code(), ErrorCode::kUnimplemented);
    EXPECT_TRUE(wait_blocking(client->close()));
  }
  EXPECT_TRUE(wait_blocking(threads->close()));
  EXPECT_EQ(FakePlugin::buffers_alive, 0);
  EXPECT_EQ(FakePlugin::events_alive, 0);
  EXPECT_EQ(FakePlugin::clients_alive, 0);
}

TEST(FakeClientTest, CreationThatFailsOrGivesNothingIsAnError) {
  FakePlugin fake;
  const Plugin* plugin = Plugin::adopt(fake.api(), "fake.so").value();
  fake.replace(+[](abi::ClientCreateArgs*) -> abi::Error* { return nullptr; });
  const auto threads = make_executor(ExecutorBackend::kThreads, 1, "events");
  const auto none = PjrtClient::create(*plugin, {.completions = threads.get()});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), ErrorCode::kInternal);
  EXPECT_THAT(none.error().message(), HasSubstr("gives no client"));
  EXPECT_TRUE(wait_blocking(threads->close()));
}

std::vector<abi::Device*> listed;

// What the plugin's list of devices gives.
Error refusal_of(FakePlugin& fake) {
  const Plugin* plugin = Plugin::adopt(fake.api(), "fake.so").value();
  fake.replace(+[](abi::ClientAddressableDevicesArgs* a) -> abi::Error* {
    a->devices = listed.data();
    a->num_devices = listed.size();
    return nullptr;
  });
  const auto threads = make_executor(ExecutorBackend::kThreads, 1, "events");
  const auto client = PjrtClient::create(*plugin, {.completions = threads.get()});
  EXPECT_TRUE(wait_blocking(threads->close()));
  EXPECT_FALSE(client);
  return client ? Error(ErrorCode::kUnknown, "it was opened") : client.error();
}

TEST(FakeClientTest, PluginWithoutDevicesOrWithStrangeOnesIsNotOpened) {
  FakePlugin fake;
  char places[2] = {};
  auto* const one = reinterpret_cast<abi::Device*>(&places[0]);
  const std::string call = "PJRT_Client_AddressableDevices of the plugin fake.so gives ";
  listed = {};
  EXPECT_EQ(refusal_of(fake).code(), ErrorCode::kUnavailable);
  EXPECT_THAT(refusal_of(fake).message(), HasSubstr(call + "no devices: "));
  listed = {one, nullptr};
  EXPECT_THAT(refusal_of(fake).message(), HasSubstr(call + "a null pointer as device 1 of 2"));
  listed = {one, one};
  EXPECT_THAT(refusal_of(fake).message(), HasSubstr(call + "a device twice, again as device 1"));
  fake.replace(+[](abi::ClientAddressableDevicesArgs* a) -> abi::Error* {
    a->devices = listed.data();
    a->num_devices = std::size_t{1} << 61;
    return nullptr;
  });
  const auto threads = make_executor(ExecutorBackend::kThreads, 1, "events");
  const auto huge = PjrtClient::create(*Plugin::adopt(fake.api(), "fake.so").value(),
                                       {.completions = threads.get()});
  EXPECT_TRUE(wait_blocking(threads->close()));
  ASSERT_FALSE(huge);
  EXPECT_THAT(huge.error().message(), HasSubstr(call + "2305843009213693952 devices"));
  EXPECT_EQ(FakePlugin::clients_alive, 0);
}

// Devices at 0 and 1, their memories at 2 and 3.
char places[4];
template <class T>
T* at(std::size_t place) {
  return reinterpret_cast<T*>(&places[place]);  // only the plugin would look into it
}
abi::Memory* named = nullptr;

TEST(FakeClientTest, MemoriesWhoseNumbersRepeatAreTheirDevices) {
  FakePlugin fake;
  fake.replace(+[](abi::ClientAddressableDevicesArgs* a) -> abi::Error* {
    static abi::Device* const devices[] = {at<abi::Device>(0), at<abi::Device>(1)};
    a->devices = devices;
    a->num_devices = 2;
    return nullptr;
  });
  fake.replace(+[](abi::DeviceAddressableMemoriesArgs* a) -> abi::Error* {
    static abi::Memory* const memories[] = {at<abi::Memory>(2), at<abi::Memory>(3)};
    a->memories = &memories[a->device == at<abi::Device>(0) ? 0 : 1];
    a->num_memories = 1;
    return nullptr;
  });
  fake.replace(+[](abi::ClientBufferFromHostBufferArgs* a) -> abi::Error* {
    named = a->memory;
    return FakePlugin::make_error(12, "not put");
  });
  const auto threads = make_executor(ExecutorBackend::kThreads, 1, "events");
  {
    const auto client = PjrtClient::create(*Plugin::adopt(fake.api(), "fake.so").value(),
                                           {.completions = threads.get()})
                            .value();
    const Vector values = {1, 2, 3, 4};
    for (const int device : {0, 1}) {
      named = nullptr;
      const int memory = client->devices()[static_cast<std::size_t>(device)].memories.at(0);
      EXPECT_FALSE(client->put({.data = values.data(), .shape = kVector},
                               HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{device},
                               memory));
      EXPECT_EQ(named, at<abi::Memory>(device == 0 ? 2 : 3));
    }
    ASSERT_EQ(client->memories().size(), 1u);
    EXPECT_THAT(client->memories()[0].devices, ElementsAre(DeviceId{0}, DeviceId{1}));
    EXPECT_TRUE(wait_blocking(client->close()));
  }
  EXPECT_TRUE(wait_blocking(threads->close()));
}

abi::Event* fetched = nullptr;

// What a plugin leaves above the bits of an element is its own.
TEST(FakeClientTest, SmallElementsAreWholeBytesWhateverThePluginLeavesAboveThem) {
  FakePlugin fake;
  const auto threads = make_executor(ExecutorBackend::kThreads, 1, "events");
  const auto client = PjrtClient::create(*Plugin::adopt(fake.api(), "fake.so").value(),
                                         {.completions = threads.get()})
                          .value();
  const auto fetch = [&](DType type, bool at_once) {
    fake.replace(at_once ? +[](abi::BufferToHostBufferArgs* a) -> abi::Error* {
      constexpr unsigned char kBytes[] = {0x0e, 0xf1, 0x50, 0x07};
      std::ranges::copy(kBytes, static_cast<unsigned char*>(a->dst));
      a->event = FakePlugin::make_event();
      FakePlugin::set_event(a->event, 0, "");
      return nullptr;
    } : +[](abi::BufferToHostBufferArgs* a) -> abi::Error* {
      constexpr unsigned char kBytes[] = {0x0e, 0xf1, 0x50, 0x07};
      std::ranges::copy(kBytes, static_cast<unsigned char*>(a->dst));
      a->event = fetched = FakePlugin::make_event();
      return nullptr;
    });
    const Vector room{};  // the plugin takes four bytes for each
    const Buffer buffer = client
                              ->put({.data = room.data(), .shape = Shape(type, {4})},
                                    HostBufferSemantics::kImmutableOnlyDuringCall, DeviceId{0}, -1)
                              .value()
                              .buffer;
    std::array<std::int8_t, 4> back{};
    const Future<void> done =
        buffer.body()->copy_to_host(std::as_writable_bytes(std::span(back)), nullptr);
    EXPECT_EQ(done.ready(), at_once);
    if (!at_once) FakePlugin::set_event(fetched, 0, "");
    EXPECT_TRUE(wait_blocking(done));
    return back;
  };
  for (const bool at_once : {true, false}) {
    EXPECT_THAT(fetch(DType::kI4, at_once), ElementsAre(-2, 1, 0, 7));
    EXPECT_THAT(fetch(DType::kU4, at_once), ElementsAre(14, 1, 0, 7));
    EXPECT_THAT(fetch(DType::kI2, at_once), ElementsAre(-2, 1, 0, -1));
    EXPECT_THAT(fetch(DType::kU2, at_once), ElementsAre(2, 1, 0, 3));
    EXPECT_THAT(fetch(DType::kI8, at_once), ElementsAre(14, -15, 80, 7));
    EXPECT_THAT(fetch(DType::kI1, at_once), ElementsAre(14, -15, 80, 7));
  }
  EXPECT_TRUE(wait_blocking(client->close()));
  EXPECT_TRUE(wait_blocking(threads->close()));
}

}  // namespace
}  // namespace millrace::devices::pjrt
