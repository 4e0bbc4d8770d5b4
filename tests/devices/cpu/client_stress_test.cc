// Real threads, since races are what this looks for: run it under ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/cpu/client.h"
#include "millrace/devices/device_actor.h"
#include "tests/support/cpu_programs.h"

namespace millrace::devices {
namespace {

using testing::increment_sum;
using testing::scripted;

constexpr std::int64_t kElements = 4;
constexpr std::size_t kDevices = 4;
const Shape kVector(DType::kF32, {kElements});

// Four CPU devices with their actors, on a few threads.
class CpuClientStressTest : public ::testing::TestWithParam<bool> {
 protected:
  CpuClientStressTest() {
    cpu::CpuClientOptions options;
    for (std::size_t i = 0; i < kDevices; ++i) {
      options.threads.push_back({.executor = programs_.get(), .parallel = parallel_.get()});
    }
    testing::ScriptedProgram increment{.inputs = {kVector},
                                       .outputs = {kVector},
                                       .donated = {0},
                                       .aliases = {{.output = 0, .input = 0}}};
    increment.body = [](const cpu::RunCall& call) { return increment_sum(call, kElements); };
    options.compile = scripted(increment);
    if (GetParam()) options.inline_time = std::chrono::milliseconds(1);
    client_ = std::make_unique<cpu::CpuClient>(std::move(options));
    devices_ = make_devices(*client_, {.environment = {.clock = &steady_clock(),
                                                       .timers = &timers_,
                                                       .compute = actors_.get(),
                                                       .blocking = actors_.get()},
                                       .limits = {.launches = 3, .bytes = 256},
                                       .inline_when_idle = GetParam()});
    increment_ = client_->compile(Program::from_text("increment"), {}).value();
  }
  ~CpuClientStressTest() override {
    for (const Device& device : devices_) EXPECT_TRUE(wait_blocking(device.close()).has_value());
    EXPECT_TRUE(wait_blocking(client_->close()).has_value());
    devices_.clear();
    increment_ = {};
    EXPECT_TRUE(wait_blocking(actors_->close()).has_value());
    EXPECT_TRUE(wait_blocking(programs_->close()).has_value());
  }
  static Future<Buffer> first(const Future<Buffers>& outputs) {
    return outputs.then(inline_executor(), [](Result<Buffers> out) -> Result<Buffer> {
      if (!out) return std::unexpected(out.error());
      return (*out)[0];
    });
  }

  std::unique_ptr<PoolExecutor> actors_ = make_executor(ExecutorBackend::kThreads, 2, "actors");
  std::unique_ptr<PoolExecutor> programs_ = make_executor(ExecutorBackend::kThreads, 2, "programs");
  std::unique_ptr<Parallel> parallel_ = make_serial_parallel();
  TimerQueue timers_{steady_clock()};
  std::unique_ptr<cpu::CpuClient> client_;
  std::vector<Device> devices_;
  Executable increment_;
};

TEST_P(CpuClientStressTest, ChainsOfManyThreadsGiveTheRightSums) {
  std::vector<std::thread> users;
  for (std::size_t user = 0; user < 6; ++user) {
    users.emplace_back([&, user] {
      for (int round = 0; round < 10; ++round) {
        const float zeros[kElements] = {};
        std::size_t d = user % kDevices;
        Future<Buffer> x = devices_[d].put({.data = zeros, .shape = kVector});
        for (int i = 0; i < 20; ++i) {
          x = first(devices_[d].execute(increment_, {x}));
          if (i % 7 == 6) {
            d = (d + 1) % kDevices;
            x = devices_[d].copy_from(x);
          }
        }
        const Result<HostArray> sum = wait_blocking(devices_[d].fetch(x));
        ASSERT_TRUE(sum.has_value()) << sum.error().to_string();
        EXPECT_EQ(sum->as<float>()[kElements - 1], 20);
      }
    });
  }
  for (std::thread& user : users) user.join();
}

TEST_P(CpuClientStressTest, EveryCallEndsWhileDevicesCloseAndCallersStop) {
  std::atomic<int> ended{0};
  std::vector<std::thread> users;
  for (unsigned user = 0; user < 6; ++user) {
    users.emplace_back([&, user] {
      std::mt19937 random(user);
      std::vector<Future<Buffer>> results;
      std::stop_source stop;
      for (int i = 0; i < 200; ++i) {
        const Device& device = devices_[random() % kDevices];
        CallOptions call;
        if (random() % 4 == 0) call.stop = stop.get_token();
        const float zeros[kElements] = {};
        Future<Buffer> x = device.put({.data = zeros, .shape = kVector});
        results.push_back(first(device.execute(increment_, {x}, {.call = call})));
        if (random() % 20 == 0) {
          stop.request_stop();
          stop = {};
        }
        if (i == 150 && user == 0) static_cast<void>(devices_[0].close());
      }
      for (const Future<Buffer>& result : results) {
        static_cast<void>(wait_blocking(result));
        ended.fetch_add(1);
      }
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(ended.load(), 6 * 200);
}

INSTANTIATE_TEST_SUITE_P(Actors, CpuClientStressTest, ::testing::Bool(), [](const auto& info) {
  return info.param ? "Inline" : "OnTheirExecutor";
});

}  // namespace
}  // namespace millrace::devices
