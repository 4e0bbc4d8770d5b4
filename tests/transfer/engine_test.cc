#include "millrace/transfer/engine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "millrace/core/combinators.h"
#include "millrace/devices/device_actor.h"
#include "millrace/devices/sim/sim_client.h"
#include "tests/support/simulation.h"

namespace millrace::transfer {
namespace {

using devices::Buffer;
using devices::DeviceId;
using devices::DType;
using devices::HostView;
using devices::Shape;
using devices::sim::SimClient;
using devices::sim::SimOptions;
using millrace::testing::for_each_seed;
using millrace::testing::Simulation;
using std::chrono::milliseconds;

constexpr std::uint64_t kSeeds = 20;

std::shared_ptr<std::vector<std::int32_t>> numbers(int count, int first = 0) {
  auto values = std::make_shared<std::vector<std::int32_t>>(count);
  std::iota(values->begin(), values->end(), first);
  return values;
}

HostView view_of(const std::shared_ptr<std::vector<std::int32_t>>& values, bool owned = true) {
  return {.data = values->data(),
          .shape = Shape(DType::kI32, {static_cast<std::int64_t>(values->size())}),
          .byte_strides = {},
          .owner = owned ? devices::Owner(values) : nullptr};
}

// Simulated devices and an engine; everything is closed at its end.
struct Rig {
  explicit Rig(Simulation& s, SimOptions options = {}, std::size_t credits = 1 << 20) : sim(s) {
    options.timers = &sim.timers();
    options.devices = 2;
    client.emplace(options);
    devices = devices::make_devices(*client, {.environment = sim.environment()});
    pool = std::make_shared<StagingPool>(StagingPoolOptions{.max_bytes = 1 << 20}, sim.timers());
    engine.emplace(sim.environment(),
                   TransferEngineOptions{.pool = pool, .bytes_in_flight_per_device = credits});
  }
  ~Rig() {
    EXPECT_TRUE(sim.run(engine->close()).has_value());
    for (const auto& device : devices) EXPECT_TRUE(sim.run(device.close()).has_value());
    engine.reset();
    devices.clear();
    EXPECT_TRUE(sim.run(client->close()).has_value());
    sim.run_until_idle();
    EXPECT_TRUE(sim.run(pool->close()).has_value());
  }
  std::vector<std::int32_t> download(int device, const Buffer& buffer) {
    const auto array = sim.run(engine->download(devices[device], buffer)).value();
    const auto values = array.as<std::int32_t>();
    return {values.begin(), values.end()};
  }

  Simulation& sim;
  std::optional<SimClient> client;
  std::vector<devices::Device> devices;
  std::shared_ptr<StagingPool> pool;
  std::optional<TransferEngine> engine;
};

TEST(TransferEngineTest, BytesComeBackAsTheyWentWhateverTheWay) {
  for (const SourceUse use : {SourceUse::kCopy, SourceUse::kLend, SourceUse::kZeroCopy}) {
    for_each_seed(kSeeds, [use](Simulation& sim) {
      Rig rig(sim, {.transfer_latency = milliseconds(2), .zero_copy = true});
      const auto values = numbers(100);
      const Buffer buffer =
          sim.run(rig.engine->upload(rig.devices[0], view_of(values), {.use = use})).value();
      const Buffer moved = sim.run(rig.engine->copy(buffer, rig.devices[1])).value();
      EXPECT_EQ(rig.download(0, buffer), *values);
      EXPECT_EQ(rig.download(1, moved), *values);
      sim.run_until_idle();
      const TransferStats stats = rig.engine->stats(rig.devices[0]);
      EXPECT_EQ(stats.uploads, 1u);
      EXPECT_EQ(stats.bytes_up, 400u);
      EXPECT_EQ(stats.bytes_down, 400u);
      EXPECT_EQ(stats.staged_bytes, use == SourceUse::kCopy ? 400u : 0u);
      EXPECT_EQ(stats.bytes_in_flight, 0u);
      EXPECT_EQ(rig.engine->stats(rig.devices[1]).bytes_copied, 400u);
    });
  }
}

TEST(TransferEngineTest, ACopiedSourceMayChangeOnceTheUploadHasCompleted) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    Rig rig(sim, {.transfer_latency = milliseconds(2), .zero_copy = true});
    const auto values = numbers(10);
    const Buffer buffer =
        sim.run(rig.engine->upload(rig.devices[0], view_of(values, false))).value();
    EXPECT_FALSE(buffer.ready().ready());
    std::fill(values->begin(), values->end(), -1);
    EXPECT_EQ(rig.download(0, buffer), *numbers(10));
  });
}

TEST(TransferEngineTest, StridesAreMadeDenseOnTheWay) {
  Simulation sim(1);
  Rig rig(sim);
  const auto values = numbers(6);  // 2 x 3, taken column by column
  Buffer buffer;
  {
    const std::vector<std::int64_t> strides = {4, 12};
    HostView view = view_of(values);
    view.shape = Shape(DType::kI32, {3, 2});
    view.byte_strides = strides;
    const auto upload = rig.engine->upload(rig.devices[0], view);
    buffer = sim.run(upload).value();
  }
  EXPECT_EQ(rig.download(0, buffer), (std::vector<std::int32_t>{0, 3, 1, 4, 2, 5}));
}

