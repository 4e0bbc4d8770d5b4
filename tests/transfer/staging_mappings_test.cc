// Staging memory that a plugin's devices read by themselves: the memory plugin's, which maps.
#include "millrace/transfer/staging_mappings.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/device_actor.h"
#include "millrace/devices/pjrt/client.h"
#include "millrace/transfer/device_loader.h"
#include "millrace/transfer/fake_source.h"
#include "millrace/transfer/pages.h"
#include "millrace/transfer/staging_pool.h"
#include "tests/support/paths.h"

namespace millrace::transfer {
namespace {

namespace pjrt = devices::pjrt;
using devices::Device;

const pjrt::Plugin& memory_plugin() {
  return **pjrt::Plugin::load(testing::build_folder() + "/lib/memory_plugin.so");
}

// The same without the function that maps.
const pjrt::Plugin& plugin_that_does_not_map() {
  static pjrt::abi::Api api;
  static const pjrt::Plugin* const plugin = [] {
    void* const library =
        ::dlopen((testing::build_folder() + "/lib/memory_plugin.so").c_str(), RTLD_NOW);
    using GetApi = const pjrt::abi::Api* (*)();
    const pjrt::abi::Api* const whole = reinterpret_cast<GetApi>(::dlsym(library, "GetPjrtApi"))();
    std::memcpy(&api, whole, std::min(whole->struct_size, sizeof api));
    api.functions[static_cast<std::size_t>(pjrt::abi::Slot::kClient_DmaMap)] = nullptr;
    return pjrt::Plugin::adopt(&api, "unmapping").value();
  }();
  return *plugin;
}

bool is_there(const std::byte* page) {
  unsigned char resident = 0;
  return ::mincore(const_cast<std::byte*>(page), kPageBytes, &resident) == 0;
}

// Two devices of one client. Nothing runs but what a test runs.
class StagingMappingsTest : public ::testing::Test {
 protected:
  void open(const pjrt::Plugin& plugin) {
    client_ = pjrt::PjrtClient::create(
                  plugin, {.completions = &executor_, .driver = &driver_, .frees = &frees_})
                  .value();
    devices_ = devices::make_devices(*client_, {.environment = {.clock = &clock_,
                                                                .timers = &timers_,
                                                                .compute = &executor_,
                                                                .blocking = &driver_},
                                                .limits = {},
                                                .drivers = {&driver_, &driver_}});
  }
  void close() {
    for (const Device& device : devices_) device.close().ignore();
    devices_.clear();
    run();
    const Future<void> closed = client_->close();
    run();
    EXPECT_TRUE(closed.result());
    const Future<void> destroyed = client_->destroy();
    run();
    EXPECT_TRUE(destroyed.ready());
    client_.reset();
  }
  void run() {
    for (std::size_t ran = 1; ran != 0;)
      ran = driver_.run_until_idle() + frees_.run_until_idle() + executor_.run_until_idle();
  }
  // Whether the client has these bytes mapped.
  bool mapped(std::byte* page) {
    const Future<devices::Owner> again = devices_[0].map_host_memory({page, 1});
    run();
    const bool refused = !again.result();
    if (refused) {
      EXPECT_EQ(again.result().error().code(), ErrorCode::kAlreadyExists);
    }
    return refused;
  }
  StagingBlock block() { return pool_.acquire(3 * kPageBytes).take().value(); }

