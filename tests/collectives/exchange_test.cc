// Whose thread a collective uses for what may block in a device, and which rank it blames.
#include "millrace/collectives/exchange.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "millrace/devices/device_actor.h"
#include "millrace/devices/device_scope.h"
#include "tests/support/simulation.h"
#include "tests/support/stub_client.h"

namespace millrace::collectives {
namespace {

using devices::Buffer;
using devices::Buffers;
using devices::DeviceId;
using devices::Shape;
using testing::Simulation;

const Shape kPair(devices::DType::kF32, {2});

// A device whose calls may block, so only its actor makes them.
class SlowClient final : public testing::StubClient {
 public:
  SlowClient() : StubClient(2) {}
  int looks = 0, looks_elsewhere = 0;
  std::optional<DeviceId> fails_reads, fails_puts;

  Result<devices::PutResult> put(const devices::HostView& view, devices::HostBufferSemantics,
                                 DeviceId device, int) override;
};

class SlowBuffer final : public devices::BufferBody {
 public:
  SlowBuffer(SlowClient& client, DeviceId device, const void* data)
      : client_(client), device_(device) {
    std::memcpy(values_->data(), data, sizeof(*values_));
  }
  const Shape& shape() const override { return kPair; }
  devices::Client& client() const override { return client_; }
  DeviceId device() const override { return device_; }
  std::size_t size_bytes() const override { return kPair.size_bytes(); }
  Future<void> ready() const override { return make_ready(); }
  Future<void> copy_to_host(std::span<std::byte>, devices::Owner) override {
    return fail(ErrorCode::kUnimplemented, "no");
  }
  Result<devices::HostAccess> host_access() override {
    const devices::DeviceScope* const scope = devices::DeviceScope::current();
    ++client_.looks;
    if (client_.fails_reads == device_) return fail(ErrorCode::kDataLoss, "scripted");
    if (scope == nullptr || scope->device() != device_) ++client_.looks_elsewhere;
    return devices::HostAccess{std::as_bytes(std::span(*values_)), values_};
  }
  void remove() override {}
  bool removed() const override { return false; }

 private:
  SlowClient& client_;
  const DeviceId device_;
  const std::shared_ptr<std::array<float, 2>> values_ = std::make_shared<std::array<float, 2>>();
};

Result<devices::PutResult> SlowClient::put(const devices::HostView& view,
                                           devices::HostBufferSemantics, DeviceId device, int) {
  if (fails_puts == device) return fail(ErrorCode::kDataLoss, "scripted");
  return devices::PutResult{Buffer(make_ref<SlowBuffer>(*this, device, view.data)), make_ready()};
}

// The sum of {1, 2} on each of the client's devices, and what `check` says of it.
template <class Check>
void add_pairs(Simulation& sim, SlowClient& client, Check check) {
  {
    auto devices = devices::make_devices(client, {.environment = sim.environment(), .limits = {}});
    const float values[] = {1, 2};
    PooledVector<Buffers> inputs;
    for (const DeviceId id : {DeviceId{0}, DeviceId{1}})
      inputs.push_back(Buffers{Buffer(make_ref<SlowBuffer>(client, id, values))});
    CollectiveCall call;
    call.shapes.push_back(kPair);
    check(sim.run(run_exchange(sim.environment(), call, devices, std::move(inputs))), devices);
    for (const devices::Device& device : devices) EXPECT_TRUE(sim.run(device.close()));
  }
  sim.run_until_idle();
}

TEST(ExchangeTest, DevicesWhoseCallsMayBlockAreLookedIntoOnTheirOwnThreads) {
  testing::for_each_seed(5, [](Simulation& sim) {
    SlowClient client;
    add_pairs(sim, client, [&](const Result<PooledVector<Buffers>>& sums, const auto& devices) {
      ASSERT_TRUE(sums) << sums.error().to_string();
      EXPECT_EQ(client.looks, 2);
      EXPECT_EQ(client.looks_elsewhere, 0);
      const auto sum = sim.run(devices[1].fetch((*sums)[1][0]));
      EXPECT_EQ(sum.value().template as<float>()[1], 4);
    });
  });
}

void expect_blame(const Result<PooledVector<Buffers>>& sums) {
  ASSERT_FALSE(sums);
  EXPECT_EQ(sums.error().code(), ErrorCode::kDataLoss) << sums.error().to_string();
  const auto* culprits = sums.error().detail<Culprits>();
  ASSERT_NE(culprits, nullptr) << sums.error().to_string();
  ASSERT_EQ(culprits->ranks.size(), 1U);
  EXPECT_EQ(culprits->ranks[0], Rank{1});
}

// No array of a rank that is alone goes through the host.
TEST(ExchangeTest, RankThatIsAloneGetsWhatItGave) {
  using Kind = CollectiveCall::Kind;
  testing::for_each_seed(1, [](Simulation& sim) {
    SlowClient client;
    const std::array<float, 2> values{1, 2};
    const Buffer given(make_ref<SlowBuffer>(client, DeviceId{0}, values.data()));
    auto devices = devices::make_devices(client, {.environment = sim.environment(), .limits = {}});
    for (const Kind kind : {Kind::kAllReduce, Kind::kBroadcast, Kind::kReduceScatter,
                            Kind::kScatter, Kind::kAllGather, Kind::kGather, Kind::kAllToAll}) {
      CollectiveCall call{kind, ReduceOp::kMean};
      call.shapes.push_back(kPair);
      const auto results = sim.run(
          run_exchange(sim.environment(), call, std::span(devices).first(1), {Buffers{given}}));
      ASSERT_TRUE(results) << to_string(kind) << ": " << results.error().to_string();
      ASSERT_EQ((*results)[0].size(), 1U) << to_string(kind);
      EXPECT_EQ((*results)[0][0].body(), given.body()) << to_string(kind);
    }
    EXPECT_EQ(client.looks, 0);
    for (const devices::Device& device : devices) EXPECT_TRUE(sim.run(device.close()));
  });
}

TEST(ExchangeTest, ReadThatFailsIsBlamedOnItsRank) {
  testing::for_each_seed(5, [](Simulation& sim) {
    SlowClient client;
    client.fails_reads = DeviceId{1};
    add_pairs(sim, client, [](const auto& sums, const auto&) { expect_blame(sums); });
  });
}

TEST(ExchangeTest, PutThatFailsIsBlamedOnItsRank) {
  testing::for_each_seed(5, [](Simulation& sim) {
    SlowClient client;
    client.fails_puts = DeviceId{1};
    add_pairs(sim, client, [](const auto& sums, const auto&) { expect_blame(sums); });
  });
}

}  // namespace
}  // namespace millrace::collectives
