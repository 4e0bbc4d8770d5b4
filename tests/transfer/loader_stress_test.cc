// The loader on real threads and real time: races between stages, consumers, stops and close()
// cannot show in a simulation of one thread.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/device_actor.h"
#include "millrace/devices/sim/sim_client.h"
#include "millrace/transfer/device_loader.h"
#include "tests/transfer/scripted_source.h"

namespace millrace::transfer {
namespace {

using devices::DeviceId;
using devices::sim::SimClient;
using std::chrono::microseconds;

// Drives a TimerQueue on a thread of its own.
class TimerThread {
 public:
  explicit TimerThread(TimerQueue& timers) : timers_(timers) {
    timers_.set_wake([this] {
      const std::lock_guard lock(mutex_);
      woken_ = true;
      condition_.notify_one();
    });
    thread_ = std::thread([this] { run(); });
  }
  ~TimerThread() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      condition_.notify_one();
    }
    thread_.join();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!ended_) {
      woken_ = false;
      lock.unlock();
      timers_.run_due();
      const std::optional<TimePoint> next = timers_.next_deadline();
      lock.lock();
      const auto wake = [this] { return woken_ || ended_; };
      if (next) {
        condition_.wait_until(lock, *next, wake);
      } else {
        condition_.wait(lock, wake);
      }
    }
  }

  TimerQueue& timers_;
  std::mutex mutex_;
  std::condition_variable condition_;
  bool woken_ = false;
  bool ended_ = false;
  std::thread thread_;
};

// Threads, timers and simulated devices on real time.
struct World {
  TimerQueue timers{steady_clock()};
  TimerThread driver{timers};
  std::unique_ptr<PoolExecutor> compute = make_executor(ExecutorBackend::kThreads, 3, "compute");
  std::unique_ptr<PoolExecutor> blocking = make_executor(ExecutorBackend::kThreads, 3, "blocking");
  Environment environment{&steady_clock(), &timers, compute.get(), blocking.get()};
  SimClient client{{.timers = &timers,
                    .devices = 3,
                    .transfer_latency = microseconds(20),
                    .zero_copy = true,
                    .host_access = true,
                    .record_events = false}};
  std::vector<devices::Device> devices =
      devices::make_devices(client, {.environment = environment});

  ~World() {
    for (const devices::Device& device : devices)
      EXPECT_TRUE(wait_blocking(device.close()).has_value());
    devices.clear();
    EXPECT_TRUE(wait_blocking(client.close()).has_value());
    EXPECT_TRUE(wait_blocking(compute->close()).has_value());
    EXPECT_TRUE(wait_blocking(blocking->close()).has_value());
  }
};

// Takes batches of a device until the end, an error or a stop; true if all came, in order and
// intact.
bool consume(const DeviceLoader& loader, int device, std::atomic<std::uint64_t>& taken) {
  for (std::uint64_t sequence = 0;; ++sequence) {
    const auto batch = wait_blocking(loader.next(device));
    if (!batch.has_value()) return false;
    if (!batch->has_value()) return sequence == loader.plan().steps_per_epoch();
    taken.fetch_add(1);
    EXPECT_EQ((*batch)->sequence, sequence);
    const auto access = (*batch)->arrays[0].host_access();
    if (!access.has_value()) return false;
    const Shard shard = loader.plan().shard(0, (*batch)->step, device);
    const BatchPlan::Epoch order = loader.plan().epoch(0);
    for (std::int64_t row = 0; row < shard.rows; ++row) {
      std::uint64_t item = 0;
      std::memcpy(&item, access->bytes.data() + row * 8, 8);
      EXPECT_EQ(item, order.item(shard.first + static_cast<std::uint64_t>(row)));
    }
  }
}

LoaderOptions stress_options(bool zero_copy) {
  return {.batch_size = 12,
          .shuffle = true,
          .reads_in_flight = 6,
          .decodes_in_flight = 3,
          .host_bytes_per_device = 5 * 4096,
          .device_bytes_per_device = 3 * 32,
          .zero_copy = zero_copy};
}

TEST(LoaderStressTest, ManyThreadsKeepOrderAndLoseNothing) {
  World world;
  for (const bool zero_copy : {true, false}) {
    auto source = std::make_shared<ScriptedSource>(world.environment, 12 * 500);
    source->read_time = [](const SourceBatch& batch) {
      return microseconds(batch.items[0] % 3 * 20);
    };
    const DeviceLoader loader =
        DeviceLoader::create(world.environment, source, world.devices, stress_options(zero_copy))
            .value();
    std::atomic<std::uint64_t> taken{0};
    std::vector<std::thread> threads;
    for (int device = 0; device < 3; ++device) {
      threads.emplace_back([&, device] { EXPECT_TRUE(consume(loader, device, taken)); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(taken.load(), 3u * 500);
    for (const DeviceQueueStats& queue : loader.stats().devices) {
      EXPECT_LE(queue.use.peak_host_bytes, 5u * 4096);
      EXPECT_LE(queue.use.peak_device_bytes, 3u * 32);
    }
    EXPECT_TRUE(wait_blocking(loader.close()).has_value());
  }
}

TEST(LoaderStressTest, CloseDropAndErrorsAtAnyMomentLeaveNoConsumerWaiting) {
  World world;
  for (std::uint64_t round = 0; round < 60; ++round) {
    auto source = std::make_shared<ScriptedSource>(world.environment, 12 * 200);
    if (round % 3 == 0) {
      source->on_decode = [round](const SourceBatch& batch, std::stop_token) -> Future<void> {
        if (batch.step == round) throw std::runtime_error("a corrupt item");
        return {};
      };
    }
    std::atomic<std::uint64_t> taken{0};
    std::vector<std::thread> threads;
    {
      const DeviceLoader loader = DeviceLoader::create(world.environment, source, world.devices,
                                                       stress_options(round % 2 == 0))
                                      .value();
      for (int device = 0; device < 3; ++device) {
        threads.emplace_back([&, device] { consume(loader, device, taken); });
      }
      // Some of the way, by progress and not by time.
      while (taken.load() < round * 3 && source.use_count() > 0) {
        if (loader.stats().devices[0].delivered >= round) break;
        std::this_thread::yield();
      }
      EXPECT_TRUE(wait_blocking(loader.close()).has_value());
      for (std::thread& thread : threads) thread.join();
    }
  }
}

TEST(LoaderStressTest, CallsThatAreStoppedRaceWithDeliveryAndLoseNoBatch) {
  World world;
  auto source = std::make_shared<ScriptedSource>(world.environment, 12 * 300);
  const DeviceLoader loader =
      DeviceLoader::create(world.environment, source, world.devices, stress_options(true)).value();
  std::uint64_t expected = 0;
  while (expected < 300) {
    std::stop_source stop;
    const auto call = loader.next(0, {.stop = stop.get_token()});
    std::thread stopper([&] { stop.request_stop(); });
    const auto batch = wait_blocking(call);
    stopper.join();
    if (!batch.has_value()) {
      EXPECT_EQ(batch.error().code(), ErrorCode::kCancelled);
      continue;
    }
    ASSERT_TRUE(batch->has_value());
    ASSERT_EQ((*batch)->sequence, expected++);
  }
  EXPECT_TRUE(wait_blocking(loader.close()).has_value());
}

}  // namespace
}  // namespace millrace::transfer