  ManualClock clock_;
  TimerQueue timers_{clock_};
  SerialExecutor executor_{SerialExecutor::InOrder{}};
  SerialExecutor driver_{SerialExecutor::InOrder{}};
  SerialExecutor frees_{SerialExecutor::InOrder{}};
  std::unique_ptr<pjrt::PjrtClient> client_;
  std::vector<Device> devices_;
  StagingPool pool_{{.max_bytes = 64 * kPageBytes}, timers_};
};

TEST_F(StagingMappingsTest, BlockIsMappedOnceForAllDevicesOfAClientAsLongAsThePoolKeepsIt) {
  open(memory_plugin());
  std::byte* page = nullptr;
  {
    const StagingBlock first = block();
    page = first.bytes().data();
    EXPECT_FALSE(mapped(page));
    first.map_for(devices_[0]);
    EXPECT_EQ(pool_.metrics().mapped_bytes, 0U) << "on the device's thread: it may block";
    executor_.run_until_idle();  // the device's turn
    EXPECT_GT(driver_.run_until_idle(), 0U);
    executor_.run_until_idle();
    EXPECT_EQ(pool_.metrics().mapped_bytes, StagingPool::block_bytes(3 * kPageBytes));
    EXPECT_TRUE(mapped(page));
  }
  const StagingBlock second = block();
  ASSERT_EQ(second.bytes().data(), page);
  for (const Device& device : devices_) second.map_for(device);
  executor_.run_until_idle();
  EXPECT_EQ(driver_.run_until_idle(), 0U) << "it is mapped already";
  EXPECT_TRUE(mapped(page + 2 * kPageBytes)) << "all of it";
  const StagingBlock other = block();
  other.map_for(devices_[1]);
  run();
  EXPECT_TRUE(mapped(other.bytes().data()));
  EXPECT_EQ(pool_.metrics().mapped_bytes, 2 * StagingPool::block_bytes(3 * kPageBytes));
  close();
}

TEST_F(StagingMappingsTest, PagesGoToTheSystemAfterTheyWereUnmapped) {
  open(memory_plugin());
  std::byte* page = nullptr;
  {
    const StagingBlock used = block();
    page = used.bytes().data();
    used.map_for(devices_[0]);
    run();
  }
  pool_.trim();
  EXPECT_EQ(pool_.metrics().mapped_bytes, 0U);
  EXPECT_TRUE(is_there(page)) << "the plugin may still read it";
  run();
  EXPECT_FALSE(is_there(page));
  EXPECT_FALSE(mapped(page));
  close();
}

// The mapping is asked for, and the block goes before it is made.
TEST_F(StagingMappingsTest, BlockThatGoesFirstIsMappedAndUnmappedAllTheSame) {
  open(memory_plugin());
  std::byte* page = nullptr;
  {
    const StagingBlock used = block();
    page = used.bytes().data();
    used.map_for(devices_[0]);
  }
  pool_.trim();
  EXPECT_TRUE(is_there(page));
  run();
  EXPECT_FALSE(is_there(page));
  close();
}

TEST_F(StagingMappingsTest, BlockOutlivesTheClientWhichHasUnmappedItThen) {
  open(memory_plugin());
  StagingBlock used = block();
  used.map_for(devices_[0]);
  run();
  close();
  std::byte* const page = used.bytes().data();
  *page = std::byte{1};  // the next client's, it may be
  open(memory_plugin());
  EXPECT_FALSE(mapped(page));
  used = StagingBlock();
  pool_.trim();
  EXPECT_FALSE(is_there(page));
  close();
}

TEST_F(StagingMappingsTest, ClientThatDoesNotMapIsAskedOnce) {
  open(plugin_that_does_not_map());
  const StagingBlock first = block(), second = block();
  first.map_for(devices_[0]);
  executor_.run_until_idle();
  EXPECT_GT(driver_.run_until_idle(), 0U);
  EXPECT_EQ(pool_.metrics().mapped_bytes, 0U);
  first.map_for(devices_[1]);
  second.map_for(devices_[0]);
  executor_.run_until_idle();
  EXPECT_EQ(driver_.run_until_idle(), 0U);
  close();
}

// As a user has it; on real threads, as the plugin has its own.
TEST(StagingMappingsUseTest, LoaderMapsItsBlocks) {
  const auto threads = make_executor(ExecutorBackend::kThreads, 3, "test");
  const auto driver = make_executor(ExecutorBackend::kThreads, 1, "driver");
  TimerQueue timers(steady_clock());
  auto client =
      pjrt::PjrtClient::create(memory_plugin(), {.completions = threads.get(),
                                                 .driver = driver.get(),
                                                 .settings = {{"devices", std::int64_t{1}}}})
          .value();
  const Environment environment{.clock = &steady_clock(),
                                .timers = &timers,
                                .compute = threads.get(),
                                .blocking = driver.get()};
  const auto device = devices::make_devices(
      *client, {.environment = environment, .limits = {}, .drivers = {driver.get()}})[0];
  const auto pool = std::make_shared<StagingPool>(StagingPoolOptions{}, timers);
  {
    const auto source = std::make_shared<FakeSource>(FakeSourceOptions{.items = 256});
    const DeviceLoader loader =
        DeviceLoader::create(environment, source, {device}, {.batch_size = 64, .pool = pool})
            .value();
    for (int step = 0; step < 4; ++step) {
      const auto batch = wait_blocking(loader.next(0));
      ASSERT_TRUE(batch) << batch.error().to_string();
      ASSERT_TRUE(batch->has_value());
    }
    EXPECT_GT(pool->metrics().mapped_bytes, 0U);
    EXPECT_TRUE(wait_blocking(loader.close()));
  }
  EXPECT_TRUE(wait_blocking(device.close()));
  EXPECT_TRUE(wait_blocking(client->close()));
  EXPECT_TRUE(wait_blocking(pool->close()));
  EXPECT_TRUE(wait_blocking(driver->close()));
  EXPECT_TRUE(wait_blocking(threads->close()));
  client.reset();  // last: a thread may have been releasing a batch's buffers until now
}

}  // namespace
}  // namespace millrace::transfer