TEST(TransferEngineTest, BytesInFlightStayWithinTheCreditsOfEachDevice) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    Rig rig(sim, {.transfer_latency = milliseconds(1)}, 1000);
    std::vector<Future<Buffer>> uploads;
    std::size_t largest = 0;
    for (int i = 0; i < 40; ++i) {
      const auto values = numbers(1 + static_cast<int>(sim.below(300)), i);
      largest = std::max(largest, values->size() * 4);
      uploads.push_back(
          rig.engine->upload(rig.devices[i % 2], view_of(values),
                             {.use = i % 3 == 0 ? SourceUse::kLend : SourceUse::kCopy}));
    }
    EXPECT_TRUE(sim.run(when_all(uploads)).has_value());
    for (int i = 0; i < 40; ++i) EXPECT_EQ(rig.download(i % 2, *uploads[i].result())[0], i);
    for (const auto& device : rig.devices) {
      EXPECT_LE(rig.engine->stats(device).peak_bytes_in_flight,
                std::max<std::size_t>(1000, largest));
      EXPECT_EQ(rig.engine->stats(device).uploads, 20u);
    }
  });
}

TEST(TransferEngineTest, ACallThatGivesUpWhileItWaitsLetsTheOthersPass) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    Rig rig(sim, {.transfer_latency = milliseconds(10)}, 400);
    const auto values = numbers(100);
    std::stop_source stop;
    const auto first = rig.engine->upload(rig.devices[0], view_of(values));
    sim.run_until_idle();
    const auto stopped =
        rig.engine->upload(rig.devices[0], view_of(values), {.call = {.stop = stop.get_token()}});
    const auto late = rig.engine->upload(rig.devices[0], view_of(values),
                                         {.call = {.deadline = sim.now() + milliseconds(3)}});
    sim.run_until_idle();
    const auto patient = rig.engine->upload(rig.devices[0], view_of(values));
    stop.request_stop();
    EXPECT_EQ(sim.run(stopped).error().code(), ErrorCode::kCancelled);
    EXPECT_EQ(sim.run(late).error().code(), ErrorCode::kDeadlineExceeded);
    EXPECT_TRUE(sim.run(first).has_value());
    EXPECT_TRUE(sim.run(patient).has_value());
    EXPECT_EQ(sim.now(), TimePoint(milliseconds(10)));
    EXPECT_EQ(rig.engine->stats(rig.devices[0]).failures, 2u);
  });
}

TEST(TransferEngineTest, AFailedTransferGivesItsCreditsBack) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    Rig rig(sim, {}, 400);
    rig.client->fail_put(DeviceId{0}, 1,
                         Error(ErrorCode::kResourceExhausted, "no memory on the device"));
    const auto values = numbers(100);
    const auto failed = sim.run(rig.engine->upload(rig.devices[0], view_of(values)));
    if (failed) {
      EXPECT_EQ(sim.run(failed->ready()).error().code(), ErrorCode::kResourceExhausted);
    } else {
      EXPECT_EQ(failed.error().code(), ErrorCode::kResourceExhausted);
    }
    EXPECT_TRUE(sim.run(rig.engine->upload(rig.devices[0], view_of(values))).has_value());
    sim.run_until_idle();
    EXPECT_EQ(rig.engine->stats(rig.devices[0]).failures, 1u);
    EXPECT_EQ(rig.pool->metrics().in_use_bytes, 0u);
  });
}

TEST(TransferEngineTest, CloseWaitsForTheBytesAndRefusesNewCalls) {
  for_each_seed(kSeeds, [](Simulation& sim) {
    Rig rig(sim, {.transfer_latency = milliseconds(7)});
    const auto values = numbers(100);
    const auto upload = rig.engine->upload(rig.devices[0], view_of(values));
    const Future<void> closed = rig.engine->close();
    EXPECT_EQ(sim.run(rig.engine->upload(rig.devices[0], view_of(values))).error().code(),
              ErrorCode::kUnavailable);
    EXPECT_TRUE(sim.run(closed).has_value());
    EXPECT_EQ(sim.now(), TimePoint(milliseconds(7)));
    EXPECT_TRUE(sim.run(upload)->ready().ready());
  });
}

TEST(TransferEngineTest, AnUploadWithoutACopyNeedsAnOwner) {
  Simulation sim(1);
  Rig rig(sim);
  const auto values = numbers(4);
  for (const SourceUse use : {SourceUse::kLend, SourceUse::kZeroCopy}) {
    const auto refused =
        sim.run(rig.engine->upload(rig.devices[0], view_of(values, false), {.use = use}));
    EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
  }
}

TEST(ByteCreditsTest, ALargeRequestIsNotStarvedAndOneAboveTheLimitGoesAlone) {
  Simulation sim(1);
  auto credits = make_ref<ByteCredits>(10, sim.timers());
  auto small = credits->acquire(6).take();
  const auto large = credits->acquire(20);
  const auto behind = credits->acquire(1);
  EXPECT_FALSE(large.ready());
  EXPECT_FALSE(behind.ready());
  small->reset();
  ASSERT_TRUE(large.ready());
  EXPECT_FALSE(behind.ready());
  large.take()->reset();
  EXPECT_TRUE(behind.ready());
  EXPECT_EQ(credits->in_use(), 1u);
}

}  // namespace
}  // namespace millrace::transfer
