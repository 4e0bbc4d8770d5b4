// The end of a group between processes, beside what process_spanning_test.cc has of it.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/collectives/group_wire.h"
#include "millrace/collectives/parcels.h"
#include "tests/collectives/sim_processes.h"

namespace millrace::collectives {
namespace {

using std::chrono::seconds;
using testing::for_each_seed;
using testing::SimProcesses;
using testing::Simulation;

// The ends of a group in two processes, the second with eight ranks, that have run a barrier.
std::vector<Ref<GroupWire>> make_wires(Simulation& sim, SimProcesses& far) {
  const CollectiveCall barrier{.kind = CollectiveCall::Kind::kBarrier};
  std::vector<Ref<GroupWire>> wires;
  std::vector<Future<void>> ran;
  for (const int process : {0, 1}) {
    wires.push_back(GroupWire::make(far.mesh(static_cast<std::size_t>(process)), {"wires", 0},
                                    {{.process = 0}, {.process = 1, .ranks = 8}}, process));
    wires.back()->start({});
    Parcels parcels = make_parcels(barrier, wires.back()->spread(), process, {}).value();
    ran.push_back(wires.back()->run({0, barrier, std::move(parcels.runs)}));
  }
  for (const auto& one : ran) EXPECT_TRUE(sim.run(one).has_value());
  return wires;
}

// More than a mesh holds for a sink that is not there.
RendezvousMessage long_outcome(std::size_t payload = 600'000) {
  RendezvousMessage outcome;
  outcome.kind = RendezvousMessage::Kind::kOutcome;
  std::vector<Rank> ranks;
  for (int r = 0; r < 9; ++r) ranks.push_back(Rank{r});
  outcome.subset = std::make_shared<const RankSet>(std::move(ranks));
  outcome.payloads = std::make_shared<std::vector<std::string>>(9, std::string(payload, 'x'));
  return outcome;
}

// A frame behind the end of its group would find no sink, and wait for one.
TEST(GroupEndTest, AMessageInTheMomentOfTheCloseHoldsUpNoOtherGroup) {
  for_each_seed(20, [](Simulation& sim) {  // GW-7
    SimProcesses far(sim, {1, 1}, {.stalls = 0, .most_room = 1 << 20});
    const std::vector<Ref<GroupWire>> wires = make_wires(sim, far);
    std::vector<Future<void>> closed;
    for (const std::size_t process : {1U, 0U}) closed.push_back(wires[process]->close());
    EXPECT_TRUE(wires[0]->send(Rank{0}, Rank{1}, long_outcome()));
    for (const auto& one : closed) EXPECT_TRUE(sim.run(one).has_value());
    std::vector<Future<std::int64_t>> sums;
    for (std::size_t r = 0; r < 2; ++r)
      sums.push_back(far.member(r).agree(AgreeOp::kSum, 1, far.within(seconds(20))));
    for (const auto& sum : sums) {
      const auto agreed = sim.run(sum);
      EXPECT_TRUE(agreed) << agreed.error().to_string();
    }
    sim.finish();
    EXPECT_EQ(far.mesh(1)->counts().no_sink, 0U);
  });
}

// Pieces behind one that the mesh has refused would fit nowhere, and end the link.
TEST(GroupEndTest, MoreThanTheMeshTakesInTheMomentOfTheCloseEndsNoLink) {
  for_each_seed(3, [](Simulation& sim) {
    SimProcesses far(sim, {1, 1}, {.stalls = 0, .most_room = 1 << 20});
    const std::vector<Ref<GroupWire>> wires = make_wires(sim, far);
    far.job.network.hold(100, 101);
    constexpr std::size_t kPayload = 582'700;  // the last piece of a message is a short one
    const std::size_t most = net::MeshOptions().most_queued;
    for (std::size_t bytes = 0; bytes < most + 9 * kPayload; bytes += 9 * kPayload)
      EXPECT_TRUE(wires[0]->send(Rank{0}, Rank{1}, long_outcome(kPayload)));
    const CollectiveCall barrier{.kind = CollectiveCall::Kind::kBarrier};
    Parcels parcels = make_parcels(barrier, wires[1]->spread(), 1, {}).value();
    const Future<void> waits = wires[1]->run({1, barrier, std::move(parcels.runs)});
    EXPECT_TRUE(sim.run(wires[0]->close()).has_value());
    far.job.network.release();
    const Result<void> ended = sim.run(waits);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code(), ErrorCode::kCancelled) << ended.error().to_string();
    EXPECT_TRUE(sim.run(wires[1]->close()).has_value());
    std::vector<Future<std::int64_t>> sums;
    for (std::size_t r = 0; r < 2; ++r) sums.push_back(far.member(r).agree(AgreeOp::kSum, 1));
    for (const auto& sum : sums) EXPECT_EQ(sim.run(sum).value(), 2);
    sim.finish();
  });
}

}  // namespace
}  // namespace millrace::collectives
